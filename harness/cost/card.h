// Ceilings of a GPU model: rooflines, memory, and the least that a kernel takes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/precision.h"
#include "harness/cost/op_table.h"

namespace etalon::cost {

struct KernelSet;

struct Card {
    std::string name;
    double memory_bytes = 0;
    double copy_gb_s = 0;
    double small_kernel_ns = 0;
    std::map<Precision, double> tflops;
    // What the vendor prints for dense products and for HBM; 0 and empty where it is not entered.
    double data_sheet_gb_s = 0;
    std::map<Precision, double> data_sheet_tflops;
    std::string source;

    // Time below which no kernel of this work can be. 0 FLOP/s known: bytes alone.
    [[nodiscard]] double roof_ns(const LeastWork& work, Precision precision) const;
    [[nodiscard]] bool compute_bound(const LeastWork& work, Precision precision) const;
};

// results/gpus.toml, or another file of that form.
[[nodiscard]] std::vector<Card> parse_cards(std::string_view toml, const std::string& file);
// All words of `pattern` stand in `gpu`, whatever the case: H200 in "NVIDIA H200", h200_sxm.
[[nodiscard]] bool names_card(std::string_view pattern, std::string_view gpu);
// The entry of this GPU; nullptr where there is none.
[[nodiscard]] const Card* find_card(const std::vector<Card>& cards, std::string_view gpu);
// The card of these kernels. Where the table has none, its ceilings are the best that the kernels
// reach; a usage Error where there is no copy and no gemm among them.
[[nodiscard]] Card card_of(const std::vector<Card>& cards, const KernelSet& kernels);

}  // namespace etalon::cost
