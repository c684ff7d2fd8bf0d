#include "harness/cost/step.h"

#include <gmock/gmock.h>

#include <numeric>

#include "harness/core/error.h"
#include "harness/cost/op_table.h"

namespace etalon::cost {
namespace {

using ::testing::HasSubstr;

const Operator* find(const std::vector<Operator>& list, const std::string& role) {
    for (const Operator& each : list) {
        if (each.role == role) return &each;
    }
    return nullptr;
}

std::string id(const std::vector<Operator>& list, const std::string& role) {
    const Operator* found = find(list, role);
    return found == nullptr ? "none" : found->problem_id();
}

TEST(Step, DenseShapesOfLlama70B) {
    const Model model = load_model("llama-3.1-70b");
    const auto list = compose(model, decode_step(16, 1536), {.tp = 8, .precision = Precision::fp8});
    EXPECT_EQ(id(list, "qkv"), "gemm/fp8/m=16,n=1280,k=8192");
    EXPECT_EQ(id(list, "o"), "gemm/fp8/m=16,n=8192,k=1024");
    EXPECT_EQ(id(list, "gate_up"), "gemm/fp8/m=16,n=7168,k=8192");
    EXPECT_EQ(id(list, "down"), "gemm/fp8/m=16,n=8192,k=3584");
    EXPECT_EQ(id(list, "lm_head"), "gemm/bf16/m=16,n=16032,k=8192");
    EXPECT_EQ(id(list, "attention"),
              "attention_decode/bf16/batch=16,heads=8,kv_heads=1,head_dim=128,context=1536");
    EXPECT_EQ(id(list, "all_reduce"), "all_reduce/bf16/gpus=8,elements=131072");
    EXPECT_EQ(find(list, "all_reduce")->count, 160);
    EXPECT_EQ(id(list, "down_input"), "quantize/fp8/rows=16,cols=3584");
    EXPECT_EQ(id(compose(model, decode_step(16, 1536),
                         {.precision = Precision::fp8, .static_scales = true}),
                 "down_input"),
              "none");
    EXPECT_EQ(id(compose(model, decode_step(1, 9), {}), "all_reduce"), "none");
}

TEST(Step, KvHeadsAreRepeatedWhereThereAreFewerThanGpus) {
    const auto list = compose(load_model("qwen3-235b-a22b"), decode_step(2, 100), {.tp = 8});
    EXPECT_EQ(find(list, "attention")->at("kv_heads"), 1);
    EXPECT_EQ(find(list, "qkv")->at("n"), 8 * 128 + 2 * 128);
    EXPECT_EQ(id(list, "qk_norm"), "qk_norm/bf16/rows=2,heads=8,kv_heads=1,head_dim=128");
}

// 2·weights FLOP a token, up to attention: what the matrices do must be what they are.
TEST(Step, TheMatrixProductsOfADenseStepAreTwoFlopAWeightAndToken) {
    for (const char* name : {"llama-3.1-8b", "llama-3.1-405b", "qwen3-32b", "mistral-7b-v0.3"}) {
        const Model model = load_model(name);
        for (const int tp : {1, 2, 4, 8}) {
            double flop = 0;
            for (const Operator& each : compose(model, prefill_step(512), {.tp = tp})) {
                if (each.op == op::gemm && each.role != "lm_head") flop += each.count * each.flop;
            }
            const double weights = model.total_weights() - model.embedding_weights();
            EXPECT_NEAR(flop * tp / (2 * 512 * weights), 1, 1e-12) << name << tp;
        }
    }
}

TEST(Step, AttentionFollowsTheFormulas) {
    const Model model = load_model("llama-3.1-8b");
    const Operator decode = *find(compose(model, decode_step(64, 4096), {}), "attention");
    EXPECT_DOUBLE_EQ(decode.flop, 4.0 * 64 * 32 * 128 * 4096);
    EXPECT_DOUBLE_EQ(decode.bytes, 2.0 * 64 * 4096 * 8 * 128 * 2 + 4.0 * 64 * 32 * 128);
    const Operator prefill = *find(compose(model, prefill_step(2048), {}), "attention");
    EXPECT_DOUBLE_EQ(prefill.flop, 2.0 * 2048 * 2049 * 32 * 128);
    // Chunks add up to the whole.
    double chunks = 0;
    for (int at = 0; at < 2048; at += 512) {
        const auto list = compose(model, prefill_step(512, at), {});
        chunks += find(list, "attention")->flop;
    }
    EXPECT_DOUBLE_EQ(chunks, prefill.flop);
}

TEST(Step, WindowedLayersSeeTheWindowOnly) {
    const Model model = load_model("gpt-oss-20b");
    double full = 0, windowed = 0;
    for (const Operator& each : compose(model, decode_step(4, 4096), {})) {
        if (each.op != op::attention_decode) continue;
        (each.at("context") == 128 ? windowed : full) += each.count;
    }
    EXPECT_EQ(full, 12);
    EXPECT_EQ(windowed, 12);
    EXPECT_EQ(kv_bytes(model, {}, 4096), 2.0 * 8 * 64 * 2 * (12 * 4096 + 12 * 128));
}

TEST(Step, ExpertsOfMixtral) {
    const Model model = load_model("mixtral-8x7b");
    const auto list = compose(model, decode_step(1, 100), {});
    EXPECT_EQ(id(list, "router"), "gemm/bf16/m=1,n=8,k=4096");
    EXPECT_EQ(id(list, "experts_gate_up"), "grouped_gemm/bf16/experts=2,m=2,n=28672,k=4096");
    EXPECT_EQ(id(list, "experts_down"), "grouped_gemm/bf16/experts=2,m=2,n=4096,k=14336");
    EXPECT_TRUE(find(list, "experts_down")->unvalidated);
    const auto many = compose(model, prefill_step(4096), {.tp = 8, .ep = 4});
    // Two GPUs share each expert; the busiest of four holds more than a quarter of the tokens.
    EXPECT_EQ(find(many, "experts_gate_up")->at("n"), 14336);
    EXPECT_EQ(find(many, "experts_gate_up")->at("experts"), 2);
    EXPECT_GT(find(many, "experts_gate_up")->at("m"), 4096 * 2 / 4);
    EXPECT_LT(find(many, "experts_gate_up")->at("m"), 4096 * 2 / 3);
}

TEST(Step, ActiveExperts) {
    EXPECT_DOUBLE_EQ(active_experts(128, 8, 1), 8);
    EXPECT_NEAR(active_experts(128, 8, 16), 128 * (1 - std::pow(0.9375, 16)), 1e-9);
    EXPECT_NEAR(active_experts(8, 2, 1e6), 8, 1e-9);
}

TEST(Step, LatentAttentionOfDeepSeek) {
    const Model model = load_model("deepseek-v3");
    const auto list = compose(model, decode_step(32, 1000), {.tp = 8});
    EXPECT_EQ(id(list, "q_a_kv_a"), "gemm/bf16/m=32,n=2112,k=7168");
    EXPECT_EQ(id(list, "q_b"), "gemm/bf16/m=32,n=3072,k=1536");
    EXPECT_EQ(id(list, "absorb_k"), "batched_gemm/bf16/batch=16,m=32,n=512,k=128");
    EXPECT_EQ(id(list, "absorb_v"), "batched_gemm/bf16/batch=16,m=32,n=128,k=512");
    EXPECT_EQ(id(list, "o"), "gemm/bf16/m=32,n=7168,k=2048");
    EXPECT_DOUBLE_EQ(find(list, "attention")->flop, 2.0 * 32 * 1000 * 16 * (576 + 512));
    EXPECT_EQ(find(list, "experts_down")->count, 58);
    EXPECT_EQ(find(list, "gate_up")->count, 3);
    // The cache is on every GPU whole.
    EXPECT_EQ(kv_bytes(model, {.tp = 8}, 10), kv_bytes(model, {.tp = 1}, 10));
    EXPECT_EQ(kv_bytes(model, {}, 1), 61.0 * 576 * 2);
}

TEST(Step, AMixedStepHasTheLinearLayersOnceAndBothAttentions) {
    const Model model = load_model("llama-3.1-8b");
    const Step mixed{.decoding = 64, .context = 1024, .prompts = 1, .prompt = 448, .cached = 512};
    const auto list = compose(model, mixed, {});
    EXPECT_EQ(id(list, "qkv"), "gemm/bf16/m=512,n=6144,k=4096");
    EXPECT_EQ(find(list, "lm_head")->at("m"), 65);
    int attentions = 0;
    for (const Operator& each : list) attentions += each.role == "attention" ? 1 : 0;
    EXPECT_EQ(attentions, 2);
}

TEST(Step, UnfusedHasMoreKernelsAndMovesMoreBytes) {
    const Model model = load_model("llama-3.1-8b");
    const auto bytes = [&](bool fused) {
        const auto list = compose(model, decode_step(64, 1024), {.fused = fused});
        return std::accumulate(list.begin(), list.end(), 0.0, [](double sum, const Operator& e) {
            return sum + e.count * e.bytes;
        });
    };
    EXPECT_GT(bytes(false), bytes(true));
}

TEST(Step, EveryOperatorIsInTheTableWithItsAxesInOrder) {
    for (const std::string& name : model_names()) {
        for (const bool fused : {true, false}) {
            const Layout layout{.tp = 2, .precision = Precision::fp8, .fused = fused};
            const Step mixed{
                .decoding = 3, .context = 700, .prompts = 1, .prompt = 64, .cached = 256};
            for (const Operator& each : compose(load_model(name), mixed, layout)) {
                const OpInfo* info = find_op(each.op);
                ASSERT_NE(info, nullptr) << each.op;
                std::size_t at = 0;
                for (const Axis& axis : each.axes) {
                    while (at < info->axes.size() && axis.name != info->axes[at]) ++at;
                    EXPECT_LT(at, info->axes.size()) << each.problem_id();
                    EXPECT_GE(axis.value, 1) << each.problem_id();
                }
                EXPECT_GT(each.count, 0) << each.problem_id();
                EXPECT_GT(each.bytes, 0) << each.problem_id();
            }
        }
    }
}

TEST(Layout, WhatDoesNotDivideIsRefused) {
    const auto refusal = [](const char* model, Layout layout) -> std::string {
        try {
            check_layout(load_model(model), layout);
        } catch (const Error& error) {
            return error.what();
        }
        return "fine";
    };
    EXPECT_THAT(refusal("llama-3.1-8b", {.tp = 3}), HasSubstr("--tp 3 does not divide the 32"));
    EXPECT_THAT(refusal("llama-3.1-8b", {.tp = 8, .ep = 2}), HasSubstr("no experts"));
    EXPECT_THAT(refusal("mixtral-8x7b", {.tp = 4, .ep = 8}), HasSubstr("--ep 8"));
    EXPECT_EQ(refusal("qwen3-235b-a22b", {.tp = 8, .ep = 8}), "fine");
}

TEST(Precision, ForeignNamesSplitIntoPrecisionAndVariant) {
    EXPECT_EQ(parse_named_precision("fp8_dynamic").variant, "dynamic");
    EXPECT_EQ(parse_named_precision("fp8_dynamic").precision, Precision::fp8);
    EXPECT_EQ(parse_named_precision("bf16_kv_fp8").variant, "kv_fp8");
    EXPECT_EQ(parse_named_precision("half").precision, Precision::fp16);
    EXPECT_EQ(parse_named_precision("fp8_e4m3").variant, "");
    EXPECT_THROW((void)parse_named_precision("fp9_dynamic"), Error);
    EXPECT_THROW((void)parse_named_precision(""), Error);
}

}  // namespace
}  // namespace etalon::cost
