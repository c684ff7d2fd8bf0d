#include "harness/gate/suspects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etalon::gate {
namespace {

using testing::ElementsAre;

Change of(double effect, double half_width, double p = 0.5, double sigma = 0.003) {
    Change change;
    change.ratio = Estimate{1 + effect, 1 + effect - half_width, 1 + effect + half_width};
    change.p = p;
    change.run_sigma = sigma;
    change.reference_runs = 20;
    change.candidate_runs = 4;
    return change;
}

TEST(Suspects, AreCasesInWhichTheSlowdownIsNotExcluded) {
    Comparison first_look;
    first_look.changes = {
        of(0.000, 0.006),   // quiet: a slowdown of 1 % is excluded
        of(0.006, 0.006),   // may be 1 % slower
        of(-0.020, 0.006),  // faster
        of(-0.005, 0.020),  // too noisy to exclude anything
        of(0.030, 0.006),   // plainly slower
        Change{},           // not compared
    };
    EXPECT_THAT(suspects(first_look), ElementsAre(1u, 3u, 4u));
    EXPECT_THAT(suspects(first_look, {.slowdown = 0.025}), ElementsAre(4u));
}

TEST(SlowerFdr, IsOneSidedAndNotBlindedByNoisyCases) {
    std::vector<Change> second_look = {of(0.01, 0.003, 1e-4), of(-0.01, 0.003, 1e-4)};
    for (int i = 0; i < 500; ++i) second_look.push_back(of(0.001, 0.03, 0.9, 0.015));
    const std::vector<double> rates = slower_fdr(second_look);
    EXPECT_NEAR(rates[0], 2 * 1e-4 / 2, 1e-9);  // two quiet cases, half of p
    EXPECT_GT(rates[1], 0.99);
    EXPECT_GT(rates[2], 0.4);
    EXPECT_EQ(slower_fdr({Change{}}).at(0), 1);
}

}  // namespace
}  // namespace etalon::gate
