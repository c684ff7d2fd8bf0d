// Every op, type and instruction set that this CPU has, against the reference, at sizes that divide
// nothing.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "kernels/host/instruction_sets.h"

namespace etalon::kernels::host {
namespace {

std::uint16_t to_bf16(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}
float from_bf16(std::uint16_t half) {
    const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16U;
    float value = 0;
    std::memcpy(&value, &bits, 4);
    return value;
}

constexpr std::uint8_t canary = 0xA5;

// rows × cols with ld, offset by `shift` elements so that rows are unaligned; the rest is canary.
class Matrix {
   public:
    Matrix(Type type, std::int64_t rows, std::int64_t cols, std::int64_t pad)
        : type_(type), rows_(rows), cols_(cols), ld_(cols + pad) {
        bytes_.assign(static_cast<std::size_t>(rows * ld_ + 1) * width(), canary);
    }
    void fill(unsigned seed, double mean = 0) {
        std::mt19937 engine(seed);
        std::normal_distribution<float> normal(static_cast<float>(mean), 1);
        for (std::int64_t r = 0; r < rows_; ++r) {
            for (std::int64_t c = 0; c < cols_; ++c) set(r, c, normal(engine));
        }
    }
    void set(std::int64_t r, std::int64_t c, float value) {
        if (type_ == Type::fp32) {
            std::memcpy(at(r, c), &value, 4);
        } else {
            const std::uint16_t half = to_bf16(value);
            std::memcpy(at(r, c), &half, 2);
        }
    }
    double get(std::int64_t r, std::int64_t c) const {
        if (type_ == Type::fp32) {
            float value = 0;
            std::memcpy(&value, at(r, c), 4);
            return static_cast<double>(value);
        }
        std::uint16_t half = 0;
        std::memcpy(&half, at(r, c), 2);
        return static_cast<double>(from_bf16(half));
    }
    void* data() { return bytes_.data(); }
    std::int64_t ld() const { return ld_; }
    std::int64_t padding_written() const {
        std::int64_t written = 0;
        for (std::int64_t r = 0; r < rows_; ++r) {
            for (std::int64_t c = cols_; c < ld_; ++c) {
                const std::uint8_t* p = at(r, c);
                written += std::any_of(p, p + width(), [](std::uint8_t b) { return b != canary; });
            }
        }
        const std::uint8_t* end = bytes_.data() + static_cast<std::size_t>(rows_ * ld_) * width();
        written += std::any_of(end, end + width(), [](std::uint8_t b) { return b != canary; });
        return written;
    }

   private:
    std::size_t width() const { return type_ == Type::fp32 ? 4 : 2; }
    std::uint8_t* at(std::int64_t r, std::int64_t c) {
        return bytes_.data() + static_cast<std::size_t>(r * ld_ + c) * width();
    }
    const std::uint8_t* at(std::int64_t r, std::int64_t c) const {
        return bytes_.data() + static_cast<std::size_t>(r * ld_ + c) * width();
    }
    Type type_;
    std::int64_t rows_, cols_, ld_;
    std::vector<std::uint8_t> bytes_;
};

// Relative to the rms of the reference.
double worst_error(const Matrix& out, const std::vector<double>& ref, std::int64_t rows,
                   std::int64_t cols) {
    double squares = 0, worst = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const double want = ref[static_cast<std::size_t>(r * cols + c)];
            squares += want * want;
            const double difference = std::fabs(out.get(r, c) - want);
            worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
        }
    }
    return worst / std::sqrt(squares / static_cast<double>(rows * cols));
}

double allowed(Type type, std::int64_t k) {
    const double rounding = type == Type::fp32 ? 0x1p-24 : 0x1p-8;
    return 8 * (rounding + 2 * std::sqrt(static_cast<double>(k)) * 0x1p-24);
}

class HostKernels : public ::testing::TestWithParam<std::tuple<int, Type>> {
   protected:
    const Implementation& best_ = implementation(std::get<0>(GetParam()));
    Type type_ = std::get<1>(GetParam());
    void SetUp() override {
        if (!best_.available()) GTEST_SKIP() << "this CPU does not have " << best_.name;
    }
};

