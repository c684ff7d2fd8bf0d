#include "harness/cli/compare_options.h"

#include "harness/cli/command.h"

namespace etalon::cli {

void CompareFlags::add_to(CLI::App& command) {
    command
        .add_option("--min-effect", least_effect_percent,
                    "Changes under this are none; never under the timer's resolution")
        ->check(number_between(0.0, 100.0))
        ->type_name("PCT")
        ->capture_default_str();
    command
        .add_option("--fdr", fdr,
                    "Share of false ones among the cases called slower or faster (Benjamini and "
                    "Hochberg)")
        ->check(number_between(1e-9, 0.5))
        ->type_name("Q")
        ->capture_default_str();
}

gate::CompareOptions CompareFlags::values() const {
    gate::CompareOptions options;
    options.least_effect = least_effect_percent / 100;
    options.fdr = fdr;
    return options;
}

}  // namespace etalon::cli
