// A case of attention in numbers: sizes, lengths of the sequences, order of the pages. Op,
// reference and every provider take them from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/op.h"
#include "harness/core/attention_pairs.h"
#include "kernels/attention/attention_args.h"

namespace etalon {

struct AttentionProblem {
    bool decode = false;
    Precision precision = Precision::bf16;
    std::int64_t batch = 0, heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0;
    std::int64_t queries = 0, keys = 0;  // of the longest sequence
    bool causal = false;
    std::int64_t window = 0;
    std::int64_t page = 0;  // 0: each sequence's cache is in one piece
    bool ragged = false;
    std::vector<AttentionSpan> sequences;  // `batch` of them

    bool operator==(const AttentionProblem& other) const {
        return decode == other.decode && precision == other.precision && batch == other.batch &&
               heads == other.heads && kv_heads == other.kv_heads && head_dim == other.head_dim &&
               value_dim == other.value_dim && queries == other.queries && keys == other.keys &&
               causal == other.causal && window == other.window && page == other.page &&
               ragged == other.ragged;
    }
    [[nodiscard]] std::int64_t pages_per_sequence() const {
        return page == 0 ? 0 : (keys + page - 1) / page;
    }
    // Queries come in the precision of the case, save to a cache in fp8: there they are bf16.
    [[nodiscard]] DType query_dtype() const {
        return decode ? output_dtype(precision) : input_dtype(precision);
    }
    [[nodiscard]] std::int64_t query_tokens() const;  // of all sequences
    [[nodiscard]] std::int64_t key_tokens() const;    // rows of k and v, per KV head
};

[[nodiscard]] AttentionProblem attention_problem(const Problem& problem);

// Why the axes do not fit together; no provider takes such a case.
[[nodiscard]] std::optional<std::string> attention_misfit(const Problem& problem);

// Pages of all sequences, in an order that looks random and is the same everywhere: entry
// b · pages_per_sequence + j.
[[nodiscard]] std::vector<std::int32_t> page_table(const AttentionProblem& problem);
// 0 and the running sums of the sequences' queries, or keys.
[[nodiscard]] std::vector<std::int32_t> query_starts(const AttentionProblem& problem);
[[nodiscard]] std::vector<std::int32_t> key_starts(const AttentionProblem& problem);
[[nodiscard]] std::vector<std::int32_t> key_lengths(const AttentionProblem& problem);

// What every launch needs beside the tensors: lengths and page table, on the device.
class AttentionTables {
   public:
    AttentionTables(const AttentionProblem& problem, Device& device);
    // Arguments for the tensors of a set, in the op's order.
    [[nodiscard]] kernels::AttentionArgs arguments(const BufferSet& set) const;
    [[nodiscard]] const AttentionProblem& problem() const { return problem_; }
    [[nodiscard]] void* key_lengths() const { return key_lengths_.data(); }
    [[nodiscard]] void* pages() const { return pages_.data(); }

   private:
    AttentionProblem problem_;
    Buffer query_starts_, key_starts_, key_lengths_, pages_;
};

}  // namespace etalon
