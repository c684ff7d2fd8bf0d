// etalon db: look after a results file.

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/output_file.h"
#include "harness/cost/kernels.h"
#include "harness/report/text.h"
#include "harness/store/store.h"

namespace etalon::cli {
namespace {

struct Options {
    std::string database, table = "measurements", out;
    std::vector<std::string> from, kernels;
    bool csv = false, json = false;
};

void verify(const Options& options, Context& context) {
    const VerifyReport report = Store::open(options.database, Store::Mode::read).verify();
    if (!report.problems.empty()) context.exit = ExitCode::usage;
    if (options.json) {
        fmt::print("{}\n", report::dump(nlohmann::json{{"format", "etalon.verify/1"},
                                                       {"sound", report.problems.empty()},
                                                       {"problems", report.problems},
                                                       {"runs", report.runs},
                                                       {"measurements", report.measurements},
                                                       {"samples", report.samples}}));
        return;
    }
    for (const std::string& problem : report.problems) fmt::print("{}\n", problem);
    if (report.problems.empty()) {
        fmt::print("'{}' is sound: {} runs, {} measurements, {} samples\n", options.database,
                   report.runs, report.measurements, report.samples);
    } else {
        const std::size_t count = report.problems.size();
        fmt::print(stderr, "etalon: '{}' has {} problem{}; restore it from a backup\n",
                   options.database, count, count == 1 ? "" : "s");
    }
}

void merge(const Options& options) {
    // Every file is looked at before the first is merged.
    for (const std::string& path : options.from) (void)Store::open(path, Store::Mode::read);
    Store store = Store::open(options.database, Store::Mode::create);
    MergeReport sum;
    for (const std::string& path : options.from) {
        const MergeReport one = store.merge(path);
        sum.runs_added += one.runs_added;
        sum.measurements_added += one.measurements_added;
        sum.already_there += one.already_there;
    }
    if (options.json) {
        fmt::print("{}\n",
                   report::dump(nlohmann::json{{"format", "etalon.merge/1"},
                                               {"runs_added", sum.runs_added},
                                               {"measurements_added", sum.measurements_added},
                                               {"already_there", sum.already_there}}));
    } else {
        fmt::print("'{}': {} runs and {} measurements added, {} were there\n", options.database,
                   sum.runs_added, sum.measurements_added, sum.already_there);
    }
}

void export_table(const Options& options) {
    const Store store = Store::open(options.database, Store::Mode::read);
    const char* format = options.json ? "json" : "csv";
    if (options.out.empty()) {
        store.export_table(options.table, format, write_stdout);
        return;
    }
    OutputFile file(options.out);
    store.export_table(options.table, format, [&](std::string_view text) { file.write(text); });
    file.commit();
}

// Each GPU model of each table becomes a run of its own.
void import_tables(const Options& options) {
    // All are read before anything is written.
    std::vector<std::pair<std::string, cost::KernelSet>> sets;
    for (const std::string& file : options.kernels) {
        for (cost::KernelSet& set : cost::read_kernel_csv(file)) {
            sets.emplace_back(file, std::move(set));
        }
    }
    const SweepLock lock(options.database);
    Store store = Store::open(options.database, Store::Mode::create);
    nlohmann::json runs = nlohmann::json::array();
    for (const auto& [file, set] : sets) {
        const std::string id = cost::import_kernels(store, set, file);
        runs.push_back(
            {{"run_id", id}, {"gpu", set.gpu}, {"file", file}, {"kernels", set.kernels.size()}});
        if (!options.json) {
            fmt::print("run {}: {} kernels of {} from '{}'\n", id, set.kernels.size(), set.gpu,
                       file);
        }
    }
    if (options.json) {
        fmt::print("{}\n",
                   report::dump(nlohmann::json{
                       {"format", "etalon.import/1"}, {"db", options.database}, {"runs", runs}}));
    } else {
        fmt::print("stored in {}\n", options.database);
    }
}

void migrate(const Options& options) {
    const int before = Store::schema_of(options.database);
    (void)Store::open(options.database, Store::Mode::write);
    const std::string backup =
        before < schema_version ? migration_backup(options.database, before) : std::string();
    if (options.json) {
        fmt::print("{}\n", report::dump(nlohmann::json{{"format", "etalon.migrate/1"},
                                                       {"from", before},
                                                       {"to", schema_version},
                                                       {"backup", backup}}));
    } else if (backup.empty()) {
        fmt::print("'{}' has schema {} already\n", options.database, schema_version);
    } else {
        fmt::print("'{}' went from schema {} to {}; the old file is '{}'\n", options.database,
                   before, schema_version, backup);
    }
}

}  // namespace

void add_db(CLI::App& app, Context& context) {
    CLI::App* db =
        app.add_subcommand("db", "Verify, merge, export, import or migrate results files");
    db->require_subcommand(1);
    const auto add = [&](const char* name, const char* help, const auto& run) {
        auto options = std::make_shared<Options>();
        CLI::App* command = db->add_subcommand(name, help);
        add_db_option(*command, options->database);
        command->callback([options, run] { run(*options); });
        return std::pair{command, options};
    };

    const auto [check, check_options] =
        add("verify", "Check a file's pages, keys and samples",
            [&context](const Options& options) { verify(options, context); });
    add_json_option(*check, check_options->json);

    const auto [union_of, union_options] =
        add("merge", "Add the runs of other files: a set union, in any order, as often as you like",
            merge);
    union_of->add_option("FILE", union_options->from, "Results files to take runs from")
        ->required()
        ->type_name("FILE ...");
    add_json_option(*union_of, union_options->json);

    const auto [table, table_options] =
        add("export", "Write a stable table: measurements or ratios", export_table);
    table->add_option("--table", table_options->table, "measurements or ratios")
        ->type_name("NAME")
        ->capture_default_str();
    table->add_option("--out", table_options->out, "Write to this file")->type_name("FILE");
    CLI::Option* csv = table->add_flag("--csv", table_options->csv, "CSV with a header (default)");
    add_json_option(*table, table_options->json)->excludes(csv);

    const auto [foreign, foreign_options] =
        add("import", "Add kernel tables of others, which `etalon cost` composes", import_tables);
    foreign
        ->add_option("FILE,--kernels", foreign_options->kernels,
                     "CSV with the columns gpu, provider, op, precision, axes, time_us")
        ->required()
        ->type_name("CSV ...");
    add_json_option(*foreign, foreign_options->json);

    const auto [upgrade, upgrade_options] =
        add("migrate", "Bring a file of an older schema to this one, after a backup", migrate);
    add_json_option(*upgrade, upgrade_options->json);
}

}  // namespace etalon::cli
