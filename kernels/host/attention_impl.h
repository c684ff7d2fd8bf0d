// Attention: the queries of a head that share keys one after another, the keys in tiles that stay
// in the first cache level, online softmax.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/attention/attention_place.h"
#include "kernels/host/vector.h"

namespace {

namespace shared = etalon::kernels;

constexpr int attention_tile = 64;  // keys

template <typename T>
float dot(const T* a, const T* b, std::int64_t n) {
    Floats sum0{}, sum1{};
    std::int64_t i = 0;
    for (; i + 2 * width <= n; i += 2 * width) {
        sum0 += load(a + i) * load(b + i);
        sum1 += load(a + i + width) * load(b + i + width);
    }
    float sum = sum_of(sum0 + sum1);
    for (; i < n; ++i) sum += widen(a[i]) * widen(b[i]);
    return sum;
}

// to = to · keep + weight · from
template <typename T>
void add_weighted(float* to, const T* from, float weight, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + width <= n; i += width) store(to + i, load(to + i) + load(from + i) * weight);
    for (; i < n; ++i) to[i] += widen(from[i]) * weight;
}

template <typename T>
void attention_of_query(const shared::AttentionArgs& args, const shared::AttentionSequence& of,
                        std::int64_t b, std::int64_t head, int i, float* sums) {
    const auto *q = static_cast<const T*>(args.q), *k = static_cast<const T*>(args.k),
               *v = static_cast<const T*>(args.v);
    const std::int64_t kv_head = head / (args.heads / args.kv_heads);
    const T* const query = q + shared::query_offset(args, args.q_at, of, b, head, i);
    const float lowest = -std::numeric_limits<float>::infinity();
    float most = lowest, total = 0;
    for (std::int64_t c = 0; c < args.value_dim; ++c) sums[c] = 0;
    alignas(64) float weights[attention_tile];
    const int high = of.high(args, i);
    for (int first = of.low(args, i); first < high; first += attention_tile) {
        const int count = high - first < attention_tile ? high - first : attention_tile;
        float largest = most;
        for (int j = 0; j < count; ++j) {
            const std::int64_t at = shared::key_offset(args, args.k_at, of, b, kv_head, first + j);
            weights[j] = args.scale * dot(query, k + at, args.head_dim);
            largest = weights[j] > largest ? weights[j] : largest;
        }
        if (largest == lowest) continue;  // nothing seen yet
        for (int j = count; j < attention_tile; ++j) weights[j] = lowest;
        Floats sum{};
        for (int j = 0; j < attention_tile; j += width) {
            const Floats weight = exp_of_nonpositive(load(weights + j) - largest);
            sum += weight;
            store(weights + j, weight);
        }
        const float keep = exp_of_nonpositive(splat(most - largest))[0];
        total = total * keep + sum_of(sum);
        most = largest;
        for (std::int64_t c = 0; c < args.value_dim; ++c) sums[c] *= keep;
        for (int j = 0; j < count; ++j) {
            const std::int64_t at = shared::key_offset(args, args.v_at, of, b, kv_head, first + j);
            add_weighted(sums, v + at, weights[j], args.value_dim);
        }
    }
    T* const out =
        static_cast<T*>(args.out) + shared::query_offset(args, args.out_at, of, b, head, i);
    const float inverse = total == 0 ? 0 : 1 / total;
    for (std::int64_t c = 0; c < args.value_dim; ++c) narrow(out + c, sums[c] * inverse);
}

template <typename T>
void attention_of(const shared::AttentionArgs& args) {
    std::vector<float> sums(static_cast<std::size_t>(args.value_dim));
    for (std::int64_t b = 0; b < args.batch; ++b) {
        const shared::AttentionSequence of(args, b);
        for (std::int64_t head = 0; head < args.heads; ++head) {
            for (int i = 0; i < of.queries; ++i) {
                attention_of_query<T>(args, of, b, head, i, sums.data());
            }
        }
    }
}

void attention_any(const shared::AttentionArgs& args) {
    if (args.type == shared::AttentionType::fp32) {
        attention_of<float>(args);
    } else {
        attention_of<std::uint16_t>(args);
    }
}

}  // namespace
