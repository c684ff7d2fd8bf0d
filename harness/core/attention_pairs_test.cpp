#include "harness/core/attention_pairs.h"

#include <gtest/gtest.h>

#include <set>

namespace etalon {
namespace {

TEST(AttentionSpan, AgreesWithCounting) {
    for (const std::int64_t queries : {0, 1, 2, 5, 9}) {
        for (const std::int64_t keys : {0, 1, 3, 5, 9, 14}) {
            for (const std::int64_t window : {-1, 0, 1, 2, 4, 9, 20}) {  // −1: not causal
                const AttentionSpan span{queries, keys, window >= 0,
                                         std::max<std::int64_t>(0, window)};
                std::int64_t pairs = 0;
                std::set<std::int64_t> read;
                for (std::int64_t i = 0; i < queries; ++i) {
                    std::int64_t seen = 0;
                    for (std::int64_t j = 0; j < keys; ++j) {
                        const std::int64_t behind = keys - queries + i - j;
                        if (window >= 0 && behind < 0) continue;
                        if (window > 0 && behind >= window) continue;
                        ++seen;
                        read.insert(j);
                    }
                    EXPECT_EQ(span.seen_by(i), seen) << queries << ' ' << keys << ' ' << window;
                    pairs += seen;
                }
                EXPECT_EQ(span.pairs(), static_cast<double>(pairs))
                    << queries << ' ' << keys << ' ' << window;
                EXPECT_EQ(span.read(), static_cast<std::int64_t>(queries > 0 ? read.size() : 0))
                    << queries << ' ' << keys << ' ' << window;
            }
        }
    }
}

}  // namespace
}  // namespace etalon
