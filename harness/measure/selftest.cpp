#include "harness/measure/selftest.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

namespace etalon::selftest {
namespace {

struct Side {
    std::vector<double> raw_ns, norm_ns, clock_mhz;  // of each block
};

double gap(const std::vector<double>& cool, const std::vector<double>& hot) {
    return std::fabs(stats::median(hot) / stats::median(cool) - 1);
}

double cv(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> all = a;
    all.insert(all.end(), b.begin(), b.end());
    double mean = 0, square = 0;
    for (const double value : all) mean += value / static_cast<double>(all.size());
    for (const double value : all) square += (value - mean) * (value - mean);
    return std::sqrt(square / static_cast<double>(std::max<std::size_t>(1, all.size() - 1))) / mean;
}

std::vector<double> durations(std::span<const Sample> samples) {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(sample.duration_ns);
    return values;
}

std::vector<double> clocks(std::span<const Sample> samples) {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(sample.clock_mhz);
    return values;
}

// Rests or loads the device before block `i`; true: it is under load. Cool, hot, hot, cool: neither
// history is always the later one.
bool bring_to(Device& device, int i, const Plan& plan) {
    const bool heated = device.can_heat() && (i % 4 == 1 || i % 4 == 2);
    if (heated) {
        device.heat(plan.heat_ms);
    } else if (device.can_heat()) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(plan.rest_ms));
    }
    return heated;
}

}  // namespace

std::vector<Subject> subjects(DeviceKind kind) {
    if (kind == DeviceKind::host) {
        return {{"copy/fp32/n=4194304/libc/cold", "copy"},
                {"gemm/fp32/m=256,n=256,k=256/etalon/cold", "GEMM"},
                {"softmax/fp32/rows=1024,cols=1024/etalon/cold", "softmax"}};
    }
    return {{"copy/fp32/n=8388608/etalon/cold", "copy of 64 MiB"},
            {"gemm/bf16/m=8192,n=8192,k=4096/cublaslt/cold", "large GEMM"},
            {"gemm/bf16/m=2048,n=2048,k=2048/cublaslt/cold", "small GEMM"},
            {"gemm/bf16/m=64,n=28672,k=4096/cublaslt/cold", "decode GEMM"},
            {"gemm/fp32/m=1024,n=1024,k=1024/cublaslt/cold", "fp32 FMA"},
            {"rmsnorm/bf16/rows=4096,cols=1024/etalon/cold", "kernel of 8 µs"},
            {"copy/fp32/n=65536/etalon/hot", "kernel of 2 µs"}};
}

double allowed_gap(double time_ns, DeviceKind kind) {
    const double base = time_ns > 20e3 ? 0.005 : time_ns > 5e3 ? 0.01 : 0.03;
    return kind == DeviceKind::host ? 10 * base : base;
}

Row judge(std::span<const LoadBlock> blocks, const stats::ElasticityPrior& prior,
          double reference_clock_mhz) {
    const std::size_t half = blocks.size() / 2;
    std::vector<Sample> learnt;
    for (const LoadBlock& block : blocks.first(half)) {
        learnt.insert(learnt.end(), block.samples.begin(), block.samples.end());
    }
    const bool heated = std::any_of(blocks.begin(), blocks.end(),
                                    [](const LoadBlock& block) { return block.heated; });
    Row row;
    Measurement m;
    row.elasticity = stats::elasticity(learnt, prior);
    m.elasticity = row.elasticity;
    Side cool, hot;
    for (std::size_t i = half; i < blocks.size(); ++i) {
        const std::vector<Sample>& samples = blocks[i].samples;
        Side& side = (heated ? blocks[i].heated : i % 2 == 1) ? hot : cool;
        side.raw_ns.push_back(stats::median(durations(samples)));
        side.norm_ns.push_back(
            stats::median(stats::normalised_durations(samples, m, reference_clock_mhz)));
        side.clock_mhz.push_back(stats::median(clocks(samples)));
    }
    if (cool.raw_ns.empty() || hot.raw_ns.empty()) {
        throw std::invalid_argument("each half needs blocks of both load histories");
    }
    row.cool_ns = stats::median(cool.raw_ns);
    row.hot_ns = stats::median(hot.raw_ns);
    row.cool_clock_mhz = stats::median(cool.clock_mhz);
    row.hot_clock_mhz = stats::median(hot.clock_mhz);
    row.raw_gap = gap(cool.raw_ns, hot.raw_ns);
    row.norm_gap = gap(cool.norm_ns, hot.norm_ns);
    row.raw_cv = cv(cool.raw_ns, hot.raw_ns);
    row.norm_cv = cv(cool.norm_ns, hot.norm_ns);
    return row;
}

