// What a comparison says about one case.
#pragma once

#include <string_view>

namespace etalon::gate {

enum class Verdict {
    same,
    slower,
    faster,
    ambiguous,  // measured on both sides, and the data cannot tell; the reason says why
    new_case,   // nothing comparable in the reference ("new")
    missing,    // measured in the reference, not in the candidate
    failed,     // the candidate could not be measured
    incorrect   // the candidate computed something wrong
};

// same slower faster ambiguous new missing failed incorrect
[[nodiscard]] std::string_view name(Verdict verdict);

}  // namespace etalon::gate
