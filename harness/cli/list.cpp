// etalon list: what can be measured.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/core/text.h"
#include "harness/device/device.h"
#include "harness/options/case_options.h"
#include "harness/options/device_option.h"
#include "harness/report/roofline.h"
#include "harness/report/text.h"
#include "harness/sweep/suite.h"

namespace etalon::cli {
namespace {

using nlohmann::json;

std::string axes_text(const Op& op) {
    std::vector<std::string> parts;
    for (const AxisSpec& axis : op.axes()) {
        parts.push_back(axis.optional ? fmt::format("[{}]", axis.name) : axis.name);
    }
    return join(parts, ",");
}

std::string precisions_text(const Op& op) {
    std::vector<std::string> parts;
    for (const Precision precision : op.precisions()) parts.emplace_back(name(precision));
    return join(parts, ",");
}

std::string providers_text(const Registry& registry, const Op& op, DeviceKind kind) {
    std::vector<std::string> parts;
    for (const Provider* provider : registry.providers(op.name(), kind)) {
        std::string text(provider->name());
        for (const std::string& variant : provider->variants()) text += "[+" + variant + "]";
        if (provider->name() == op.baseline(kind)) text += " (baseline)";
        parts.push_back(text);
    }
    return join(parts, ", ");
}

void print_overview(const Registry& registry, DeviceKind kind, bool as_json) {
    if (as_json) {
        json ops = json::array();
        for (const auto& op : registry.ops()) {
            json axes = json::array();
            for (const AxisSpec& axis : op->axes()) {
                axes.push_back({{"name", axis.name},
                                {"optional", axis.optional},
                                {"min", axis.min},
                                {"max", axis.max},
                                {"help", axis.help}});
            }
            json precisions = json::array(), providers = json::array();
            for (const Precision p : op->precisions()) precisions.push_back(name(p));
            for (const Provider* p : registry.providers(op->name(), kind)) {
                providers.push_back({{"name", p->name()}, {"variants", p->variants()}});
            }
            ops.push_back({{"name", op->name()},
                           {"summary", op->summary()},
                           {"axes", axes},
                           {"precisions", precisions},
                           {"providers", providers},
                           {"baseline", op->baseline(kind)}});
        }
        fmt::print("{}\n", json{{"format", "etalon.list/1"},
                                {"device", name(kind)},
                                {"ops", ops},
                                {"suites", suite_names()}}
                               .dump(2));
        return;
    }
    fmt::print("ops on the {} device\n", name(kind));
    for (const auto& op : registry.ops()) {
        fmt::print("  {:<10} {}\n             axes {}; precisions {}\n             by {}\n",
                   op->name(), op->summary(), axes_text(*op), precisions_text(*op),
                   providers_text(registry, *op, kind));
    }
    fmt::print("\nsuites\n");
    std::size_t width = 0;
    for (const std::string& suite : suite_names()) width = std::max(width, suite.size());
    for (const std::string& suite : suite_names()) {
        const Suite loaded = load_suite(suite, registry, kind);
        fmt::print("  {:<{}} {} ({} cases)\n", suite, width, loaded.description,
                   loaded.cases.size());
    }
    fmt::print("\n`etalon list --suite NAME` prints the ids of a suite's cases.\n");
}

// The latest run's cases, those that follow the clock most first.
void print_by_elasticity(const std::string& database, bool as_json) {
    const Store store = Store::open(database, Store::Mode::read);
    report::Roofline all = report::roofline(report::load_report(store, std::nullopt));
    std::stable_sort(all.points.begin(), all.points.end(), [](const auto& a, const auto& b) {
        return a.elasticity.value > b.elasticity.value;
    });
    if (as_json) {
        fmt::print("{}\n", report::dump(report::roofline_json(all)));
        return;
    }
    for (const report::RooflinePoint& point : all.points) {
        fmt::print("{:.2f} ({:.2f} to {:.2f})  {:<8} {}\n", point.elasticity.value,
                   point.elasticity.lo, point.elasticity.hi, report::name(point.by_elasticity),
                   point.case_id);
    }
}

}  // namespace

void add_list(CLI::App& app, Context&) {
    struct Options {
        CaseOptions cases;
        std::string device = "auto", by, database;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("list", "Ops, providers and suites; or a suite's cases");
    options->cases.add_to(*command);
    add_device_option(*command, options->device);
    CLI::Option* by = command
                          ->add_option("--by", options->by,
                                       "Order of the latest measurements in --db: elasticity")
                          ->type_name("FIGURE")
                          ->check(CLI::IsMember({"elasticity"}));
    add_db_option(*command, options->database)->needs(by);
    add_json_option(*command, options->json);
    command->callback([options] {
        if (!options->by.empty()) {
            print_by_elasticity(options->database, options->json);
            return;
        }
        const Registry registry = builtin_registry();
        const DeviceKind kind = parse_device(options->device).kind;
        const CaseOptions& chosen = options->cases;
        const bool overview = chosen.suite.empty() && chosen.cases.empty() &&
                              chosen.filter.empty() && chosen.exclude.empty() &&
                              chosen.ops.empty() && chosen.precisions.empty() &&
                              chosen.providers.empty() && chosen.model.models.empty();
        if (overview) {
            print_overview(registry, kind, options->json);
            return;
        }
        const std::vector<Case> cases = chosen.choose(registry, kind);
        print_cases(cases, options->json ? "etalon.list/1" : "");
    });
}

}  // namespace etalon::cli