bool Injection::seen() const {
    return std::fabs(paired.value - put) <= allowed && std::fabs(across - put) <= allowed;
}

double allowed_injection_error(DeviceKind kind) {
    return kind == DeviceKind::host ? 0.03 : 0.003;
}

Injection judge_injection(std::span<const LoadBlock> shorter, std::span<const LoadBlock> longer,
                          double reference_clock_mhz) {
    const std::size_t pairs = std::min(shorter.size(), longer.size());
    std::vector<Sample> learnt;  // of the shorter one alone: what was put there is not fitted away
    for (const LoadBlock& block : shorter) {
        learnt.insert(learnt.end(), block.samples.begin(), block.samples.end());
    }
    Measurement m;
    m.elasticity = stats::elasticity(learnt, {.mean = 1, .sigma = 0.25});
    const auto norm_ns = [&](const LoadBlock& block) {
        return stats::median(stats::normalised_durations(block.samples, m, reference_clock_mhz));
    };
    const bool heated = std::any_of(shorter.begin(), shorter.end(),
                                    [](const LoadBlock& block) { return block.heated; });
    std::vector<double> ratios, cool_norm, cool_raw, hot_norm, hot_raw;
    for (std::size_t i = 0; i < pairs; ++i) {
        const double before = norm_ns(shorter[i]), after = norm_ns(longer[i]);
        ratios.push_back(after / before);
        if (!heated || !shorter[i].heated) {
            cool_norm.push_back(before);
            cool_raw.push_back(stats::median(durations(shorter[i].samples)));
        }
        if (!heated || longer[i].heated) {
            hot_norm.push_back(after);
            hot_raw.push_back(stats::median(durations(longer[i].samples)));
        }
    }
    Injection injection;
    const Estimate ratio = stats::geometric_mean(ratios);
    injection.paired = {ratio.value - 1, ratio.lo - 1, ratio.hi - 1};
    injection.across = stats::median(hot_norm) / stats::median(cool_norm) - 1;
    injection.raw_across = stats::median(hot_raw) / stats::median(cool_raw) - 1;
    return injection;
}

Injection inject(Device& device, const Plan& plan, double reference_clock_mhz) {
    constexpr std::int64_t units = 5000;  // some 45 µs on an H200, 100 µs on a CPU
    const std::array launches = {device.arithmetic(units), device.arithmetic(units + units / 100)};
    std::array<std::vector<LoadBlock>, 2> blocks;
    for (int i = 0; i < plan.blocks; ++i) {
        const bool heated = bring_to(device, i, plan);
        for (const std::size_t turn : {0, 1}) {
            const std::size_t which = i % 2 == 0 ? turn : 1 - turn;
            Block block = device.time_block(launches[which], {.l2 = L2Mode::hot,
                                                              .warmups = warmup_launches,
                                                              .samples = plan.samples,
                                                              .heated = heated});
            blocks[which].push_back({heated, std::move(block.samples)});
        }
    }
    Injection injection = judge_injection(blocks[0], blocks[1], reference_clock_mhz);
    injection.allowed = allowed_injection_error(device.info().kind);
    return injection;
}

std::vector<LoadBlock> measure(Device& device, PreparedCase& prepared, const Plan& plan) {
    std::vector<LoadBlock> blocks;
    for (int i = 0; i < plan.blocks; ++i) {
        const bool heated = bring_to(device, i, plan);
        Block block = prepared.time({.l2 = prepared.key().l2,
                                     .warmups = i == 0 ? warmup_launches : 0,
                                     .samples = plan.samples,
                                     .heated = heated});
        blocks.push_back({heated, std::move(block.samples)});
    }
    return blocks;
}

}  // namespace etalon::selftest
