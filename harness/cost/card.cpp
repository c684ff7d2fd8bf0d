#include "harness/cost/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/cost/kernels.h"
#include "harness/cost/toml_reader.h"

namespace etalon::cost {
namespace {

// Taken for a card that nobody has entered: the H200's.
constexpr double usual_small_kernel_ns = 2000;

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0) {
            words.back() += static_cast<char>(std::tolower(byte));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

std::map<Precision, double> rates(const TomlEntry& entry, const std::string& key,
                                  const std::string& file) {
    const toml::node& node = entry.need(key);
    if (node.as_table() == nullptr) {
        throw entry.fault(node, fmt::format("'{}' must be a table, as in {{ bf16 = 788 }}", key));
    }
    std::map<Precision, double> all;
    for (const auto& [name, value] : *node.as_table()) {
        const std::string precision(name.str());
        try {
            all[parse_precision(precision)] = entry.number(precision, value);
        } catch (const Error& error) {
            if (std::string_view(error.what()).starts_with(file)) throw;
            throw entry.fault(value, error.what());
        }
    }
    return all;
}

}  // namespace

double Card::roof_ns(const LeastWork& work, Precision precision) const {
    const double bytes_ns = work.bytes / copy_gb_s;
    const auto rate = tflops.find(precision);
    return rate == tflops.end() ? bytes_ns : std::max(bytes_ns, work.flop / rate->second / 1e3);
}

bool Card::compute_bound(const LeastWork& work, Precision precision) const {
    return roof_ns(work, precision) > work.bytes / copy_gb_s;
}

std::vector<Card> parse_cards(std::string_view text, const std::string& file) {
    std::vector<Card> cards;
    each_toml_entry(text, file, "gpu", [&](const TomlEntry& entry) {
        entry.only({"name", "memory_gb", "copy_gb_s", "small_kernel_us", "tflops", "source",
                    "data_sheet_gb_s", "data_sheet_tflops"});
        Card card;
        card.name = entry.text("name");
        card.memory_bytes = 1e9 * entry.number("memory_gb");
        card.copy_gb_s = entry.number("copy_gb_s");
        card.small_kernel_ns = 1e3 * entry.number("small_kernel_us");
        card.source = entry.text("source");
        card.tflops = rates(entry, "tflops", file);
        if (entry.table().contains("data_sheet_gb_s")) {
            card.data_sheet_gb_s = entry.number("data_sheet_gb_s");
        }
        if (entry.table().contains("data_sheet_tflops")) {
            card.data_sheet_tflops = rates(entry, "data_sheet_tflops", file);
        } else if (card.source.starts_with("data sheet")) {
            card.data_sheet_tflops = card.tflops;
        }
        cards.push_back(std::move(card));
    });
    return cards;
}

bool names_card(std::string_view pattern, std::string_view gpu) {
    const std::vector<std::string> have = words_of(gpu), wanted = words_of(pattern);
    return !wanted.empty() && std::all_of(wanted.begin(), wanted.end(), [&](const auto& word) {
        return std::find(have.begin(), have.end(), word) != have.end();
    });
}

const Card* find_card(const std::vector<Card>& cards, std::string_view gpu) {
    const auto found = std::find_if(cards.begin(), cards.end(),
                                    [&](const Card& card) { return names_card(card.name, gpu); });
    return found == cards.end() ? nullptr : &*found;
}

Card card_of(const std::vector<Card>& cards, const KernelSet& set) {
    const Card* found = find_card(cards, set.gpu);
    Card card;
    if (found != nullptr) {
        card = *found;
    } else {
        card.name = set.gpu;
        card.small_kernel_ns = usual_small_kernel_ns;
        card.source = "best of the kernels measured";
        for (const Kernel& kernel : set.kernels) {
            if (kernel.op == "copy") {
                const double moved = 2 * static_cast<double>(axis_of(kernel.axes, "n")) *
                                     static_cast<double>(bytes_of(input_dtype(kernel.precision)));
                card.copy_gb_s = std::max(card.copy_gb_s, moved / kernel.time_ns.value);
            } else if (kernel.op == op::gemm) {
                const LeastWork work =
                    least_work(*find_op(op::gemm), kernel.precision, kernel.axes);
                double& best = card.tflops[kernel.precision];
                best = std::max(best, work.flop / kernel.time_ns.value / 1e3);
            }
        }
        if (card.copy_gb_s <= 0 || card.tflops.empty()) {
            throw usage_error(fmt::format(
                "'{}' is not in results/gpus.toml, and its kernels hold no copy and gemm to take "
                "ceilings from; measure them (`etalon sweep --op copy --op gemm`) or add the card "
                "(`--cards FILE`)",
                one_line(set.gpu)));
        }
    }
    if (set.memory_bytes > 0) card.memory_bytes = set.memory_bytes;
    return card;
}

}  // namespace etalon::cost
