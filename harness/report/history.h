// Cases over time as text and JSON: each with its changes, or all changes as findings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/history/cluster.h"
#include "harness/history/line.h"

namespace etalon::report {

// One line a case, and under it, in order of time: where its level changed, where it drifted, where
// its environment changed. Only the latest `limit` nights are shown (0: all); all have been judged.
[[nodiscard]] std::string history_text(const std::vector<history::Line>& lines,
                                       const NightValues& values, std::size_t limit);
[[nodiscard]] nlohmann::json history_json(const std::vector<history::Line>& lines,
                                          const NightValues& values,
                                          std::size_t limit);  // etalon.history/1

// Clusters, latest first, with at most `most` members named each (0: all); then the drifts, and
// what could not be decided.
[[nodiscard]] std::string findings_text(const std::vector<history::Line>& lines,
                                        const std::vector<history::Cluster>& clusters,
                                        const NightValues& values, std::size_t most = 5);
[[nodiscard]] nlohmann::json findings_json(const std::vector<history::Line>& lines,
                                           const std::vector<history::Cluster>& clusters,
                                           const NightValues& values);  // etalon.findings/1

}  // namespace etalon::report
