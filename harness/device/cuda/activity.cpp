#include "harness/device/cuda/activity.h"

#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "harness/core/error.h"

namespace etalon::cuda {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;
constexpr std::array kinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                              CUPTI_ACTIVITY_KIND_MEMSET};

struct CloseLibrary {
    void operator()(void* library) const { dlclose(library); }
};

// CUPTI hands records to plain functions, on a thread of its own: this is the one place where they
// and the recorder meet.
struct Inbox {
    std::mutex mutex;
    std::vector<Activity> activities;
    decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
    std::size_t dropped = 0;
    decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
};
Inbox& inbox() {
    static Inbox box;
    return box;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
    *bytes = *buffer == nullptr ? 0 : buffer_bytes;
    *most_records = 0;
}

Activity read_record(const CUpti_Activity& record) {
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
            const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
            return {kernel.start, kernel.end, kernel.name == nullptr ? "" : kernel.name};
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
            return {copy.start, copy.end, "memcpy"};
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            const auto& set = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
            return {set.start, set.end, "memset"};
        }
        default:
            return {};
    }
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t, std::size_t valid_bytes) {
    Inbox& box = inbox();
    const std::lock_guard lock(box.mutex);
    CUpti_Activity* record = nullptr;
    while (box.next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
        Activity activity = read_record(*record);
        if (activity.end_ns != 0) box.activities.push_back(std::move(activity));
    }
    std::size_t dropped = 0;
    if (box.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) box.dropped += dropped;
    std::free(buffer);
}

}  // namespace

struct ActivityRecorder::Functions {
    std::unique_ptr<void, CloseLibrary> library;
    decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
    decltype(&cuptiActivityEnable) enable = nullptr;
    decltype(&cuptiActivityDisable) disable = nullptr;
    decltype(&cuptiActivityFlushAll) flush_all = nullptr;
    decltype(&cuptiGetResultString) result_string = nullptr;

    template <typename F>
    bool find(F& function, const char* name) const {
        function = reinterpret_cast<F>(dlsym(library.get(), name));
        return function != nullptr;
    }
    [[nodiscard]] std::string message(CUptiResult result) const {
        const char* text = nullptr;
        result_string(result, &text);
        return text == nullptr ? fmt::format("CUPTI error {}", static_cast<int>(result)) : text;
    }
};

ActivityRecorder::ActivityRecorder() : functions_(std::make_unique<Functions>()) {
    Functions& f = *functions_;
    // The toolkit's folders are not always known to the loader.
    for (const char* path : {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"}) {
        f.library.reset(dlopen(path, RTLD_NOW | RTLD_LOCAL));
        if (f.library) break;
    }
    if (!f.library) {
        missing_ = "libcupti.so.13 was not found; it comes with the CUDA toolkit (cuda-cupti-13-0)";
        return;
    }
    Inbox& box = inbox();
    const bool found = f.find(f.register_callbacks, "cuptiActivityRegisterCallbacks") &&
                       f.find(f.enable, "cuptiActivityEnable") &&
                       f.find(f.disable, "cuptiActivityDisable") &&
                       f.find(f.flush_all, "cuptiActivityFlushAll") &&
                       f.find(f.result_string, "cuptiGetResultString") &&
                       f.find(box.next_record, "cuptiActivityGetNextRecord") &&
                       f.find(box.dropped_records, "cuptiActivityGetNumDroppedRecords");
    if (!found) {
        missing_ = "libcupti.so.13 lacks a function; install the one of CUDA 13";
        return;
    }
    CUptiResult result = f.register_callbacks(give_buffer, take_buffer);
    for (std::size_t i = 0; i < kinds.size() && result == CUPTI_SUCCESS; ++i) {
        result = f.enable(kinds[i]);
    }
    if (result == CUPTI_SUCCESS) return;
    missing_ = fmt::format("CUPTI cannot record here ({}); another profiler may hold the device",
                           f.message(result));
    for (const CUpti_ActivityKind kind : kinds) f.disable(kind);
}

ActivityRecorder::~ActivityRecorder() {
    if (!missing_.empty()) return;
    for (const CUpti_ActivityKind kind : kinds) functions_->disable(kind);
    functions_->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    // The library stays: its own threads may still be in it.
    (void)functions_->library.release();
}

std::vector<Activity> ActivityRecorder::take() {
    const CUptiResult result = functions_->flush_all(0);
    if (result != CUPTI_SUCCESS) {
        throw device_error(fmt::format("reading CUPTI's records: {}", functions_->message(result)));
    }
    Inbox& box = inbox();
    const std::lock_guard lock(box.mutex);
    if (const std::size_t dropped = std::exchange(box.dropped, 0); dropped > 0) {
        throw device_error(
            fmt::format("CUPTI dropped {} records; measure with --timer events", dropped));
    }
    return std::exchange(box.activities, {});
}

}  // namespace etalon::cuda
