// Where the tokens of a sequence lie, from the arguments alone: the CPU's kernels and every GPU
// kernel ask here.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_args.h"

#ifdef __CUDACC__
#define ETALON_BOTH __host__ __device__
#else
#define ETALON_BOTH
#endif

namespace etalon::kernels {

// One sequence of the batch.
struct AttentionSequence {
    int queries = 0;
    int keys = 0;
    int first_query = 0;  // in tokens, of packed queries
    int first_key = 0;

    ETALON_BOTH AttentionSequence(const AttentionArgs& args, std::int64_t b)
        : queries(static_cast<int>(args.queries)), keys(static_cast<int>(args.keys)) {
        if (args.query_starts != nullptr) {
            first_query = args.query_starts[b];
            queries = args.query_starts[b + 1] - args.query_starts[b];
        }
        if (args.key_starts != nullptr) {
            first_key = args.key_starts[b];
            keys = args.key_starts[b + 1] - args.key_starts[b];
        } else if (args.key_lengths != nullptr) {
            keys = args.key_lengths[b];
        }
    }
    // Keys [low, high) are what query i may see.
    ETALON_BOTH int high(const AttentionArgs& args, int i) const {
        const int own = keys - queries + i + 1;
        return !args.causal || own > keys ? keys : own < 0 ? 0 : own;
    }
    ETALON_BOTH int low(const AttentionArgs& args, int i) const {
        const int first = keys - queries + i + 1 - static_cast<int>(args.window);
        return args.window == 0 || first < 0 ? 0 : first;
    }
};

// Element 0 of query or output token i.
ETALON_BOTH inline std::int64_t query_offset(const AttentionArgs& args, const AttentionStrides& at,
                                             const AttentionSequence& of, std::int64_t b,
                                             std::int64_t head, std::int64_t i) {
    return (args.query_starts != nullptr ? 0 : b * at.batch) +
           (std::int64_t{of.first_query} + i) * at.token + head * at.head;
}

// Element 0 of key or value j.
ETALON_BOTH inline std::int64_t key_offset(const AttentionArgs& args, const AttentionStrides& at,
                                           const AttentionSequence& of, std::int64_t b,
                                           std::int64_t kv_head, std::int64_t j) {
    if (args.pages != nullptr) {
        const std::int64_t id = args.pages[b * args.pages_per_sequence + j / args.page];
        return id * at.batch + j % args.page * at.token + kv_head * at.head;
    }
    return (args.key_starts != nullptr ? 0 : b * at.batch) +
           (std::int64_t{of.first_key} + j) * at.token + kv_head * at.head;
}

}  // namespace etalon::kernels

#undef ETALON_BOTH
