#include "harness/cost/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::cost {
namespace {

// Two names of one card: "H200" in a table, "NVIDIA H200" in a driver.
std::string canonical(const std::vector<Card>& cards, const std::string& gpu) {
    for (const Card& card : cards) {
        if (names_card(card.name, gpu)) return card.name;
    }
    return gpu;
}

}  // namespace

std::vector<KernelSet> gather(const Sources& sources, const std::vector<Card>& cards) {
    const std::vector<std::string> known = environment_keys();
    for (const std::string& key : sources.by) {
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        if (key == "precision" || key == "impl") {
            throw usage_error(
                fmt::format("--by {0} is not needed: --{0} takes a list, and the "
                            "table has them side by side",
                            key));
        }
        throw usage_error(unknown_name("key of --by", key, known));
    }

    std::vector<KernelSet> sets;
    if (sources.database) {
        const Store store = Store::open(*sources.database, Store::Mode::read);
        sets = load_kernels(store, *sources.database, sources.selection, sources.by);
        if (sets.empty() && sources.tables.empty()) {
            throw usage_error(
                fmt::format("'{}' has no measurement of {}; `etalon sweep` makes them",
                            *sources.database, sources.selection.text()));
        }
    }
    // An imported run names the card as its table did.
    for (std::size_t i = 1; i < sets.size();) {
        const auto same = std::find_if(
            sets.begin(), sets.begin() + static_cast<std::ptrdiff_t>(i), [&](const KernelSet& set) {
                return canonical(cards, set.gpu) == canonical(cards, sets[i].gpu) &&
                       set.group == sets[i].group;
            });
        if (same == sets.begin() + static_cast<std::ptrdiff_t>(i)) {
            ++i;
            continue;
        }
        same->kernels.insert(same->kernels.end(), sets[i].kernels.begin(), sets[i].kernels.end());
        same->memory_bytes = std::max(same->memory_bytes, sets[i].memory_bytes);
        sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (const std::string& path : sources.tables) {
        for (KernelSet& table : read_kernel_csv(path)) {
            const std::string card = canonical(cards, table.gpu);
            bool added = false;
            for (KernelSet& set : sets) {
                if (canonical(cards, set.gpu) != card) continue;
                set.kernels.insert(set.kernels.end(), table.kernels.begin(), table.kernels.end());
                set.origins.push_back(path);
                added = true;
            }
            if (!added) sets.push_back(std::move(table));
        }
    }

    std::set<std::string> gpus;
    for (const KernelSet& set : sets) gpus.insert(set.gpu);
    const std::string all = join(std::vector<std::string>(gpus.begin(), gpus.end()), ", ");
    if (sources.gpu) {
        std::erase_if(sets,
                      [&](const KernelSet& set) { return !names_card(*sources.gpu, set.gpu); });
        if (sets.empty()) {
            throw usage_error(
                fmt::format("no kernel of a GPU '{}'; there are those of {}", *sources.gpu, all));
        }
        gpus.clear();
        for (const KernelSet& set : sets) gpus.insert(set.gpu);
    }
    const bool apart = std::find(sources.by.begin(), sources.by.end(), "gpu") != sources.by.end();
    if (gpus.size() > 1 && !apart) {
        throw usage_error(
            fmt::format("there are kernels of {} GPU models: {}; choose one with "
                        "--gpu, or set them side by side with --by gpu",
                        gpus.size(), all));
    }
    return sets;
}

}  // namespace etalon::cost
