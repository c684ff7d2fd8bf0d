#include "harness/core/records.h"

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon {

std::string_view name(RunState state) {
    switch (state) {
        case RunState::running:
            return "running";
        case RunState::finished:
            return "finished";
        case RunState::interrupted:
            return "interrupted";
    }
    return "?";
}

std::string_view name(Status status) {
    switch (status) {
        case Status::ok:
            return "ok";
        case Status::unsupported:
            return "unsupported";
        case Status::failed:
            return "failed";
        case Status::incorrect:
            return "incorrect";
    }
    return "?";
}

Status parse_status(std::string_view text) {
    for (const Status status :
         {Status::ok, Status::unsupported, Status::failed, Status::incorrect}) {
        if (name(status) == text) return status;
    }
    const std::vector<std::string> known = {"ok", "unsupported", "failed", "incorrect"};
    throw usage_error(unknown_name("status", text, known));
}

namespace {

// FNV-1a, 64 bits, from two starting values. Not for security: it tells environments apart.
std::uint64_t fnv1a(std::string_view text, std::uint64_t state) {
    for (const char c : text) {
        state ^= static_cast<unsigned char>(c);
        state *= 0x100000001b3ULL;
    }
    return state;
}

}  // namespace

std::string Environment::hash() const {
    std::string text = fmt::format(
        "device_kind={}\ngpu={}\nsm_count={}\nmemory_bytes={}\nvbios={}\ndriver={}\n"
        "cuda_runtime={}\ncublas={}\ncudnn={}\npower_limit_w={}\necc={}\nmig={}\nhost_cpu={}\nos={}"
        "\n"
        "etalon_version={}\nmethod={}\nreference_clock_mhz={}\n",
        device_kind, gpu, sm_count, memory_bytes, vbios, driver, cuda_runtime, cublas, cudnn,
        power_limit_w, ecc, mig, host_cpu, os, etalon_version, method, reference_clock_mhz);
    for (const auto& [key, value] : extra) text += fmt::format("extra.{}={}\n", key, value);
    return fmt::format("{:016x}{:016x}", fnv1a(text, 0xcbf29ce484222325ULL),
                       fnv1a(text, 0x9ae16a3b2f90404fULL));
}

std::string make_run_id() {
    // 48 bits of milliseconds, then 80 random bits: sorts by creation and never collides.
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
    std::random_device random;
    const auto word = [&] { return static_cast<std::uint64_t>(random()); };
    const std::uint64_t low = (word() << 32) | word();
    return fmt::format("{:012x}{:04x}{:016x}", ms, word() & 0xffff, low);
}

}  // namespace etalon