TEST_P(HostKernels, Gemm) {
    const std::int64_t sizes[][4] = {{1, 1, 1, 0},     {1, 129, 257, 0},  {3, 17, 1000, 5},
                                     {4, 5, 7, 1},     {5, 33, 31, 3},    {65, 129, 33, 3},
                                     {13, 31, 769, 0}, {150, 70, 900, 7}, {7, 2100, 40, 0}};
    unsigned seed = 1;
    for (const auto& [m, n, k, pad] : sizes) {
        Matrix a(type_, m, k, pad), b(type_, n, k, pad), c(type_, m, n, pad);
        a.fill(seed++);
        b.fill(seed++);
        const GemmArgs args{type_, a.data(), b.data(), c.data(), m, n, k, a.ld(), b.ld(), c.ld()};
        std::vector<double> ref(static_cast<std::size_t>(m * n));
        gemm_reference(args, ref.data());
        best_.gemm(args);
        EXPECT_LE(worst_error(c, ref, m, n), allowed(type_, k)) << m << ' ' << n << ' ' << k;
        EXPECT_EQ(c.padding_written(), 0) << m << ' ' << n << ' ' << k;
    }
}

TEST_P(HostKernels, Rows) {
    for (const std::int64_t cols : {1, 3, 15, 16, 17, 33, 127, 1001}) {
        const std::int64_t rows = 5, pad = cols % 2 == 0 ? 0 : 3;
        Matrix x(type_, rows, cols, pad), w(type_, 1, cols, 0), b(type_, 1, cols, 0);
        x.fill(static_cast<unsigned>(cols), 0.5);
        w.fill(77, 1);
        b.fill(78);
        std::vector<double> ref(static_cast<std::size_t>(rows * cols));
        Matrix y(type_, rows, cols, pad);

        const SoftmaxArgs softmax_args{type_, x.data(), y.data(), rows, cols, x.ld(), y.ld()};
        softmax_reference(softmax_args, ref.data());
        best_.softmax(softmax_args);
        EXPECT_LE(worst_error(y, ref, rows, cols), 20 * allowed(type_, 64)) << "softmax " << cols;
        EXPECT_EQ(y.padding_written(), 0);

        const NormArgs args{type_, x.data(), w.data(), b.data(), y.data(),
                            rows,  cols,     x.ld(),   y.ld()};
        rmsnorm_reference(args, ref.data());
        best_.rmsnorm(args);
        EXPECT_LE(worst_error(y, ref, rows, cols), 2 * allowed(type_, 64)) << "rmsnorm " << cols;
        layernorm_reference(args, ref.data());
        best_.layernorm(args);
        EXPECT_LE(worst_error(y, ref, rows, cols), 2 * allowed(type_, 64)) << "layernorm " << cols;
        EXPECT_EQ(y.padding_written(), 0);
    }
}

