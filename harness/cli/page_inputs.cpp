#include "harness/cli/page_inputs.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/cost/data_files.h"

namespace etalon::cli {
namespace {

nlohmann::json read_json(const std::string& path, std::string_view format, const char* made_by) {
    const std::string text = cost::read_text(path);
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    if (!value.is_object() || value.value("format", nlohmann::json()) != format) {
        throw usage_error(
            fmt::format("'{}' is not {}; make it with `{}`", one_line(path), format, made_by));
    }
    return value;
}

}  // namespace

void PageFlags::add_to(CLI::App& command) {
    command
        .add_option("--compare", compare,
                    "Page: two sets of runs, as in cudnn=9.14 cudnn=9.19; else the run against the "
                    "latest earlier one, of another environment where there is one")
        ->expected(2)
        ->type_name("A B");
    command.add_option("--cost", cost, "Page: what `etalon cost --json` wrote")->type_name("JSON");
    command
        .add_option("--doctor", doctor,
                    "Page: what `etalon doctor --json` wrote on the machine that measured")
        ->type_name("JSON");
}

void PageFlags::refuse_for(const std::string& format) const {
    if (compare.empty() && cost.empty() && doctor.empty()) return;
    throw usage_error(fmt::format(
        "--compare, --cost and --doctor are for a page: use --format html, not {}", format));
}

report::PageOptions PageFlags::values(const std::optional<std::string>& run) const {
    report::PageOptions options;
    options.run = run;
    if (compare.size() == 2) options.compare = {compare[0], compare[1]};
    if (!cost.empty()) {
        options.cost = read_json(cost, "etalon.cost/1", "etalon cost ... --json > cost.json");
        if (!options.cost.contains("rows")) {
            throw usage_error(
                fmt::format("'{}' holds no cost table; make it without --explain and --what-if",
                            one_line(cost)));
        }
    }
    if (!doctor.empty()) {
        options.doctor = read_json(doctor, "etalon.doctor/1", "etalon doctor --json > doctor.json");
    }
    const std::string cards = cost::find_data_file("gpus.toml").string();
    options.cards = cost::parse_cards(cost::read_text(cards), cards);
    return options;
}

}  // namespace etalon::cli
