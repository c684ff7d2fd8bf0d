// etalon cost: what a token costs, composed from measured kernels.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/cli/command.h"
#include "harness/cli/output_file.h"
#include "harness/core/text.h"
#include "harness/cost/data_files.h"
#include "harness/cost/gather.h"
#include "harness/cost/render.h"
#include "harness/options/model_options.h"

namespace etalon::cli {
namespace {

struct Options {
    ModelOptions model;
    std::vector<std::string> precisions, impls = {"best"}, providers, kernels, by;
    std::string database, runs, gpu, cards, prices, tier, owned, what_if;
    std::string utilisation = "100%", convention = "additive", phase = "both", cache_hit;
    std::string format = "text", out;
    double price = 0, ttft_ms = 0, tpot_ms = 0, rps = 0;
    std::int64_t gpus = 0;
    bool explain = false, json = false;
    // Given on the command line?
    bool database_given = false, price_given = false;
};

std::vector<cost::Card> read_cards(const Options& options) {
    const std::string path =
        options.cards.empty() ? cost::find_data_file("gpus.toml").string() : options.cards;
    return cost::parse_cards(cost::read_text(path), path);
}

cost::Pricing pricing_of(const Options& options) {
    cost::Pricing out;
    out.utilisation = cost::parse_share(options.utilisation, "--utilisation");
    out.convention = cost::parse_convention(options.convention);
    const int ways = (options.price_given ? 1 : 0) + (options.owned.empty() ? 0 : 1) +
                     (options.tier.empty() && options.prices.empty() ? 0 : 1);
    if (ways > 1) {
        throw usage_error("give one of --price, --owned, or --prices with --tier, not several");
    }
    if (options.price_given) {
        cost::Price price{.usd_per_hour = options.price, .source = "--price"};
        price.lo_usd = price.hi_usd = options.price;
        out.price_of = [price](const std::string&) { return price; };
    } else if (!options.owned.empty()) {
        const cost::Owned owned = cost::parse_owned(options.owned);
        cost::Price price{.usd_per_hour = owned.usd_per_hour(), .source = owned.text()};
        price.lo_usd = price.hi_usd = price.usd_per_hour;
        out.price_of = [price](const std::string&) { return price; };
    } else {
        const std::string path =
            options.prices.empty() ? cost::find_data_file("prices.toml").string() : options.prices;
        const auto prices = cost::parse_prices(cost::read_text(path), path, utc_now());
        const auto tier = options.tier.empty() ? std::nullopt : std::optional(options.tier);
        out.price_of = [prices, tier](const std::string& card) {
            return cost::choose_price(prices, card, tier);
        };
    }
    return out;
}

cost::Limits limits_of(const Options& options) {
    cost::Limits limits;
    if (options.ttft_ms > 0) limits.ttft_ms = options.ttft_ms;
    if (options.tpot_ms > 0) limits.tpot_ms = options.tpot_ms;
    return limits;
}

cost::WhatIf what_if_of(const Options& options) {
    cost::WhatIf what_if{.gpus = static_cast<int>(options.gpus), .rps = options.rps};
    constexpr std::string_view key = "utilisation=";
    if (!options.what_if.starts_with(key)) {
        throw usage_error(
            fmt::format("--what-if '{}' is not known; write "
                        "--what-if utilisation=30%..60%",
                        options.what_if));
    }
    cost::parse_utilisation_range(std::string_view(options.what_if).substr(key.size()), what_if);
    if (options.gpus == 0 || !(options.rps > 0)) {
        throw usage_error(
            "--what-if needs --gpus, the GPUs that run now, and --rps, the requests "
            "per second that they serve");
    }
    return what_if;
}

cost::Sources sources_of(const Options& options) {
    cost::Sources sources;
    // Tables alone need no results file; with --db they add to it.
    if (options.kernels.empty() || options.database_given) sources.database = options.database;
    sources.tables = options.kernels;
    if (!options.runs.empty()) sources.selection = Selection::parse(options.runs);
    if (!options.gpu.empty()) sources.gpu = options.gpu;
    sources.by = options.by;
    return sources;
}

cost::Grid grid_of(const Options& options) {
    cost::Grid grid = options.model.grid(options.precisions);
    grid.impls.clear();
    for (const std::string& text : options.impls) grid.impls.push_back(cost::parse_impl(text));
    grid.providers = options.providers;
    if (!options.cache_hit.empty()) {
        grid.cache_hit = cost::parse_share(options.cache_hit, "--cache-hit");
        if (grid.cache_hit >= 1) throw usage_error("--cache-hit must be under 100%");
    }
    return grid;
}

void run(const Options& options, Context& context) {
    const cost::Format format =
        options.json ? cost::Format::json : cost::parse_format(options.format);
    const cost::Grid grid = grid_of(options);
    const cost::Pricing pricing = pricing_of(options);
    if (options.what_if.empty() && (options.gpus > 0 || options.rps > 0)) {
        throw usage_error("--gpus and --rps belong to --what-if utilisation=30%..60%; add it");
    }

    const std::vector<cost::Card> cards = read_cards(options);
    const std::vector<cost::KernelSet> sets = cost::gather(sources_of(options), cards);

    const std::string command = sweep_command(grid, options.model.models, options.database);
    std::string text;
    bool missing = false;
    if (options.explain) {
        const std::vector<cost::Explained> steps =
            cost::explain(grid, sets, cards, cost::parse_phase(options.phase));
        text = cost::render(steps, format, command);
        missing = std::any_of(steps.begin(), steps.end(),
                              [](const auto& each) { return !each.step.missing.empty(); });
    } else if (!options.what_if.empty()) {
        const auto fleets =
            cost::fleets(grid, sets, cards, limits_of(options), pricing, what_if_of(options));
        text = cost::render(fleets, format);
        missing = std::any_of(fleets.begin(), fleets.end(),
                              [](const auto& each) { return !each.answer.after; });
    } else {
        const cost::CostTable table =
            cost::build_table(grid, sets, cards, limits_of(options), pricing);
        text = cost::render(table, format, command);
        missing = !table.missing.empty();
    }
    if (options.out.empty()) {
        write_stdout(text);
    } else {
        write_file(options.out, text);
    }
    if (missing) context.exit = ExitCode::undecided;
}

}  // namespace

void add_cost(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("cost", "What a million tokens cost, from measured kernels");
    options->model.add_to(*command);
    command->add_option("--precision", options->precisions, "Of the linear layers (default bf16)")
        ->delimiter(',')
        ->type_name("PRECISION,...");
    command
        ->add_option("--impl", options->impls,
                     "framework (vendor's first choice, nothing fused), vendor, etalon, best")
        ->delimiter(',')
        ->capture_default_str()
        ->type_name("IMPL,...");
    command
        ->add_option("--provider", options->providers,
                     "Only kernels of these families, as trtllm, instead of --impl")
        ->delimiter(',')
        ->type_name("NAME,...");
    CLI::Option* database = add_db_option(*command, options->database);
    command->add_option("--kernels", options->kernels, "Foreign kernel table; may be repeated")
        ->type_name("CSV");
    command->add_option("--runs", options->runs, "Runs of the file, as driver=580.95,tag=night")
        ->type_name("SELECTION");
    command->add_option("--gpu", options->gpu, "Only kernels of this card, as H200")
        ->type_name("NAME");
    command->add_option("--by", options->by, "Set side by side: gpu, driver, cudnn, build, tag")
        ->delimiter(',')
        ->type_name("KEY,...");
    command->add_option("--cards", options->cards, "Ceilings instead of results/gpus.toml")
        ->type_name("FILE");
    CLI::Option* price =
        command->add_option("--price", options->price, "Of a GPU-hour, instead of a price file")
            ->type_name("USD")
            ->check(number_between(0, 1e6));
    command->add_option("--prices", options->prices, "Instead of results/prices.toml")
        ->type_name("FILE");
    command->add_option("--tier", options->tier, "Tier of the price file (default: the latest)")
        ->type_name("NAME");
    command
        ->add_option("--owned", options->owned,
                     "An owned card: capex=30000,years=4,watts=1000,pue=1.3,kwh=0.08")
        ->type_name("KEY=VALUE,...");
    command
        ->add_option("--utilisation", options->utilisation,
                     "Offered load over the largest that meets the limits")
        ->capture_default_str()
        ->type_name("SHARE");
    command
        ->add_option("--convention", options->convention,
                     "additive (input pays prefill, output decode), blended, output")
        ->capture_default_str()
        ->type_name("NAME");
    command->add_option("--cache-hit", options->cache_hit, "Share of the input found in the cache")
        ->type_name("SHARE");
    command->add_option("--ttft-limit", options->ttft_ms, "Most time to the first token")
        ->type_name("MS")
        ->check(number_between(0.001, 1e9));
    command->add_option("--tpot-limit", options->tpot_ms, "Most time per output token")
        ->type_name("MS")
        ->check(number_between(0.001, 1e9));
    command->add_option("--what-if", options->what_if, "utilisation=30%..60%: what a fleet gains")
        ->type_name("CHANGE");
    command->add_option("--gpus", options->gpus, "GPUs of the fleet now")
        ->type_name("N")
        ->check(whole_between(1, 10000000));
    command->add_option("--rps", options->rps, "Requests per second that it serves")
        ->type_name("N")
        ->check(number_between(1e-6, 1e9));
    command->add_flag("--explain", options->explain,
                      "Every operator of a step, where its time comes from, its interval");
    command
        ->add_option("--phase", options->phase,
                     "Of --explain: decode, prefill, both, mixed; context is --context")
        ->type_name("NAME")
        ->capture_default_str();
    command->add_option("--format", options->format, "text, md, csv or json")
        ->capture_default_str()
        ->type_name("NAME");
    command->add_option("--out", options->out, "Write to this file")->type_name("FILE");
    add_json_option(*command, options->json);
    command->footer(
        "A request of ISL tokens in and OSL out, B in flight: TPOT = decode step at context\n"
        "ISL + OSL/2, and B prefills in OSL steps. Exit code 3 where measurements are missing;\n"
        "the command that makes them is printed.");
    command->callback([options, database, price, &context] {
        options->database_given = database->count() > 0;
        options->price_given = price->count() > 0;
        run(*options, context);
    });
}

}  // namespace etalon::cli
