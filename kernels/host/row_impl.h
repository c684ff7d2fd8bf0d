// softmax, RMSNorm and LayerNorm: a row stays in the first cache levels between its passes.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/host/host_kernels.h"
#include "kernels/host/vector.h"

namespace {

namespace host = etalon::kernels::host;

template <typename T>
const T* row_of(const void* data, std::int64_t row, std::int64_t ld) {
    return static_cast<const T*>(data) + row * ld;
}
template <typename T>
T* row_of(void* data, std::int64_t row, std::int64_t ld) {
    return static_cast<T*>(data) + row * ld;
}

template <typename T>
void softmax_row(const T* x, T* y, std::int64_t cols) {
    const std::int64_t whole = cols / width * width;
    const float lowest = -std::numeric_limits<float>::infinity();
    Floats most = splat(lowest);
    for (std::int64_t c = 0; c < whole; c += width) most = max(load(x + c), most);
    float largest = max_of(most);
    for (std::int64_t c = whole; c < cols; ++c) {
        largest = widen(x[c]) > largest ? widen(x[c]) : largest;
    }
    // Two chains, so that the additions do not wait for one another.
    Floats sum0{}, sum1{};
    std::int64_t c = 0;
    for (; c + 2 * width <= whole; c += 2 * width) {
        sum0 += exp_of_nonpositive(load(x + c) - largest);
        sum1 += exp_of_nonpositive(load(x + c + width) - largest);
    }
    for (; c < whole; c += width) sum0 += exp_of_nonpositive(load(x + c) - largest);
    float sum = sum_of(sum0 + sum1);
    for (c = whole; c < cols; ++c) sum += exp_of_nonpositive(splat(widen(x[c]) - largest))[0];
    const float scale = 1 / sum;
    for (c = 0; c < whole; c += width) {
        store(y + c, exp_of_nonpositive(load(x + c) - largest) * scale);
    }
    for (c = whole; c < cols; ++c) {
        narrow(y + c, exp_of_nonpositive(splat(widen(x[c]) - largest))[0] * scale);
    }
}

template <typename T>
float sum_of_squares(const T* x, std::int64_t cols, float mean) {
    const std::int64_t whole = cols / width * width;
    Floats sum0{}, sum1{};
    std::int64_t c = 0;
    for (; c + 2 * width <= whole; c += 2 * width) {
        const Floats a = load(x + c) - mean, b = load(x + c + width) - mean;
        sum0 += a * a;
        sum1 += b * b;
    }
    for (; c < whole; c += width) {
        const Floats a = load(x + c) - mean;
        sum0 += a * a;
    }
    float sum = sum_of(sum0 + sum1);
    for (; c < cols; ++c) sum += (widen(x[c]) - mean) * (widen(x[c]) - mean);
    return sum;
}

template <typename T>
float mean_of(const T* x, std::int64_t cols) {
    const std::int64_t whole = cols / width * width;
    Floats sum0{}, sum1{};
    std::int64_t c = 0;
    for (; c + 2 * width <= whole; c += 2 * width) {
        sum0 += load(x + c);
        sum1 += load(x + c + width);
    }
    for (; c < whole; c += width) sum0 += load(x + c);
    float sum = sum_of(sum0 + sum1);
    for (; c < cols; ++c) sum += widen(x[c]);
    return sum / static_cast<float>(cols);
}

// y = (x − mean) · scale · w (+ b)
template <typename T>
void apply_norm(const T* x, const T* w, const T* b, T* y, std::int64_t cols, float mean,
                float scale) {
    const std::int64_t whole = cols / width * width;
    for (std::int64_t c = 0; c < whole; c += width) {
        Floats value = (load(x + c) - mean) * scale * load(w + c);
        if (b != nullptr) value += load(b + c);
        store(y + c, value);
    }
    for (std::int64_t c = whole; c < cols; ++c) {
        float value = (widen(x[c]) - mean) * scale * widen(w[c]);
        if (b != nullptr) value += widen(b[c]);
        narrow(y + c, value);
    }
}

template <typename T>
void softmax_rows(const host::SoftmaxArgs& args) {
    for (std::int64_t r = 0; r < args.rows; ++r) {
        softmax_row(row_of<T>(args.x, r, args.ldx), row_of<T>(args.y, r, args.ldy), args.cols);
    }
}

template <typename T>
void norm_rows(const host::NormArgs& args, bool centred) {
    const auto* weight = static_cast<const T*>(args.weight);
    const auto* bias = centred ? static_cast<const T*>(args.bias) : nullptr;
    for (std::int64_t r = 0; r < args.rows; ++r) {
        const T* x = row_of<T>(args.x, r, args.ldx);
        const float mean = centred ? mean_of(x, args.cols) : 0;
        const float variance = sum_of_squares(x, args.cols, mean) / static_cast<float>(args.cols);
        apply_norm(x, weight, bias, row_of<T>(args.y, r, args.ldy), args.cols, mean,
                   1 / std::sqrt(variance + args.epsilon));
    }
}

void softmax_any(const host::SoftmaxArgs& args) {
    if (args.type == host::Type::fp32) {
        softmax_rows<float>(args);
    } else {
        softmax_rows<std::uint16_t>(args);
    }
}
void rmsnorm_any(const host::NormArgs& args) {
    if (args.type == host::Type::fp32) {
        norm_rows<float>(args, false);
    } else {
        norm_rows<std::uint16_t>(args, false);
    }
}
void layernorm_any(const host::NormArgs& args) {
    if (args.type == host::Type::fp32) {
        norm_rows<float>(args, true);
    } else {
        norm_rows<std::uint16_t>(args, true);
    }
}

}  // namespace