// Packed sequences of unlike length, one of them with more queries than keys, a window, and a paged
// cache, with heads that share keys.
TEST_P(HostKernels, Attention) {
    for (const std::int64_t dim : {1, 8, 24, 64, 100}) {
        for (const int window : {-1, 0, 7}) {  // −1: not causal
            const std::int64_t heads = 6, kv_heads = 2, queries = 90, keys = 170;
            const std::vector<int> query_starts = {0, 3, 3, 80, 90},
                                   key_starts = {0, 70, 75, 165, 170};
            Matrix q(type_, queries, heads * dim, 0), out(type_, queries, heads * dim, 0);
            Matrix k(type_, keys, kv_heads * dim, 0), v(type_, keys, kv_heads * dim, 0);
            q.fill(5);
            k.fill(6);
            v.fill(7);
            AttentionArgs args;
            args.type = args.query_type =
                type_ == Type::fp32 ? AttentionType::fp32 : AttentionType::bf16;
            args.q = q.data();
            args.k = k.data();
            args.v = v.data();
            args.out = out.data();
            args.batch = 4;
            args.heads = heads;
            args.kv_heads = kv_heads;
            args.head_dim = args.value_dim = dim;
            args.queries = 77;
            args.keys = 90;
            args.q_at = args.out_at = {0, heads * dim, dim};
            args.k_at = args.v_at = {0, kv_heads * dim, dim};
            args.scale = 0.3F;
            args.causal = window >= 0;
            args.window = std::max(0, window);
            args.query_starts = query_starts.data();
            args.key_starts = key_starts.data();
            args.query_tokens = queries;
            args.key_tokens = keys;
            ASSERT_EQ(attention_invalid(args), nullptr);
            std::vector<double> ref(static_cast<std::size_t>(queries * heads * dim));
            attention_reference(args, ref.data());
            best_.attention(args);
            EXPECT_LE(worst_error(out, ref, queries, heads * dim), 20 * allowed(type_, 64))
                << dim << ' ' << window;
            if (window >= 0) {
                EXPECT_EQ(out.get(80, 0), 0);  // 10 queries, 5 keys: the first see nothing
            }

            // The same keys as pages of 5 in another order give the same bits.
            Matrix paged_out(type_, 1, heads * dim, 0), whole_out(type_, 1, heads * dim, 0);
            std::vector<int> pages(34);
            for (int i = 0; i < 34; ++i) pages[static_cast<std::size_t>(i)] = i * 9 % 34;
            const int length = 163;
            args.query_starts = args.key_starts = nullptr;
            args.batch = args.queries = 1;
            args.keys = keys;
            args.key_lengths = &length;
            args.out = whole_out.data();
            best_.attention(args);
            Matrix k_pages(type_, keys, kv_heads * dim, 0), v_pages(type_, keys, kv_heads * dim, 0);
            for (std::int64_t r = 0; r < keys; ++r) {
                const std::int64_t to = pages[static_cast<std::size_t>(r / 5)] * 5 + r % 5;
                for (std::int64_t c = 0; c < kv_heads * dim; ++c) {
                    k_pages.set(to, c, static_cast<float>(k.get(r, c)));
                    v_pages.set(to, c, static_cast<float>(v.get(r, c)));
                }
            }
            args.k = k_pages.data();
            args.v = v_pages.data();
            args.k_at.batch = args.v_at.batch = 5 * kv_heads * dim;
            args.pages = pages.data();
            args.page = 5;
            args.pages_per_sequence = 34;
            args.out = paged_out.data();
            best_.attention(args);
            for (std::int64_t c = 0; c < heads * dim; ++c) {
                EXPECT_EQ(paged_out.get(0, c), whole_out.get(0, c));
            }
        }
    }
}

TEST_P(HostKernels, SoftmaxOfExtremes) {
    const std::int64_t cols = 37;
    Matrix x(type_, 3, cols, 0), y(type_, 3, cols, 0);
    const float infinity = std::numeric_limits<float>::infinity();
    for (std::int64_t c = 0; c < cols; ++c) {
        x.set(0, c, c == 5 ? 0 : -infinity);  // all the weight on one
        x.set(1, c, 1e30F);                   // equal and huge
        x.set(2, c, c % 2 == 0 ? 88.0F : -1e30F);
    }
    best_.softmax({type_, x.data(), y.data(), 3, cols, cols, cols});
    EXPECT_EQ(y.get(0, 5), 1);
    EXPECT_EQ(y.get(0, 4), 0);
    EXPECT_NEAR(y.get(1, 36), 1.0 / 37, 2e-4);
    EXPECT_NEAR(y.get(2, 0), 1.0 / 19, 4e-4);
    EXPECT_EQ(y.get(2, 1), 0);
}

INSTANTIATE_TEST_SUITE_P(All, HostKernels,
                         ::testing::Combine(::testing::Range(0, implementation_count),
                                            ::testing::Values(Type::fp32, Type::bf16)));

TEST(HostCopy, AnyLengthAndAlignment) {
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{1000003}, (std::size_t{8} << 20) + 77}) {
        for (const std::size_t shift : {0U, 1U, 13U}) {
            std::vector<std::uint8_t> from(bytes + 16), to(bytes + 32, canary);
            for (std::size_t i = 0; i < from.size(); ++i) {
                from[i] = static_cast<std::uint8_t>(i * 31 + i / 255);
            }
            copy(to.data() + shift, from.data() + 3, bytes);
            EXPECT_TRUE(std::equal(to.begin() + static_cast<std::ptrdiff_t>(shift),
                                   to.begin() + static_cast<std::ptrdiff_t>(shift + bytes),
                                   from.begin() + 3));
            EXPECT_EQ(to[shift + bytes], canary);
        }
    }
}

TEST(HostKernelNames, SayWhatRuns) {
    EXPECT_THAT(gemm_kernel_name(Type::fp32), ::testing::HasSubstr(instruction_set()));
}

}  // namespace
}  // namespace etalon::kernels::host
