#include "harness/options/case_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/text.h"
#include "harness/sweep/case_filter.h"
#include "harness/sweep/suite.h"

namespace etalon::cli {
namespace {

constexpr const char* default_suite = "quick";
constexpr const char* llm_suite = "llm";

bool contains(const std::vector<std::string>& list, std::string_view text) {
    return list.empty() || std::find(list.begin(), list.end(), text) != list.end();
}

// Without a GPU the cases are the host's, which is not always what was meant.
std::string other_device(DeviceKind kind) {
    return kind == DeviceKind::host ? "; `--device cuda:0` lists those of a GPU" : "";
}

}  // namespace

void CaseOptions::add_to(CLI::App& command) {
    command
        .add_option("--suite", suite,
                    "Suite by name, or the path of a TOML file; llm: what --model needs")
        ->type_name("NAME");
    command.add_option("--case", cases, "Exact case id instead of a suite; may be repeated")
        ->type_name("ID");
    command
        .add_option("--filter", filter,
                    "Keep cases whose id matches this glob, or re:EXPR; may be repeated")
        ->type_name("PATTERN");
    command.add_option("--exclude", exclude, "Leave out cases that match; may be repeated")
        ->type_name("PATTERN");
    command.add_option("--op", ops, "Keep this op; may be repeated")->type_name("OP");
    command
        .add_option(
            "--precision", precisions,
            "Keep this precision, such as bf16 (llm: of the linear layers); may be repeated")
        ->delimiter(',')
        ->type_name("PRECISION");
    command.add_option("--provider", providers, "Keep this provider; may be repeated")
        ->type_name("PROVIDER");
    model.add_to(command);
}

std::string CaseOptions::suite_name() const {
    if (!cases.empty()) return "cases";
    if (suite.empty()) return default_suite;
    // A file is known by its name, however the path to it was written.
    return suite.ends_with(".toml") ? std::filesystem::path(suite).stem().string() : suite;
}

std::vector<Case> CaseOptions::choose(const Registry& registry, DeviceKind kind) const {
    std::vector<std::string> wanted;
    for (const std::string& op : ops) (void)registry.op(op);
    for (const std::string& text : precisions) wanted.emplace_back(name(parse_precision(text)));
    std::set<std::string> known_providers;
    for (const auto& op : registry.ops()) {
        for (const Provider* p : registry.providers(op->name(), kind)) {
            known_providers.emplace(p->name());
        }
    }
    for (const std::string& provider : providers) {
        if (!known_providers.contains(provider)) {
            const std::vector<std::string> known(known_providers.begin(), known_providers.end());
            throw usage_error(unknown_name("provider", provider, known) + other_device(kind));
        }
    }

    if (suite != llm_suite && (!model.models.empty() || model.any())) {
        throw usage_error("--model, --batch, --isl, --osl and --tp belong to --suite llm; add it");
    }
    const std::string from = suite.empty() ? default_suite : suite;
    std::vector<Case> all;
    if (!cases.empty()) {
        if (!suite.empty()) throw usage_error("give --suite or --case, not both");
        std::set<std::string> seen;
        for (const std::string& id : cases) {
            Case key = registry.parse_case(id, kind);
            if (seen.insert(key.id()).second) all.push_back(std::move(key));
        }
    } else if (suite == llm_suite) {
        all = llm_cases(model.grid(precisions), registry, kind);
        // They chose the model's precision; its head and norms have another.
        wanted.clear();
    } else {
        all = load_suite(from, registry, kind).cases;
    }

    if (all.empty()) {
        throw usage_error(fmt::format("suite '{}' has no case for the {} device in this build",
                                      from, name(kind)));
    }
    const CaseFilter by_id(filter, exclude);
    std::vector<Case> kept;
    for (Case& key : all) {
        const bool keep = contains(ops, key.problem.op) &&
                          contains(wanted, name(key.problem.precision)) &&
                          contains(providers, key.provider) && by_id.matches(key.id());
        if (keep) kept.push_back(std::move(key));
    }
    if (kept.empty() && !cases.empty()) {
        throw usage_error(
            fmt::format("none of the {} cases given is left by the filters", all.size()));
    }
    if (kept.empty()) {
        throw usage_error(fmt::format(
            "none of the {} cases of '{}' on the {} device is left by the filters; `etalon list "
            "--suite {}` shows them{}",
            all.size(), from, name(kind), from, other_device(kind)));
    }
    return kept;
}

void print_cases(const std::vector<Case>& cases, const std::string& json_format) {
    if (json_format.empty()) {
        for (const Case& key : cases) fmt::print("{}\n", key.id());
        return;
    }
    nlohmann::json ids = nlohmann::json::array();
    for (const Case& key : cases) ids.push_back(key.id());
    fmt::print("{}\n", nlohmann::json{{"format", json_format}, {"cases", ids}}.dump(2));
}

}  // namespace etalon::cli
