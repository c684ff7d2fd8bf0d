// etalon roofline: what bounds each case, by intensity and by clock elasticity.

#include "harness/report/roofline.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/output_file.h"
#include "harness/cost/card.h"
#include "harness/cost/data_files.h"
#include "harness/report/roofline_svg.h"
#include "harness/report/text.h"

namespace etalon::cli {

namespace {

report::DataSheet data_sheet_of(const std::string& gpu) {
    const std::string file = cost::find_data_file("gpus.toml").string();
    const std::vector<cost::Card> cards = cost::parse_cards(cost::read_text(file), file);
    report::DataSheet sheet;
    const cost::Card* card = cost::find_card(cards, gpu);
    if (card == nullptr) return sheet;
    sheet.gb_s = card->data_sheet_gb_s;
    for (const auto& [precision, rate] : card->data_sheet_tflops) {
        sheet.tflops[std::string(name(precision))] = rate;
    }
    return sheet;
}

}  // namespace

void add_roofline(CLI::App& app, Context&) {
    struct Options {
        std::string database, run, plot;
        bool disagree = false, json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "roofline", "What bounds each case: memory, compute or latency, by two accounts");
    add_db_option(*command, options->database);
    command->add_option("--run", options->run, "Run, by id or unique prefix; else the latest")
        ->type_name("ID");
    command->add_flag("--disagree", options->disagree, "Only cases on which the two disagree");
    command
        ->add_option("--plot", options->plot,
                     "Also write it as a picture, with the data sheet's ceilings")
        ->type_name("FILE.svg");
    add_json_option(*command, options->json);
    command->callback([options] {
        const Store store = Store::open(options->database, Store::Mode::read);
        const auto run = options->run.empty() ? std::nullopt : std::optional(options->run);
        const report::Roofline roofline = report::roofline(report::load_run_report(store, run));
        if (!options->plot.empty()) {
            write_file(options->plot, report::roofline_svg(roofline, data_sheet_of(roofline.gpu)));
        }
        if (options->json) {
            fmt::print("{}\n", report::dump(report::roofline_json(roofline)));
        } else {
            fmt::print("{}", report::roofline_text(roofline, options->disagree));
        }
    });
}

}  // namespace etalon::cli
