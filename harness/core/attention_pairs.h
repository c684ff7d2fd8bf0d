// How many keys the queries of a sequence look at: what FLOP and bytes of attention follow from.
//
// Query i of `queries` stands at position keys − queries + i, so that the last query sees the last
// key ("bottom right"). Causal: keys up to its own position; with a window of w > 0, the last w of
// those. Not causal: all.
#pragma once

#include <algorithm>
#include <cstdint>

namespace etalon {

struct AttentionSpan {
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    bool causal = false;
    std::int64_t window = 0;  // 0: none; counts the query's own position; causal only

    // Keys that query i sees.
    [[nodiscard]] constexpr std::int64_t seen_by(std::int64_t i) const {
        if (!causal) return keys;
        const std::int64_t all = std::max<std::int64_t>(0, keys - queries + i + 1);
        return window > 0 ? std::min(all, window) : all;
    }
    // Pairs of query and key, over all queries.
    [[nodiscard]] constexpr double pairs() const {
        const auto real = [](std::int64_t n) { return static_cast<double>(n); };
        if (!causal) return real(queries) * real(keys);
        // The first query that sees a key, and the first that sees a whole window.
        const std::int64_t first = std::clamp<std::int64_t>(queries - keys, 0, queries);
        const std::int64_t whole =
            window > 0 ? std::clamp<std::int64_t>(queries - keys + window - 1, first, queries)
                       : queries;
        const double rising =
            real(whole - first) * (real(seen_before(first)) + real(seen_before(whole)) + 1) / 2;
        return rising + real(queries - whole) * real(window);
    }
    // Different keys that at least one query sees: what has to be read.
    [[nodiscard]] constexpr std::int64_t read() const {
        if (queries == 0) return 0;
        if (!causal || window == 0) return keys;
        return std::min(keys, queries + window - 1);
    }

   private:
    [[nodiscard]] constexpr std::int64_t seen_before(std::int64_t i) const {
        return std::max<std::int64_t>(0, keys - queries + i);
    }
};

}  // namespace etalon
