// Kernel times that a cost is composed of: from results files of etalon, and from tables that
// others have published.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/core/case.h"
#include "harness/core/records.h"
#include "harness/store/store.h"

namespace etalon::cost {

struct Kernel {
    std::string op;
    Precision precision = Precision::bf16;
    std::string provider, variant;
    L2Mode l2 = L2Mode::cold;
    std::vector<Axis> axes;
    Estimate time_ns;
    int samples = 0;  // 0: imported without an interval
    [[nodiscard]] std::string problem_id() const;
};

// Kernels of one card in one environment, as far as the grouping tells environments apart.
struct KernelSet {
    std::string gpu;                                         // as it calls itself
    double memory_bytes = 0;                                 // 0: unknown
    std::vector<std::pair<std::string, std::string>> group;  // {driver, 580.95}, ...
    std::vector<std::string> origins;                        // files and runs, for the reader
    std::vector<Kernel> kernels;
    [[nodiscard]] std::string group_text() const;  // "driver=580.95, cudnn=9.14"
};

// What --by takes beside `precision` and `impl`.
[[nodiscard]] std::vector<std::string> environment_keys();

// One set for each GPU model and each combination of values of `by` (environment_keys). Of each
// case the latest run that has it counts, repeats within it together. The empty window that the
// run's timer measured around nothing is taken off: it is no part of a kernel inside a graph.
[[nodiscard]] std::vector<KernelSet> load_kernels(const Store& store, const std::string& path,
                                                  const Selection& selection,
                                                  const std::vector<std::string>& by);

// CSV with a header line; columns gpu, provider, op, precision, axes, time_us, and if known
// time_lo_us, time_hi_us, samples. README.md describes it. One set for each gpu. Each fault is a
// usage Error that names file, line and mend.
[[nodiscard]] std::vector<KernelSet> parse_kernel_csv(std::string_view text,
                                                      const std::string& file);
[[nodiscard]] std::vector<KernelSet> read_kernel_csv(const std::string& path);

// An imported time carries no interval: this half of it is taken on either side.
inline constexpr double imported_half_width = 0.05;

// As a run of a results file, so that it can be merged, exported and chosen like any other. Rows
// whose precision has a suffix keep it as the provider's variant (fp8_dynamic → fp8, +dynamic).
// Returns the run's id.
[[nodiscard]] std::string import_kernels(Store& store, const KernelSet& set,
                                         const std::string& file);

}  // namespace etalon::cost
