#include "harness/measure/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"

namespace etalon {
namespace {

// Sets beyond the first are there so that successive launches read other addresses; large problems
// do without, since they do not fit the cache anyway.
std::size_t set_count(double bytes_per_set) {
    constexpr double small = 64.0 * (1 << 20);
    return bytes_per_set <= small ? 3 : 1;
}

std::string mismatch(const TensorSpec& spec, const Comparison& got, const Tolerance& allowed) {
    if (got.non_finite > 0) {
        return fmt::format("output '{}': {} elements are not finite or were not written", spec.name,
                           got.non_finite);
    }
    if (got.padding_written > 0) {
        return fmt::format("output '{}': {} elements of the padding were written", spec.name,
                           got.padding_written);
    }
    if (!(got.rel_error <= allowed.relative)) {
        return fmt::format("output '{}': relative error {:.3g}, allowed {:.3g}", spec.name,
                           got.rel_error, allowed.relative);
    }
    if (!(got.max_error <= allowed.maximum)) {
        return fmt::format("output '{}': largest error {:.3g} of the rms, allowed {:.3g}",
                           spec.name, got.max_error, allowed.maximum);
    }
    return "";
}

}  // namespace

Inputs::Inputs(const Op& op, const Problem& problem, Device& device, std::uint64_t seed)
    : problem_(problem), device_(device), seed_(seed), specs_(op.tensors(problem)) {
    double per_set = 0, reference = 0;
    for (const TensorSpec& spec : specs_) {
        per_set += static_cast<double>(spec.layout.rows) * static_cast<double>(spec.layout.ld) *
                   static_cast<double>(bytes_of(spec.layout.dtype));
        if (spec.role == Role::output) {
            reference +=
                8.0 * static_cast<double>(spec.layout.rows) * static_cast<double>(spec.layout.cols);
        }
    }
    const std::size_t sets = set_count(per_set);
    const double needed = per_set * static_cast<double>(sets) + reference;
    const auto free = static_cast<double>(device.free_bytes());
    if (needed > 0.95 * free) {
        throw OutOfMemory(
            fmt::format("the tensors and their reference need {}, {} has {} free; choose smaller "
                        "axes",
                        human_bytes(needed), device.info().id, human_bytes(free)));
    }
    for (std::size_t set = 0; set < sets; ++set) {
        BufferSet buffers;
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            const TensorSpec& spec = specs_[i];
            buffers.push_back(device.allocate(spec.layout.bytes()));
            if (spec.role == Role::output) {
                device.poison(buffers.back());
            } else {  // equal contents in every set: one reference serves all
                device.fill(buffers.back(), spec.layout, spec.fill, seed * 1000 + i);
            }
        }
        sets_.push_back(std::move(buffers));
    }
    for (const TensorSpec& spec : specs_) {
        if (spec.role != Role::output) continue;
        references_.push_back(device.allocate(
            static_cast<std::size_t>(spec.layout.rows * spec.layout.cols) * sizeof(double)));
    }
    op.reference(device, problem, sets_.front(), references_);
    device.synchronize();
}

void Inputs::poison_outputs(std::size_t set) {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
        if (specs_[i].role == Role::output) device_.poison(sets_[set][i]);
    }
}

std::string Inputs::judge(std::size_t set, const Tolerance& tolerance) {
    std::size_t output = 0;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
        if (specs_[i].role != Role::output) continue;
        const Comparison got =
            device_.compare(sets_[set][i], specs_[i].layout, references_[output++]);
        if (std::isfinite(got.rel_error)) error_ = std::max(error_, got.rel_error);
        const std::string wrong = mismatch(specs_[i], got, tolerance);
        if (!wrong.empty()) return wrong;
    }
    return "";
}

}  // namespace etalon
