// The test of one case that both sides have measured.
#pragma once

#include "harness/gate/compare.h"

namespace etalon::gate {

struct CaseTest {
    // Without a ratio when the sides cannot be compared; verdict and reason then say why. With one,
    // p is set and the verdict is still to be found, over all cases.
    Change change;
    double too_wide = 0;  // half-width (log) past which "no change seen" says nothing
};

[[nodiscard]] CaseTest test_case(const CaseRuns& reference, const CaseRuns& candidate,
                                 const CompareOptions& options);

}  // namespace etalon::gate
