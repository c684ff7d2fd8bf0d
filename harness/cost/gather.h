// Which kernels a cost is composed of: a results file, foreign tables, or both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cost/card.h"
#include "harness/cost/kernels.h"

namespace etalon::cost {

struct Sources {
    std::optional<std::string> database;  // path
    std::vector<std::string> tables;      // CSV files
    Selection selection;                  // of the database's runs
    std::optional<std::string> gpu;       // words of the card's name
    std::vector<std::string> by;          // environment_keys
};

// One set for each GPU model and group. Tables are added to every set of their card. Throws a
// usage Error for an unknown key, where nothing is left, and where several GPU models are and
// neither `gpu` nor `by` tells them apart.
[[nodiscard]] std::vector<KernelSet> gather(const Sources& sources, const std::vector<Card>& cards);

}  // namespace etalon::cost
