#include "baselines/common/choose.h"

#include <cmath>
#include <exception>
#include <limits>

#include "harness/stats/stats.h"

namespace etalon {
namespace {

constexpr int first_look = 5;
constexpr int second_look = 11;
// A candidate whose first sample is this many times the least is not looked at again.
constexpr double hopeless = 3;

// Nothing once it has run, else why it did not. Run before any timing, so that a refusal does not
// leave half a block on the stream, and lazy loading is over.
std::exception_ptr refusal(Device& device, const Launch& candidate) {
    try {
        candidate(device.stream(), 0);
        device.synchronize();
        return nullptr;
    } catch (const Error&) {
        if (!device.usable()) throw;
        return std::current_exception();
    }
}

double first_time(Device& device, const Launch& candidate, L2Mode l2, std::size_t sets,
                  double least = std::numeric_limits<double>::infinity()) {
    if (std::isfinite(least)) {
        const Block glance = device.time_block(candidate, {.l2 = l2, .warmups = 0, .samples = 1});
        const double time = glance.samples.front().duration_ns;
        if (time > hopeless * least) return time;
    }
    const Block block =
        device.time_block(candidate, {.l2 = l2, .warmups = 1, .samples = first_look, .sets = sets});
    std::vector<double> times;
    for (const Sample& sample : block.samples) times.push_back(sample.duration_ns);
    return stats::median(times);
}

// Blocks of one sample in the order A B B A A B ..., so that a drift of the clock hits both alike.
double gain_over(Device& device, const Launch& first, const Launch& other, L2Mode l2) {
    std::vector<double> first_times, other_times;
    const auto sample = [&](const Launch& launch, std::vector<double>& times) {
        const Block block = device.time_block(launch, {.l2 = l2, .warmups = 1, .samples = 1});
        times.push_back(block.samples.front().duration_ns);
    };
    for (int round = 0; round < second_look; ++round) {
        if (round % 2 == 0) sample(first, first_times);
        sample(other, other_times);
        if (round % 2 != 0) sample(first, first_times);
    }
    return stats::median(first_times) / stats::median(other_times) - 1;
}

}  // namespace

bool can_launch(Device& device, const Launch& candidate) {
    return refusal(device, candidate) == nullptr;
}

Choice choose_first(Device& device, std::span<const Launch> candidates) {
    std::exception_ptr why;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        why = refusal(device, candidates[i]);
        if (!why) return {.index = i, .first = i, .refused = i};
    }
    if (why) std::rethrow_exception(why);
    throw device_error("there is no candidate to choose from");
}

Choice choose_fastest(Device& device, L2Mode l2, std::size_t sets,
                      std::span<const Launch> candidates) {
    Choice choice = choose_first(device, candidates);
    std::size_t fastest = choice.first;
    double least = first_time(device, candidates[choice.first], l2, sets);
    for (std::size_t i = choice.first + 1; i < candidates.size(); ++i) {
        if (refusal(device, candidates[i])) {
            ++choice.refused;
            continue;
        }
        const double time = first_time(device, candidates[i], l2, sets, least);
        if (time < least) {
            least = time;
            fastest = i;
        }
    }
    if (fastest == choice.first) return choice;
    choice.gain = gain_over(device, candidates[choice.first], candidates[fastest], l2);
    if (choice.gain > least_gain) choice.index = fastest;
    return choice;
}

}  // namespace etalon
