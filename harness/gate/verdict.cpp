#include "harness/gate/verdict.h"

namespace etalon::gate {

std::string_view name(Verdict verdict) {
    switch (verdict) {
        case Verdict::same:
            return "same";
        case Verdict::slower:
            return "slower";
        case Verdict::faster:
            return "faster";
        case Verdict::ambiguous:
            return "ambiguous";
        case Verdict::new_case:
            return "new";
        case Verdict::missing:
            return "missing";
        case Verdict::failed:
            return "failed";
        case Verdict::incorrect:
            return "incorrect";
    }
    return "?";
}

}  // namespace etalon::gate
