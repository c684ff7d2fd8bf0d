#include "harness/device/cuda/profiler_range.h"

#include <nvtx3/nvToolsExt.h>

namespace etalon::cuda {
namespace {

nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t handle = nvtxDomainCreateA("etalon");
    return handle;
}

}  // namespace

void range_push(const std::string& name) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name.c_str();
    nvtxDomainRangePushEx(domain(), &attributes);
}

void range_pop() {
    nvtxDomainRangePop(domain());
}

}  // namespace etalon::cuda
