// served_check KERNELS.csv SERVED.csv [MODEL]: predicted against served TPOT, run by run, and the
// mean absolute error of each backend. MODEL is llama-3.1-70b unless given.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <set>

#include "harness/cost/data_files.h"
#include "harness/cost/served_check.h"

namespace {

void check(const std::string& kernels, const std::string& served, const std::string& model) {
    using namespace etalon::cost;
    const std::string cards = find_data_file("gpus.toml").string();
    for (const KernelSet& set : read_kernel_csv(kernels)) {
        const Card card = card_of(parse_cards(read_text(cards), cards), set);
        Lookup lookup(set, card);
        const auto errors =
            check_served(load_model(model), parse_served(read_text(served), served), lookup);
        std::set<std::string> backends;
        fmt::print("backend tp batch isl osl predicted_ms served_ms error_percent\n");
        for (const ServedError& each : errors) {
            const ServedRun& run = each.run;
            backends.insert(run.backend);
            fmt::print("{} {} {} {} {} {:.2f} {:.2f} {:+.1f}{}\n", run.backend, run.tp, run.batch,
                       run.isl, run.osl, each.predicted.tpot_ns.value / 1e6, run.tpot_ms,
                       100 * each.relative,
                       each.predicted.known() ? "" : " (operators missing, or no room)");
        }
        for (const std::string& backend : backends) {
            fmt::print("{}: mean absolute error of TPOT {:.2f} %\n", backend,
                       100 * mean_absolute(errors, backend));
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argc > 4) {
        fmt::print(stderr, "usage: served_check KERNELS.csv SERVED.csv [MODEL]\n");
        return 2;
    }
    try {
        check(argv[1], argv[2], argc == 4 ? argv[3] : "llama-3.1-70b");
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "served_check: {}\n", error.what());
        return 2;
    }
}
