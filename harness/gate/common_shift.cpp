#include "harness/gate/common_shift.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/stats/stats.h"

namespace etalon::gate {
namespace {

constexpr std::size_t least_cases = 6;

bool from_vendor(const Change& change) {
    return change.key.provider != "etalon" && !change.key.provider.starts_with("plugin:");
}

bool moved(const Change& change, Verdict direction) {
    const bool up = direction == Verdict::slower;
    return change.ratio && change.q <= 0.1 && (change.ratio->value > 1) == up &&
           std::fabs(std::log(change.ratio->value)) >= std::log1p(change.least_effect);
}

// Half-widths of its own interval by which a case must exceed the shift to stand for itself: about
// 5 σ, since it is one of many.
constexpr double well_beyond = 2.5;

bool stands_out(const Change& change, double shift) {
    const double rest = std::fabs(std::log(change.ratio->value) - shift);
    const double half_width = std::log(change.ratio->hi / change.ratio->lo) / 2;
    return rest > well_beyond * half_width && rest >= std::log1p(change.least_effect) &&
           std::fabs(std::log(change.ratio->value)) > std::fabs(shift);
}

}  // namespace

std::string set_common_shift_aside(std::vector<Change>& changes) {
    for (const Verdict direction : {Verdict::slower, Verdict::faster}) {
        std::size_t vendors = 0;
        std::vector<double> shifts;
        for (const Change& change : changes) {
            if (!change.ratio || !from_vendor(change)) continue;
            ++vendors;
            if (moved(change, direction)) shifts.push_back(std::log(change.ratio->value));
        }
        if (shifts.size() < least_cases || 2 * shifts.size() < vendors) continue;
        const double shift = stats::median(shifts);
        for (Change& change : changes) {
            if (change.verdict != direction || stands_out(change, shift)) continue;
            change.verdict = Verdict::ambiguous;
            change.reason = "moved together with the vendor libraries: the machine, not the kernel";
        }
        return fmt::format(
            "{} of {} vendor cases moved by about {:+.1f} % and no recorded part of the "
            "environment did: the machine changed, not the kernels (see etalon doctor)",
            shifts.size(), vendors, 100 * std::expm1(shift));
    }
    return {};
}

}  // namespace etalon::gate
