#include "harness/measure/selftest.h"

#include <algorithm>
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

std::vector<LoadBlock> measure(Device& device, PreparedCase& prepared, const Plan& plan) {
    std::vector<LoadBlock> blocks;
    for (int i = 0; i < plan.blocks; ++i) {
        // Cool, hot, hot, cool: neither history is always the later one.
        const bool heated = device.can_heat() && (i % 4 == 1 || i % 4 == 2);
        if (heated) {
            device.heat(plan.heat_ms);
        } else if (device.can_heat()) {
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(plan.rest_ms));
        }
        Block block = prepared.time({.l2 = prepared.key().l2,
                                     .warmups = i == 0 ? warmup_launches : 0,
                                     .samples = plan.samples,
                                     .heated = heated});
        blocks.push_back({heated, std::move(block.samples)});
    }
    return blocks;
}

}  // namespace etalon::selftest
