// etalon doctor: what this machine would do to a measurement, and the mend.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/libraries.h"
#include "harness/cli/command.h"
#include "harness/device/device.h"

namespace etalon::cli {
namespace {

const char* word(Finding::Level level) {
    switch (level) {
        case Finding::Level::good:
            return "good";
        case Finding::Level::note:
            return "note";
        case Finding::Level::warning:
            return "warning";
        case Finding::Level::bad:
            return "bad";
    }
    return "";
}

std::vector<Finding> library_findings() {
    std::vector<Finding> findings;
    const DeviceKind kind = parse_device("auto").kind;
    for (const DeviceKind each : {DeviceKind::cuda, DeviceKind::host}) {
        for (const Library& library : libraries(each)) {
            if (!library.version.empty()) {
                findings.push_back({Finding::Level::good, library.name, library.version, "", ""});
                continue;
            }
            const auto level = each == kind ? Finding::Level::warning : Finding::Level::note;
            findings.push_back({level, library.name, "not usable: " + library.problem,
                                "its cases are stored as unsupported", ""});
        }
    }
    return findings;
}

// Reasons that come from elsewhere carry their mend behind the first semicolon.
void part_mend(Finding& finding) {
    const std::size_t at = finding.value.find("; ");
    if (finding.level == Finding::Level::good || !finding.mend.empty() || at == std::string::npos) {
        return;
    }
    finding.mend = finding.value.substr(at + 2);
    finding.value.resize(at);
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
    auto as_json = std::make_shared<bool>(false);
    CLI::App* command =
        app.add_subcommand("doctor", "What this machine would do to a measurement, and the mend");
    add_json_option(*command, *as_json);
    command->callback([as_json, &context] {
        std::vector<Finding> findings = examine_machine();
        for (Finding& finding : library_findings()) findings.push_back(std::move(finding));
        for (Finding& finding : findings) {
            part_mend(finding);
            if (finding.level == Finding::Level::bad) context.exit = ExitCode::device_failure;
        }
        if (*as_json) {
            nlohmann::json rows = nlohmann::json::array();
            for (const Finding& finding : findings) {
                rows.push_back({{"level", word(finding.level)},
                                {"subject", finding.subject},
                                {"value", finding.value},
                                {"effect", finding.effect},
                                {"mend", finding.mend}});
            }
            fmt::print("{}\n",
                       nlohmann::json{{"format", "etalon.doctor/1"}, {"findings", rows}}.dump(2));
            return;
        }
        for (const Finding& finding : findings) {
            fmt::print("{:<8} {:<24} {}\n", word(finding.level), finding.subject, finding.value);
            if (!finding.effect.empty()) fmt::print("{:34}effect: {}\n", "", finding.effect);
            if (!finding.mend.empty()) fmt::print("{:34}mend:   {}\n", "", finding.mend);
        }
    });
}

}  // namespace etalon::cli
