#include "harness/gate/sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/error.h"
#include "harness/gate/load.h"

namespace etalon::gate {
namespace {

std::vector<Run> side(const Store& store, const std::string& text) {
    const Selection selection = Selection::parse(text);
    if (selection.run) (void)store.run(*selection.run);  // refuses what begins several ids
    std::vector<Run> runs = choose_runs(store, selection);
    std::set<std::string> gpus;
    for (const Run& run : runs) gpus.insert(store.environment(run.environment_hash).gpu);
    if (gpus.size() > 1) {
        throw usage_error(
            fmt::format("{} chooses runs of {} GPU models, {} and {} among them; add "
                        "gpu= to it",
                        text, gpus.size(), *gpus.begin(), *gpus.rbegin()));
    }
    return runs;
}

}  // namespace

Sides choose_sides(const Store& store, const std::string& before, const std::string& after) {
    Sides sides{side(store, before), side(store, after)};
    for (const Run& run : sides.before) {
        const bool both = std::any_of(sides.after.begin(), sides.after.end(),
                                      [&](const Run& other) { return other.run_id == run.run_id; });
        if (both) {
            throw usage_error(fmt::format(
                "run {} is on both sides; choose sets that share no run, as in run=ID run=ID",
                run.run_id));
        }
    }
    return sides;
}

}  // namespace etalon::gate
