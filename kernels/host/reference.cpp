// The references: double, one element after another.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/host/host_kernels.h"

namespace etalon::kernels::host {
namespace {

double element(Type type, const void* data, std::int64_t at) {
    if (type == Type::fp32) return static_cast<double>(static_cast<const float*>(data)[at]);
    const std::uint32_t bits =
        static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(data)[at]) << 16U;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return static_cast<double>(value);
}

void norm_reference(const NormArgs& args, double* y, bool centred) {
    const auto cols = static_cast<double>(args.cols);
    for (std::int64_t r = 0; r < args.rows; ++r) {
        double mean = 0, squares = 0;
        for (std::int64_t c = 0; centred && c < args.cols; ++c) {
            mean += element(args.type, args.x, r * args.ldx + c) / cols;
        }
        for (std::int64_t c = 0; c < args.cols; ++c) {
            const double x = element(args.type, args.x, r * args.ldx + c) - mean;
            squares += x * x;
        }
        const double scale = 1 / std::sqrt(squares / cols + static_cast<double>(args.epsilon));
        for (std::int64_t c = 0; c < args.cols; ++c) {
            const double x = element(args.type, args.x, r * args.ldx + c) - mean;
            y[r * args.cols + c] = x * scale * element(args.type, args.weight, c) +
                                   (centred ? element(args.type, args.bias, c) : 0);
        }
    }
}

}  // namespace

void gemm_reference(const GemmArgs& args, double* c) {
    for (std::int64_t i = 0; i < args.m; ++i) {
        for (std::int64_t j = 0; j < args.n; ++j) {
            double sum = 0;
            if (args.type == Type::fp32) {  // the compiler vectorises over four partial sums
                const float* a = static_cast<const float*>(args.a) + i * args.lda;
                const float* b = static_cast<const float*>(args.b) + j * args.ldb;
                double parts[4] = {};
                std::int64_t p = 0;
                for (; p + 4 <= args.k; p += 4) {
                    for (int l = 0; l < 4; ++l) {
                        parts[l] += static_cast<double>(a[p + l]) * static_cast<double>(b[p + l]);
                    }
                }
                for (; p < args.k; ++p) {
                    sum += static_cast<double>(a[p]) * static_cast<double>(b[p]);
                }
                sum += (parts[0] + parts[1]) + (parts[2] + parts[3]);
            } else {
                for (std::int64_t p = 0; p < args.k; ++p) {
                    sum += element(args.type, args.a, i * args.lda + p) *
                           element(args.type, args.b, j * args.ldb + p);
                }
            }
            c[i * args.n + j] = sum;
        }
    }
}

void softmax_reference(const SoftmaxArgs& args, double* y) {
    for (std::int64_t r = 0; r < args.rows; ++r) {
        double largest = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::int64_t c = 0; c < args.cols; ++c) {
            largest = std::max(largest, element(args.type, args.x, r * args.ldx + c));
        }
        for (std::int64_t c = 0; c < args.cols; ++c) {
            y[r * args.cols + c] = std::exp(element(args.type, args.x, r * args.ldx + c) - largest);
            sum += y[r * args.cols + c];
        }
        for (std::int64_t c = 0; c < args.cols; ++c) y[r * args.cols + c] /= sum;
    }
}

void rmsnorm_reference(const NormArgs& args, double* y) {
    norm_reference(args, y, false);
}
void layernorm_reference(const NormArgs& args, double* y) {
    norm_reference(args, y, true);
}

}  // namespace etalon::kernels::host
