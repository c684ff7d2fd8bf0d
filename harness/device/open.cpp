#include <fmt/format.h>

#include <charconv>

#include "harness/core/text.h"
#include "harness/device/device.h"
#include "harness/device/host/host_device.h"
#include "harness/device/host/machine.h"
#ifdef ETALON_CUDA
#include "harness/device/cuda/cuda_device.h"
#endif

namespace etalon {
namespace {

std::vector<DeviceListing> gpus() {
#ifdef ETALON_CUDA
    return cuda::list_gpus();
#else
    return {{"cuda:0", "", false,
             "this program was built without CUDA; build it on a machine with the CUDA toolkit 13, "
             "or measure the CPU with --device host"}};
#endif
}

std::unique_ptr<Device> open_cuda(int index, Timer timer) {
#ifdef ETALON_CUDA
    return cuda::open_gpu(index, timer);
#else
    (void)index, (void)timer;
    throw device_error(gpus().front().reason);
#endif
}

}  // namespace

std::vector<DeviceListing> list_devices() {
    std::vector<DeviceListing> all = gpus();
    all.push_back({"host", host::read_machine().cpu, true, ""});
    return all;
}

DeviceName parse_device(const std::string& name) {
    if (name == "host") return {DeviceKind::host};
    if (name == "auto") return {gpus().front().usable ? DeviceKind::cuda : DeviceKind::host};
    if (name == "cuda") return {DeviceKind::cuda};
    if (name.starts_with("cuda:")) {
        int index = -1;
        const char* last = name.data() + name.size();
        const auto [end, error] = std::from_chars(name.data() + 5, last, index);
        if (error == std::errc{} && end == last && index >= 0) return {DeviceKind::cuda, index};
    }
    const std::vector<std::string> known = {"auto", "cuda:0", "host"};
    throw usage_error(unknown_name("device", name, known));
}

Timer parse_timer(const std::string& name) {
    if (name == "auto") return Timer::automatic;
    if (name == "cupti") return Timer::cupti;
    if (name == "events") return Timer::events;
    const std::vector<std::string> known = {"auto", "cupti", "events"};
    throw usage_error(unknown_name("timer", name, known));
}

std::unique_ptr<Device> open_device(const std::string& name, Timer timer) {
    const DeviceName device = parse_device(name);
    if (device.kind == DeviceKind::cuda) return open_cuda(device.index, timer);
    if (timer != Timer::automatic) {
        throw usage_error("the host device is timed by steady_clock alone; leave out --timer");
    }
    return host::make_host_device();
}

}  // namespace etalon
