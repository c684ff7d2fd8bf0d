// Suites: named lists of axis grids, read from TOML. bench/suites/README.md describes the format.
#pragma once

#include <string>
#include <vector>

#include "bench/op.h"

namespace etalon {

struct Suite {
    std::string name;
    std::string description;
    std::vector<Case> cases;  // in file order, no case twice
};

// `name_or_path` is a suite's name or the path of a TOML file. Suites are looked for in
// $ETALON_SUITES, beside the program, in the installed share folder and in the source tree. Throws
// a usage Error that names file and line.
[[nodiscard]] Suite load_suite(const std::string& name_or_path, const Registry& registry,
                               DeviceKind kind);
[[nodiscard]] std::vector<std::string> suite_names();

}  // namespace etalon
