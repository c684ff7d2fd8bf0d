// The references: double, one element after another.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/attention/attention_place.h"
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

void attention_reference(const AttentionArgs& args, double* out) {
    const Type type = args.type == AttentionType::fp32 ? Type::fp32 : Type::bf16;
    std::vector<double> weights;
    for (std::int64_t b = 0; b < args.batch; ++b) {
        const AttentionSequence of(args, b);
        const std::int64_t first =
            of.first_query + (args.query_starts != nullptr ? 0 : b * args.queries);
        for (std::int64_t head = 0; head < args.heads; ++head) {
            const std::int64_t kv_head = head / (args.heads / args.kv_heads);
            for (int i = 0; i < of.queries; ++i) {
                const int low = of.low(args, i), high = std::max(low, of.high(args, i));
                weights.assign(static_cast<std::size_t>(high - low), 0);
                double most = -std::numeric_limits<double>::infinity(), total = 0;
                const std::int64_t q = query_offset(args, args.q_at, of, b, head, i);
                for (int j = low; j < high; ++j) {
                    const std::int64_t k = key_offset(args, args.k_at, of, b, kv_head, j);
                    double dot = 0;
                    for (std::int64_t c = 0; c < args.head_dim; ++c) {
                        dot += element(type, args.q, q + c) * element(type, args.k, k + c);
                    }
                    double& weight = weights[static_cast<std::size_t>(j - low)];
                    weight = dot * static_cast<double>(args.scale);
                    most = std::max(most, weight);
                }
                double* const to = out + ((first + i) * args.heads + head) * args.value_dim;
                std::fill(to, to + args.value_dim, 0.0);
                for (int j = low; j < high; ++j) {
                    const double weight =
                        std::exp(weights[static_cast<std::size_t>(j - low)] - most);
                    total += weight;
                    const std::int64_t v = key_offset(args, args.v_at, of, b, kv_head, j);
                    for (std::int64_t c = 0; c < args.value_dim; ++c) {
                        to[c] += weight * element(type, args.v, v + c);
                    }
                }
                for (std::int64_t c = 0; c < args.value_dim && total > 0; ++c) to[c] /= total;
            }
        }
    }
}

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
