#include "harness/report/runs.h"

namespace etalon::report {

nlohmann::json runs_list_json(const std::vector<Run>& runs) {
    nlohmann::json all = nlohmann::json::array();
    for (const Run& run : runs) {
        all.push_back({{"run_id", run.run_id},
                       {"started_at", run.started_at},
                       {"state", name(run.state)},
                       {"suite", run.suite},
                       {"device", run.device},
                       {"revision", run.revision},
                       {"tag", run.tag},
                       {"environment_hash", run.environment_hash}});
    }
    return {{"format", "etalon.runs/1"}, {"runs", all}};
}

}  // namespace etalon::report
