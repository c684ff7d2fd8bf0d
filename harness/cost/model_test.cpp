#include "harness/cost/model.h"

#include <gmock/gmock.h>

#include "harness/core/error.h"

namespace etalon::cost {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(std::string_view json) {
    try {
        (void)parse_model(json, "x", "config.json");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        const std::string line = error.what();
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
        EXPECT_TRUE(line.starts_with("config.json: ")) << line;
        return line;
    }
    ADD_FAILURE() << "read: " << json;
    return {};
}

// Weights as the models' cards say them, in thousand millions.
TEST(Model, TheShippedShapesHaveTheWeightsThatTheirCardsSay) {
    const std::pair<const char*, double> cards[] = {
        {"llama-3.1-8b", 8.03},   {"llama-3.1-70b", 70.6},   {"llama-3.1-405b", 406},
        {"qwen3-8b", 8.19},       {"qwen3-32b", 32.8},       {"qwen3-30b-a3b", 30.5},
        {"qwen3-235b-a22b", 235}, {"mixtral-8x7b", 46.7},    {"deepseek-v3", 671},
        {"gpt-oss-20b", 20.9},    {"mistral-7b-v0.3", 7.25}, {"gpt-oss-120b", 116.8},
    };
    EXPECT_EQ(model_names().size(), std::size(cards));
    for (const auto& [name, weights] : cards) {
        EXPECT_NEAR(load_model(name).total_weights() / 1e9 / weights, 1, 0.005) << name;
    }
}

TEST(Model, HeadDimIsReadWhereItStandsAndHiddenByHeadsOtherwise) {
    EXPECT_EQ(load_model("qwen3-32b").head_dim, 128);  // 5120/64 = 80
    EXPECT_EQ(load_model("llama-3.1-8b").head_dim, 128);
    EXPECT_EQ(load_model("deepseek-v3").head_dim, 192);
}

TEST(Model, WindowsOfTheFamilies) {
    const auto layers = [](const char* json) {
        return parse_model(json, "x", "x").windowed_layers;
    };
    EXPECT_EQ(load_model("gpt-oss-20b").windowed_layers, 12);
    EXPECT_EQ(load_model("mistral-7b-v0.3").windowed_layers, 0);
    EXPECT_EQ(layers(R"({"architectures":["MistralForCausalLM"],"hidden_size":64,
        "num_hidden_layers":5,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":9,
        "intermediate_size":8,"sliding_window":32})"),
              5);
    const std::string gemma = R"("hidden_size":64,"num_hidden_layers":26,"num_attention_heads":4,
        "num_key_value_heads":1,"vocab_size":9,"intermediate_size":8,"head_dim":256,
        "sliding_window":512)";
    EXPECT_EQ(layers((R"({"architectures":["Gemma2ForCausalLM"],)" + gemma + "}").c_str()), 13);
    EXPECT_EQ(layers((R"({"architectures":["Gemma3ForCausalLM"],"sliding_window_pattern":6,)" +
                      gemma + "}")
                         .c_str()),
              22);
    EXPECT_EQ(layers((R"({"architectures":["Gemma3ForConditionalGeneration"],"text_config":{)"
                      R"("sliding_window_pattern":6,)" +
                      gemma + "}}")
                         .c_str()),
              22);
    EXPECT_EQ(layers(R"({"architectures":["Qwen2ForCausalLM"],"hidden_size":64,
        "num_hidden_layers":28,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":9,
        "intermediate_size":8,"sliding_window":32,"use_sliding_window":true,
        "max_window_layers":21})"),
              7);
}

TEST(Model, EachFaultIsOneLineThatNamesTheField) {
    EXPECT_THAT(refusal("{"), HasSubstr("not JSON"));
    EXPECT_THAT(refusal("[]"), HasSubstr("object"));
    EXPECT_THAT(refusal("{}"), HasSubstr("'architectures'"));
    EXPECT_THAT(refusal(R"({"architectures":["LamaForCausalLM"]})"),
                AllOf(HasSubstr("unknown architecture 'LamaForCausalLM'"),
                      HasSubstr("did you mean 'LlamaForCausalLM'?")));
    const std::string head = R"({"architectures":["LlamaForCausalLM"],"hidden_size":64,)";
    EXPECT_THAT(refusal(head + R"("num_hidden_layers":2})"),
                HasSubstr("'num_attention_heads' is missing"));
    EXPECT_THAT(refusal(head + R"("num_hidden_layers":-2})"),
                HasSubstr("'num_hidden_layers' must be a whole number from 1"));
    EXPECT_THAT(refusal(head + R"("num_hidden_layers":2.5})"), HasSubstr("not 2.5"));
    EXPECT_THAT(refusal(head + R"("num_hidden_layers":99999999999999999999})"),
                HasSubstr("'num_hidden_layers'"));
    EXPECT_THAT(refusal(head + R"("num_hidden_layers":"2"})"), HasSubstr("not \"2\""));
    EXPECT_THAT(refusal(head + R"("num_hidden_layers":2,"num_attention_heads":5,
        "num_key_value_heads":5,"vocab_size":9,"intermediate_size":8})"),
                HasSubstr("head_dim"));
    EXPECT_THAT(refusal(head + R"("num_hidden_layers":2,"num_attention_heads":8,
        "num_key_value_heads":3,"vocab_size":9,"intermediate_size":8})"),
                HasSubstr("num_key_value_heads 3"));
    EXPECT_THAT(refusal(R"({"architectures":["Qwen3ForCausalLM"],"hidden_size":64,
        "num_hidden_layers":2,"num_attention_heads":8,"num_key_value_heads":2,"vocab_size":9,
        "intermediate_size":8})"),
                HasSubstr("'head_dim' is missing"));
    EXPECT_THAT(refusal(R"({"architectures":["Gemma3ForConditionalGeneration"],
        "text_config":{"hidden_size":64}})"),
                HasSubstr("'text_config.num_hidden_layers' is missing"));
}

TEST(Model, AnUnknownNameNamesTheNearest) {
    try {
        (void)load_model("llama-3.1-8");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean 'llama-3.1-8b'?"));
    }
}

}  // namespace
}  // namespace etalon::cost
