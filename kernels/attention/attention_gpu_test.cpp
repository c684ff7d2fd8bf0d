// Every kernel of attention against the reference in double, and the reference against a sum
// written out on the CPU: odd lengths, sequences of length 0, rows that see nothing, large scores,
// pages in any order, every head_dim and type.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "kernels/attention/attention_place.h"
#include "kernels/attention/attention_plan.h"
#include "kernels/testing/gpu_test.h"

namespace etalon::kernels {
namespace {

using namespace testing;  // NOLINT: the helpers of kernels/testing

ElementType stored(AttentionType type) {
    switch (type) {
        case AttentionType::fp32:
            return ElementType::f32;
        case AttentionType::bf16:
            return ElementType::bf16;
        case AttentionType::fp16:
            return ElementType::f16;
        case AttentionType::fp8:
            return ElementType::e4m3;
    }
    return ElementType::f32;
}

class Ints {
   public:
    explicit Ints(const std::vector<int>& values)
        : memory_(std::max<std::size_t>(1, values.size()) * sizeof(int)) {
        check(cudaMemcpy(memory_.data(), values.data(), values.size() * sizeof(int),
                         cudaMemcpyHostToDevice));
    }
    [[nodiscard]] const int* data() const { return reinterpret_cast<const int*>(memory_.data()); }

   private:
    DeviceMemory memory_;
};

struct Shape {
    AttentionType type = AttentionType::bf16;
    int heads = 4, kv_heads = 2, dim = 128;
    std::vector<int> queries, keys;  // of each sequence
    bool causal = true;
    int window = 0;
    bool cache = false;  // [sequence][head][token], unlike queries from keys; else packed tokens
    int page = 0;
    double q_sigma = 1;
    [[nodiscard]] std::string text() const {
        std::string s = "type " + std::to_string(static_cast<int>(type)) + " heads " +
                        std::to_string(heads) + "/" + std::to_string(kv_heads) + " dim " +
                        std::to_string(dim) + (causal ? " causal" : "") + " window " +
                        std::to_string(window) + " page " + std::to_string(page) + " (q,k)";
        for (std::size_t b = 0; b < queries.size() && b < 8; ++b) {
            s += " " + std::to_string(queries[b]) + "," + std::to_string(keys[b]);
        }
        return s;
    }
};

std::vector<int> starts_of(const std::vector<int>& lengths) {
    std::vector<int> starts = {0};
    for (const int n : lengths) starts.push_back(starts.back() + n);
    return starts;
}

// The tensors of a shape. Of a cache, tokens past a sequence's length are NaN.
class Problem {
   public:
    Problem(const Shape& shape, std::mt19937_64& random)
        : shape_(shape),
          longest_(*std::max_element(shape.keys.begin(), shape.keys.end())),
          query_starts_(starts_of(shape.queries)),
          key_starts_(starts_of(shape.keys)),
          lengths_(shape.keys),
          pages_(pages(random)) {
        const int tokens = starts_of(shape.queries).back();
        const AttentionType query_type =
            shape.cache && shape.type == AttentionType::fp8 ? AttentionType::bf16 : shape.type;
        const ElementType out_type =
            query_type == AttentionType::fp8 ? ElementType::bf16 : stored(query_type);
        const std::int64_t q_cols = std::int64_t{shape.heads} * shape.dim;
        const Place rows{std::max(1, tokens), q_cols, q_cols, 0};
        q_.emplace(
            stored(query_type), rows,
            normal_values(static_cast<std::size_t>(rows.rows * q_cols), random, 0, shape.q_sigma));
        out_.emplace(out_type, rows);
        const auto batch = static_cast<std::int64_t>(shape.keys.size());
        const std::int64_t run = shape.page > 0 ? shape.page : longest_;
        const std::int64_t runs = shape.page > 0 ? static_cast<std::int64_t>(table_.size()) : batch;
        const std::int64_t key_rows = shape.cache
                                          ? std::max<std::int64_t>(1, runs * shape.kv_heads * run)
                                          : std::max(1, starts_of(shape.keys).back());
        const std::int64_t k_cols =
            shape.cache ? shape.dim : std::int64_t{shape.kv_heads} * shape.dim;
        const Place key_place{key_rows, k_cols, k_cols, 0};
        const auto values = [&] {
            std::vector<double> all =
                normal_values(static_cast<std::size_t>(key_rows * k_cols), random);
            if (shape.cache) spoil(all, run);
            return all;
        };
        k_.emplace(stored(shape.type), key_place, values());
        v_.emplace(stored(shape.type), key_place, values());
        const std::vector<double> ones =
            normal_values(static_cast<std::size_t>(3 * shape.kv_heads), random, 1, 0.2);
        scales_.emplace(ElementType::f32, Place{3, shape.kv_heads, shape.kv_heads, 0}, ones);

        args.type = shape.type;
        args.query_type = query_type;
        args.q = q_->data();
        args.k = k_->data();
        args.v = v_->data();
        args.out = out_->data();
        args.batch = batch;
        args.heads = shape.heads;
        args.kv_heads = shape.kv_heads;
        args.head_dim = args.value_dim = shape.dim;
        args.queries = *std::max_element(shape.queries.begin(), shape.queries.end());
        args.keys = longest_;
        args.q_at = args.out_at = {args.queries * q_cols, q_cols, shape.dim};
        args.scale = 1 / std::sqrt(static_cast<float>(shape.dim));
        args.causal = shape.causal;
        args.window = shape.window;
        if (shape.cache) {
            args.k_at = {shape.kv_heads * run * shape.dim, shape.dim, run * shape.dim};
            args.key_lengths = lengths_.data();
            if (shape.page > 0) {
                args.pages = pages_.data();
                args.page = shape.page;
                args.pages_per_sequence = pages_per_sequence();
            }
        } else {
            args.k_at = {0, k_cols, shape.dim};
            args.query_starts = query_starts_.data();
            args.key_starts = key_starts_.data();
            args.query_tokens = tokens;
            args.key_tokens = starts_of(shape.keys).back();
        }
        args.v_at = args.k_at;
        if (shape.type == AttentionType::fp8) {
            const auto* const scales = static_cast<const float*>(scales_->data());
            args.k_scale = scales;
            args.v_scale = scales + shape.kv_heads;
            if (query_type == AttentionType::fp8) args.q_scale = scales + 2 * shape.kv_heads;
        }
    }

