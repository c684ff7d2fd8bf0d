// The report as JUnit XML: what CI systems draw as tests.
//
// A case that is slower or incorrect is a failure, one that could not be measured an error, and one
// that is unsupported or cannot be judged is skipped, with the reason: a pipeline that reads the
// file alone fails for the same cases as `etalon gate`.
#include <fmt/format.h>

#include <map>

#include "harness/report/report.h"
#include "harness/report/text.h"
#include "harness/report/xml.h"

namespace etalon::report {
namespace {

using gate::Verdict;

struct Outcome {
    const char* element = nullptr;  // failure, error, skipped; nullptr: passed
    std::string message;
};

std::string with_reason(std::string_view what, const std::string& reason) {
    return reason.empty() ? std::string(what) : fmt::format("{}: {}", what, reason);
}

Outcome outcome_of(const ReportCell& cell, const gate::Change* change) {
    switch (cell.status) {
        case Status::incorrect:
            return {"failure", with_reason("incorrect", cell.reason)};
        case Status::failed:
            return {"error", with_reason("failed", cell.reason)};
        case Status::unsupported:
            return {"skipped", with_reason("unsupported", cell.reason)};
        case Status::ok:
            break;
    }
    if (change == nullptr) return {};
    if (change->verdict == Verdict::slower) {
        const std::string size = change->ratio ? percent_change(*change->ratio) : "";
        return {"failure",
                fmt::format("slower {}, {} -> {}{}{}", size, time_text(change->reference_ns),
                            time_text(change->candidate_ns), change->reason.empty() ? "" : "; ",
                            change->reason)};
    }
    if (change->verdict == Verdict::ambiguous) {
        return {"skipped", with_reason("cannot decide", change->reason)};
    }
    return {};
}

struct Suite {
    std::string cases;
    int tests = 0, failures = 0, errors = 0, skipped = 0;
    double time_s = 0;

    void add(const std::string& suite, const std::string& case_id, double time_ns,
             const Outcome& outcome) {
        ++tests;
        time_s += time_ns / 1e9;
        cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.9f}\"",
                             xml_text(suite), xml_text(case_id), time_ns / 1e9);
        if (outcome.element == nullptr) {
            cases += "/>\n";
            return;
        }
        const std::string_view element = outcome.element;
        failures += element == "failure";
        errors += element == "error";
        skipped += element == "skipped";
        cases += fmt::format(">\n      <{} message=\"{}\"/>\n    </testcase>\n", element,
                             xml_text(outcome.message));
    }
    [[nodiscard]] std::string counts() const {
        return fmt::format(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.9f}\"", tests,
            failures, errors, skipped, time_s);
    }
};

}  // namespace

std::string report_junit(const Report& report) {
    std::map<std::string, const gate::Change*> changes;
    if (report.changes) {
        for (const gate::Change& change : report.changes->comparison.changes) {
            changes[change.case_id] = &change;
        }
    }
    std::map<std::string, Suite> suites;
    for (const ReportTable& table : report.tables) {
        const std::string suite = fmt::format("{}.{}", table.op, table.precision);
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& cell : row.cells) {
                const auto found = changes.find(cell.case_id);
                const gate::Change* change = found == changes.end() ? nullptr : found->second;
                suites[suite].add(suite, cell.case_id, cell.time_ns ? cell.time_ns->value : 0,
                                  outcome_of(cell, change));
                if (found != changes.end()) changes.erase(found);
            }
        }
    }
    // What the runs before have and this one has not.
    for (const auto& [case_id, change] : changes) {
        if (change->verdict != Verdict::missing) continue;
        const std::string suite =
            fmt::format("{}.{}", change->key.problem.op, name(change->key.problem.precision));
        suites[suite].add(suite, case_id, 0, {"skipped", with_reason("missing", change->reason)});
    }
    Suite all;
    std::string body;
    for (const auto& [suite, each] : suites) {
        all.tests += each.tests;
        all.failures += each.failures;
        all.errors += each.errors;
        all.skipped += each.skipped;
        all.time_s += each.time_s;
        body += fmt::format("  <testsuite name=\"{}\" timestamp=\"{}\" hostname=\"{}\" {}>\n",
                            xml_text(suite), xml_text(report.run.started_at),
                            xml_text(report.run.host_name), each.counts());
        body += each.cases + "  </testsuite>\n";
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"etalon {}\" {}>\n{}"
        "</testsuites>\n",
        xml_text(report.run.suite), all.counts(), body);
}

}  // namespace etalon::report
