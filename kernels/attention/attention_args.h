// The arguments of attention, for the GPU's kernels and the CPU's alike. No CUDA header needed.
//
//   out[i, :] = softmax over the visible j of (scale · q[i, :]·k[j, :]) · v[j, :]
//
// for every query head of every sequence; heads / kv_heads query heads share a key and value head.
// A query that sees no key gives zeros.
#pragma once

#include <cstdint>

namespace etalon::kernels {

enum class AttentionType { fp32, bf16, fp16, fp8 };  // fp8 is e4m3

// In elements; `head_dim` elements of one head follow each other.
struct AttentionStrides {
    std::int64_t batch = 0;  // from sequence to sequence; keys and values in pages: page to page
    std::int64_t token = 0;
    std::int64_t head = 0;
};

struct AttentionArgs {
    AttentionType type = AttentionType::bf16;        // of keys and values
    AttentionType query_type = AttentionType::bf16;  // and of the output; fp8 queries give bf16
    const void* q = nullptr;
    const void* k = nullptr;
    const void* v = nullptr;
    void* out = nullptr;
    std::int64_t batch = 0, heads = 0, kv_heads = 0;
    std::int64_t head_dim = 0;   // of queries and keys
    std::int64_t value_dim = 0;  // of values and output
    std::int64_t queries = 0;    // of the longest sequence
    std::int64_t keys = 0;       // of the longest sequence
    AttentionStrides q_at, k_at, v_at, out_at;
    float scale = 1;
    // The last query of a sequence stands at its last key. Causal: nothing after itself; with a
    // window of w > 0, the last w keys up to itself alone.
    bool causal = false;
    std::int64_t window = 0;

    // Sequences of different length, int32 on the device. Packed: sequence b has the queries from
    // query_starts[b] to query_starts[b + 1], and so for keys; strides' `batch` is then not used.
    const int* query_starts = nullptr;
    const int* key_starts = nullptr;
    std::int64_t query_tokens = 0;  // of all packed sequences
    std::int64_t key_tokens = 0;
    // Or not packed: key_lengths[b] of `keys`.
    const int* key_lengths = nullptr;

    // A paged cache: keys j·page to j·page + page − 1 of sequence b are page
    // pages[b · pages_per_sequence + j] of k and v.
    const int* pages = nullptr;
    std::int64_t page = 0;
    std::int64_t pages_per_sequence = 0;

    // What stored fp8 values are multiplied by, one for each KV head; null: 1.
    const float* q_scale = nullptr;
    const float* k_scale = nullptr;
    const float* v_scale = nullptr;
};

// Null when the numbers fit together, else why not. Looks at no memory.
[[nodiscard]] constexpr const char* attention_invalid(const AttentionArgs& args) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    if (args.batch < 0 || args.queries < 0 || args.keys < 0) {
        return "attention: batch, queries and keys must not be negative";
    }
    if (args.batch > 65535 || args.heads > 65535 || args.queries > most || args.keys > most) {
        return "attention: at most 65535 sequences and heads and 2^30 tokens";
    }
    if (args.heads < 1 || args.kv_heads < 1 || args.heads % args.kv_heads != 0) {
        return "attention: heads must be a multiple of kv_heads";
    }
    if (args.head_dim < 1 || args.value_dim < 1) {
        return "attention: head_dim and value_dim must be at least 1";
    }
    if (args.window < 0 || (args.window > 0 && !args.causal)) {
        return "attention: a window goes with causal attention and is not negative";
    }
    if (args.pages != nullptr &&
        (args.page < 1 || args.pages_per_sequence * args.page < args.keys)) {
        return "attention: the page table holds fewer keys than there are";
    }
    if ((args.query_starts != nullptr && args.query_tokens < args.queries) ||
        (args.key_starts != nullptr && args.key_tokens < args.keys)) {
        return "attention: of packed sequences, query_tokens and key_tokens say how many there are";
    }
    if (args.pages != nullptr && args.key_starts != nullptr) {
        return "attention: a paged cache has key_lengths, not key_starts";
    }
    return nullptr;
}

}  // namespace etalon::kernels