    AttentionArgs args;
    [[nodiscard]] const Tensor& out() const { return *out_; }
    [[nodiscard]] const Tensor& q() const { return *q_; }
    [[nodiscard]] const Tensor& k() const { return *k_; }
    [[nodiscard]] const Tensor& v() const { return *v_; }

    [[nodiscard]] std::vector<double> reference() const {
        const auto count = static_cast<std::size_t>(out_->place().rows * out_->place().cols);
        const DeviceMemory memory(count * sizeof(double));
        check(cudaMemset(memory.data(), 0, count * sizeof(double)));
        check(attention_reference(args, reinterpret_cast<double*>(memory.data()), nullptr));
        return download_doubles(memory, count);
    }
    // The rows of `lengths` tokens; the last of `repeats` launches is what is returned.
    [[nodiscard]] std::vector<double> run(AttentionWay way, std::string* name = nullptr,
                                          int repeats = 2) const {
        const AttentionPlan plan(args, way);
        if (plan.unsupported() != nullptr) {
            ADD_FAILURE() << plan.unsupported();
            return {};
        }
        if (name != nullptr) *name = plan.kernel_name();
        const DeviceMemory workspace(std::max<std::size_t>(1, plan.workspace_bytes()));
        check(cudaMemset(workspace.data(), 0, plan.workspace_bytes()));
        for (int i = 0; i < repeats; ++i) {
            out_->poison();
            check(plan.launch(workspace.data(), nullptr));
            synchronize();
        }
        EXPECT_EQ(out_->written_outside(), 0);
        std::vector<double> all = out_->values();
        if (starts_of(shape_.queries).back() == 0) all.clear();
        return all;
    }

   private:
    [[nodiscard]] int pages_per_sequence() const {
        return shape_.page == 0 ? 0 : (longest_ + shape_.page - 1) / shape_.page + 1;
    }
    std::vector<int> pages(std::mt19937_64& random) {
        table_.resize(shape_.keys.size() * static_cast<std::size_t>(pages_per_sequence()));
        std::iota(table_.begin(), table_.end(), 0);
        std::shuffle(table_.begin(), table_.end(), random);
        return table_;
    }
    // NaN where no token of a sequence is.
    void spoil(std::vector<double>& all, std::int64_t run) const {
        std::vector<bool> used(all.size() / static_cast<std::size_t>(shape_.dim), false);
        for (std::size_t b = 0; b < shape_.keys.size(); ++b) {
            for (int j = 0; j < shape_.keys[b]; ++j) {
                std::int64_t at = static_cast<std::int64_t>(b), token = j;
                if (shape_.page > 0) {
                    at = table_[b * static_cast<std::size_t>(pages_per_sequence()) +
                                static_cast<std::size_t>(j / shape_.page)];
                    token = j % shape_.page;
                }
                for (int h = 0; h < shape_.kv_heads; ++h) {
                    used[static_cast<std::size_t>((at * shape_.kv_heads + h) * run + token)] = true;
                }
            }
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!used[i / static_cast<std::size_t>(shape_.dim)]) all[i] = std::nan("");
        }
    }

