// What every program of ours does around its work.
#pragma once

#include <functional>

namespace etalon::cli {

// Runs it and returns its exit code. A fault is one line on stderr, `NAME: ...`, and the code that
// goes with it; output that could not be written is a fault too.
[[nodiscard]] int run_program(const char* name, const std::function<int()>& run);

}  // namespace etalon::cli
