// Nights of several cases as the store would give them, for tests.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "harness/history/line.h"
#include "harness/stats/simulation.h"

namespace etalon::history {

struct SimulatedNights {
    NightValues values;

    explicit SimulatedNights(std::vector<std::string> case_ids) {
        values.case_ids = std::move(case_ids);
        values.methods = {"cupti/1", ""};
    }

    static Environment environment(const std::string& driver = "580.95") {
        Environment e;
        e.device_kind = "cuda";
        e.gpu = "NVIDIA H200";
        e.driver = driver;
        e.cudnn = "9.14";
        return e;
    }

    // One night: time_ns(case index); NaN leaves the case out.
    void add(const Environment& e, const std::string& revision,
             const std::function<double(std::size_t)>& time_ns) {
        const std::size_t night = values.runs.size();
        Run run;
        run.run_id = fmt::format("run{:04}", night);
        run.started_at =
            fmt::format("2026-{:02}-{:02}T02:00:00.000Z", 1 + night / 28, 1 + night % 28);
        run.revision = revision;
        run.environment_hash = e.hash();
        values.environments[run.environment_hash] = e;
        values.runs.push_back(run);
        for (std::size_t c = 0; c < values.case_ids.size(); ++c) {
            const double time = time_ns(c);
            if (std::isnan(time)) continue;
            values.values.push_back({static_cast<std::uint32_t>(night),
                                     static_cast<std::uint32_t>(c), 0, Status::ok, time});
        }
    }

    // In the order that the store keeps.
    [[nodiscard]] const NightValues& sorted() {
        std::stable_sort(values.values.begin(), values.values.end(),
                         [](const NightValue& a, const NightValue& b) {
                             return std::pair(a.case_index, a.run) < std::pair(b.case_index, b.run);
                         });
        return values;
    }
};

}  // namespace etalon::history