    Shape shape_;
    int longest_;
    std::vector<int> table_;
    Ints query_starts_, key_starts_, lengths_, pages_;
    std::optional<Tensor> q_, k_, v_, out_, scales_;
};

double tolerance(AttentionType type, bool cache) {
    switch (type) {
        case AttentionType::fp32:
            return 3e-6;
        case AttentionType::bf16:
            return 6e-3;
        case AttentionType::fp16:
            return 1e-3;
        case AttentionType::fp8:
            return cache ? 6e-3 : 5e-2;
    }
    return 0;
}

class Attention : public ::testing::Test {
   protected:
    std::mt19937_64 random_{fresh_seed()};

    void expect_right(const Shape& shape, const char* kernel = nullptr) {
        SCOPED_TRACE(shape.text());
        const Problem problem(shape, random_);
        std::vector<double> reference = problem.reference();
        for (const AttentionWay way : {AttentionWay::fastest, AttentionWay::simple}) {
            std::string name;
            const std::vector<double> out = problem.run(way, &name);
            if (way == AttentionWay::fastest && kernel != nullptr) {
                EXPECT_NE(name.find(kernel), std::string::npos) << name;
            }
            reference.resize(out.size());
            const Errors found = errors(out, reference);
            EXPECT_LE(found.relative, tolerance(shape.type, shape.cache)) << name;
            if (way == AttentionWay::fastest && name == "simple") break;
        }
    }
};

// One sequence, written out here.
TEST_F(Attention, ReferenceMatchesTheCpu) {
    for (const int window : {-1, 0, 9}) {
        Shape shape{.type = AttentionType::fp32,
                    .heads = 2,
                    .kv_heads = 1,
                    .dim = 24,
                    .queries = {37},
                    .keys = {50},
                    .causal = window >= 0,
                    .window = std::max(0, window)};
        const Problem problem(shape, random_);
        const std::vector<double> reference = problem.reference();
        const std::vector<double> q = problem.q().values(), k = problem.k().values(),
                                  v = problem.v().values();
        std::vector<double> expected(reference.size(), 0);
        for (int i = 0; i < 37; ++i) {
            for (int h = 0; h < 2; ++h) {
                const int high = window >= 0 ? i + 14 : 50,
                          low = window > 0 ? std::max(0, high - 9) : 0;
                double total = 0;
                for (int j = low; j < high; ++j) {
                    double dot = 0;
                    for (int c = 0; c < 24; ++c) {
                        dot += q[static_cast<std::size_t>((i * 2 + h) * 24 + c)] *
                               k[static_cast<std::size_t>(j * 24 + c)];
                    }
                    const double weight = std::exp(dot * static_cast<double>(problem.args.scale));
                    total += weight;
                    for (int c = 0; c < 24; ++c) {
                        expected[static_cast<std::size_t>((i * 2 + h) * 24 + c)] +=
                            weight * v[static_cast<std::size_t>(j * 24 + c)];
                    }
                }
                for (int c = 0; c < 24; ++c) {
                    expected[static_cast<std::size_t>((i * 2 + h) * 24 + c)] /= total;
                }
            }
        }
        EXPECT_LE(errors(reference, expected).relative, 1e-12) << window;
    }
}

TEST_F(Attention, PrefillOfEveryTypeAndHeadDim) {
    using enum AttentionType;
    for (const AttentionType type : {bf16, fp16, fp8, fp32}) {
        for (const int dim : {64, 96, 128, 256, 40}) {
            const bool fast = type == bf16 || type == fp16;
            for (const bool causal : {true, false}) {
                expect_right(
                    {.type = type, .dim = dim, .queries = {300}, .keys = {300}, .causal = causal},
                    fast ? "sm90" : nullptr);
            }
        }
    }
}

TEST_F(Attention, PrefillOfOddLengths) {
    for (const int dim : {64, 128}) {
        for (const int length : {1, 2, 63, 64, 65, 127, 128, 129, 191, 257, 1000}) {
            for (const bool causal : {true, false}) {
                expect_right({.dim = dim, .queries = {length}, .keys = {length}, .causal = causal});
            }
        }
    }
}

TEST_F(Attention, PrefillAfterACachedPrefixAndInAWindow) {
    for (const int dim : {64, 128}) {
        for (const int cached : {1, 77, 128, 500}) {
            for (const int window : {0, 1, 50, 128, 200}) {
                expect_right(
                    {.dim = dim, .queries = {190}, .keys = {190 + cached}, .window = window});
            }
            expect_right({.dim = dim, .queries = {33}, .keys = {33 + cached}, .causal = false});
        }
    }
}

// Empty ones, and more queries than keys: the first see nothing and give zeros.
TEST_F(Attention, PackedSequencesOfAnyLength) {
    for (const int dim : {64, 128}) {
        for (const bool causal : {true, false}) {
            Shape shape{.heads = 6,
                        .kv_heads = 2,
                        .dim = dim,
                        .queries = {5, 0, 200, 1, 130, 40, 0},
                        .keys = {5, 0, 200, 300, 100, 0, 10},
                        .causal = causal};
            expect_right(shape);
            const Problem problem(shape, random_);
            const std::vector<double> out = problem.run(AttentionWay::fastest);
            const auto row = static_cast<std::size_t>(6 * dim);
            for (std::size_t c = 0; c < row; ++c) {
                EXPECT_EQ(out[336 * row + c], 0) << c;  // no keys at all
                if (causal) {
                    EXPECT_EQ(out[206 * row + c], 0) << c;  // before all keys
                }
            }
        }
    }
}

TEST_F(Attention, LargeScoresNeitherOverflowNorVanish) {
    for (const int dim : {64, 128}) {
        expect_right({.dim = dim, .queries = {200}, .keys = {200}, .q_sigma = 100});
        expect_right(
            {.dim = dim, .queries = {1, 1}, .keys = {777, 5}, .cache = true, .q_sigma = 100});
    }
}

TEST_F(Attention, DecodeOfEveryTypeGroupAndHeadDim) {
    using enum AttentionType;
    for (const AttentionType type : {bf16, fp16, fp8, fp32}) {
        for (const int dim : {64, 128, 96, 256}) {
            for (const int group : {1, 3, 4, 8, 16, 20}) {
                const bool fast =
                    (type == bf16 || type == fp16) && (dim == 64 || dim == 128) && group <= 16;
                expect_right({.type = type,
                              .heads = 2 * group,
                              .kv_heads = 2,
                              .dim = dim,
                              .queries = {1, 1, 1},
                              .keys = {1000, 1, 65},
                              .cache = true},
                             fast ? "sm90_decode" : nullptr);
            }
        }
    }
}

TEST_F(Attention, DecodeOfPagesAndLengths) {
    for (const int page : {0, 16, 64, 128, 24}) {
        for (const int longest : {1, 15, 16, 17, 63, 64, 65, 500, 4099}) {
            Shape shape{.heads = 8,
                        .kv_heads = 2,
                        .keys = {longest, 0, 1, (longest + 1) / 2, longest},
                        .cache = true,
                        .page = page};
            shape.queries.assign(shape.keys.size(), 1);
            expect_right(shape);
        }
    }
}

TEST_F(Attention, DecodeOfManySequences) {
    for (const int page : {0, 16}) {
        Shape shape{.heads = 8, .kv_heads = 2, .cache = true, .page = page};
        for (int b = 0; b < 200; ++b) shape.keys.push_back(b * 37 % 401);
        shape.queries.assign(shape.keys.size(), 1);
        expect_right(shape);
    }
}

// A few tokens at once see each other as in a prompt.
TEST_F(Attention, DecodeOfSeveralQueries) {
    for (const int queries : {2, 3, 4, 8}) {
        for (const int page : {0, 64}) {
            Shape shape{.heads = 4,
                        .kv_heads = 2,
                        .keys = {300, queries, 64, 1000},
                        .cache = true,
                        .page = page};
            shape.queries.assign(shape.keys.size(), queries);
            expect_right(shape);
        }
    }
}

TEST_F(Attention, BadArgumentsAreNamed) {
    AttentionArgs args;
    args.heads = 3;
    args.kv_heads = 2;
    args.head_dim = args.value_dim = 64;
    EXPECT_STREQ(AttentionPlan(args).unsupported(),
                 "attention: heads must be a multiple of kv_heads");
    args.heads = 4;
    args.window = 3;
    EXPECT_STREQ(AttentionPlan(args).unsupported(),
                 "attention: a window goes with causal attention and is not negative");
    args.window = 0;
    args.head_dim = 577;
    EXPECT_STREQ(AttentionPlan(args).unsupported(),
                 "attention: head_dim and value_dim go up to 576");
}

}  // namespace
}  // namespace etalon::kernels
