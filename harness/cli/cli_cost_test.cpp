// etalon cost, db import and the suite `llm` as a user meets them: figures, exit codes, and one
// line for every fault.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "harness/testing/child_process.h"

namespace etalon::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Matcher;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

const std::string tables = ETALON_SOURCE "/results/published/h200_kernels.csv";

// Llama-3.1-70B as TensorRT-LLM served it, from the published tables.
Arguments published(const Arguments& more) {
    Arguments all = {"cost",        "--kernels",  tables,     "--model", "llama-3.1-70b",
                     "--precision", "fp8",        "--scales", "static",  "--kv",
                     "fp8",         "--provider", "trtllm"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

json json_of(const Outcome& outcome) {
    const json parsed = json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << outcome.out << outcome.err;
    return parsed;
}

TEST(Cost, ReproducesAServedRun) {
    const TemporaryFolder folder;
    const Outcome outcome =
        etalon(folder, published({"--batch", "16", "--tp", "4", "--price", "2.9", "--json"}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const json out = json_of(outcome);
    EXPECT_EQ(out["format"], "etalon.cost/1");
    ASSERT_EQ(out["rows"].size(), 1U);
    EXPECT_NEAR(out["rows"][0]["tpot_ms"].get<double>() / 8.93, 1, 0.05);  // served
    EXPECT_EQ(out["rows"][0]["kernels"], "trtllm");
    EXPECT_EQ(out["convention"], "additive");
}

TEST(Cost, TheSameFromAnImportedFile) {
    const TemporaryFolder folder;
    const Outcome import = etalon(folder, {"db", "import", tables, "--db", "k.db"});
    EXPECT_EQ(import.code, 0) << import.err;
    EXPECT_THAT(import.out, HasSubstr("kernels of H200"));
    EXPECT_EQ(etalon(folder, {"db", "verify", "--db", "k.db"}).code, 0);
    const Arguments ask = {"--batch", "4,64", "--price", "2.9", "--format", "csv"};
    Arguments from_file = published(ask);
    from_file[1] = "--db";
    from_file[2] = "k.db";
    const Outcome a = etalon(folder, published(ask)), b = etalon(folder, from_file);
    EXPECT_EQ(b.code, 0) << b.err;
    EXPECT_EQ(a.out, b.out);
    EXPECT_EQ(std::count(a.out.begin(), a.out.end(), '\n'), 3);
}

TEST(Cost, TheTextbookCaseFreesTenGpus) {
    const TemporaryFolder folder;
    const Arguments ask = {"--what-if", "utilisation=30%..60%", "--gpus", "20", "--rps", "50"};
    const Outcome text = etalon(folder, published(ask));
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, AllOf(HasSubstr("10 GPUs, 10 freed"), HasSubstr("per month"),
                                HasSubstr("requests/s"), HasSubstr("TPOT")));
    Arguments limited = ask;
    limited.insert(limited.end(), {"--tpot-limit", "25", "--json"});
    const json out = json_of(etalon(folder, published(limited)))["what_if"][0];
    EXPECT_EQ(out["textbook_freed"], 10);
    // Within 25 ms a GPU serves less than half of what it could: no ten are freed.
    EXPECT_GT(out["limited_of_all_gpus"].get<int>(), 10);
    limited = ask;
    limited.insert(limited.end(), {"--tpot-limit", "0.001"});
    EXPECT_EQ(etalon(folder, published(limited)).code, 3);
}

TEST(Cost, ExplainsAStep) {
    const TemporaryFolder folder;
    const Outcome outcome =
        etalon(folder, published({"--batch", "16", "--tp", "4", "--explain", "--phase", "decode"}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("gemm/fp8/m=16,n=2560,k=8192"), HasSubstr("interpolated"),
                      HasSubstr("measured"), HasSubstr("modelled"), HasSubstr("included"),
                      HasSubstr("all_reduce/bf16/gpus=4,elements=131072"), HasSubstr("µs")));
    const Outcome markdown = etalon(
        folder, published({"--batch", "16", "--explain", "--format", "md", "--out", "step.md"}));
    EXPECT_EQ(markdown.code, 0);
    EXPECT_THAT(markdown.out, IsEmpty());
    EXPECT_THAT(read_file(folder.path("step.md")), HasSubstr("| role | problem |"));
}

TEST(Cost, WhatIsMissingHasNoCostAndTheCommandThatMeasuresIt) {
    const TemporaryFolder folder;
    const Outcome outcome =
        etalon(folder, {"cost", "--db", ETALON_SOURCE "/results/recorded/h200.db", "--model",
                        "llama-3.1-8b", "--batch", "1"});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.err, IsEmpty());
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("attention_decode/bf16/batch=1,heads=32"),
                      HasSubstr("etalon sweep --suite llm --model llama-3.1-8b --precision bf16 "
                                "--batch 1 --isl 1024 --osl 1024 --tp 1 --db ")));
}

// A model small enough to be measured here, with the command that `cost` names.
TEST(Cost, TheNamedCommandMeasuresWhatThisBuildHas) {
    const TemporaryFolder folder;
    const std::string model = folder.write("tiny.json", R"({"architectures":["LlamaForCausalLM"],
        "hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,
        "intermediate_size":128,"vocab_size":256,"tie_word_embeddings":false})");
    const Arguments ask = {"--model", "tiny.json", "--batch", "2", "--isl", "32", "--osl", "16"};
    Arguments sweep = {"sweep", "--suite",       "llm", "--device",      "host", "--db",
                       "t.db",  "--max-samples", "15",  "--case-budget", "20"};
    sweep.insert(sweep.end(), ask.begin(), ask.end());
    Arguments plan = sweep;
    plan.emplace_back("--dry-run");
    const Outcome cases = etalon(folder, plan);
    EXPECT_EQ(cases.code, 0) << cases.err;
    // Decode of 2 and prefill of 32; the head sees one position of each sequence.
    for (const char* id :
         {"gemm/bf16/m=2,n=128,k=64/onednn/cold", "gemm/bf16/m=32,n=128,k=64/onednn/cold",
          "gemm/bf16/m=2,n=64,k=64/etalon/cold", "gemm/bf16/m=2,n=256,k=64/etalon/cold",
          "gemm/bf16/m=1,n=256,k=64/etalon/cold", "gemm/bf16/m=32,n=64,k=128/etalon/cold",
          "rmsnorm/bf16/rows=2,cols=64/onednn/cold"}) {
        EXPECT_THAT(cases.out, HasSubstr(id));
    }
    const Outcome measured = etalon(folder, sweep);
    EXPECT_EQ(measured.code, 0) << measured.err << measured.out;
    Arguments copy = {"sweep",
                      "--device",
                      "host",
                      "--db",
                      "t.db",
                      "--case",
                      "copy/fp32/n=1000000/libc/cold",
                      "--max-samples",
                      "15"};
    EXPECT_EQ(etalon(folder, copy).code, 0);
    Arguments explain = {"cost",      "--db",    "t.db",   "--price", "0.1",
                         "--explain", "--phase", "decode", "--json"};
    explain.insert(explain.end(), ask.begin(), ask.end());
    const json out = json_of(etalon(folder, explain));
    int gemms = 0;
    for (const json& each : out["steps"][0]["operators"]) {
        if (!each["problem"].get<std::string>().starts_with("gemm")) continue;
        EXPECT_EQ(each["source"], "measured") << each;
        ++gemms;
    }
    EXPECT_EQ(gemms, 5);
}

TEST(Suite, LlmIsListedAndCountsForItsModelOnly) {
    const TemporaryFolder folder;
    const Outcome fp8 = etalon(folder, {"list", "--suite", "llm", "--model", "llama-3.1-8b",
                                        "--device", "host", "--precision", "int8", "--batch", "1"});
    EXPECT_EQ(fp8.code, 0) << fp8.err;
    EXPECT_THAT(fp8.out, HasSubstr("gemm/int8/m=1,n=6144,k=4096/"));
    EXPECT_THAT(fp8.out, HasSubstr("gemm/bf16/m=1,n=128256,k=4096/"));  // the head stays bf16
}

struct Refusal {
    const char* what;
    Arguments arguments;
    Matcher<std::string> line;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
    *out << refusal.what;
}

class CostUsage : public ::testing::TestWithParam<Refusal> {};

TEST_P(CostUsage, IsOneLineAndExitCodeTwo) {
    const TemporaryFolder folder;
    const Outcome outcome = etalon(folder, GetParam().arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("etalon: "));
    EXPECT_THAT(outcome.err, GetParam().line);
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_THAT(folder.names(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Faults, CostUsage,
    ::testing::Values(
        Refusal{"NoModel", {"cost"}, HasSubstr("--model is missing")},
        Refusal{"Model", {"cost", "--model", "llama-3.1-8"}, HasSubstr("'llama-3.1-8b'")},
        Refusal{"ModelFile", {"cost", "--model", "no/config.json"}, HasSubstr("no/config.json")},
        Refusal{"NoDatabase", {"cost", "--model", "llama-3.1-8b"}, HasSubstr("etalon.db")},
        Refusal{
            "Table", {"cost", "--model", "llama-3.1-8b", "--kernels", "x.csv"}, HasSubstr("x.csv")},
        Refusal{"Precision", published({"--precision", "fp9"}), HasSubstr("'fp9'")},
        Refusal{"Kv", {"cost", "--model", "llama-3.1-8b", "--kv", "int8"}, HasSubstr("--kv")},
        Refusal{"Impl", published({"--impl", "bets"}), HasSubstr("did you mean 'best'?")},
        Refusal{"Tp", published({"--tp", "3"}), HasSubstr("--tp 3 does not divide")},
        Refusal{"TpZero", published({"--tp", "0"}), HasSubstr("'0' is not a whole number")},
        Refusal{"Ep", published({"--ep", "2"}), HasSubstr("no experts")},
        Refusal{"Batch", published({"--batch", "4,x"}), HasSubstr("'x' is not a whole number")},
        Refusal{"Price", published({"--price", "-1"}), HasSubstr("'-1' is not a number")},
        Refusal{"PriceNan", published({"--price", "nan"}), HasSubstr("'nan'")},
        Refusal{"PriceTwice", published({"--price", "1", "--tier", "x"}), HasSubstr("one of")},
        Refusal{"Tier", published({"--tier", "neoclod"}), HasSubstr("did you mean 'neocloud'?")},
        Refusal{"Prices", published({"--prices", "none.toml"}), HasSubstr("'none.toml'")},
        Refusal{"Owned", published({"--owned", "capex=1"}), HasSubstr("--owned lacks years")},
        Refusal{"Utilisation", published({"--utilisation", "120%"}), HasSubstr("'120%'")},
        Refusal{"Convention", published({"--convention", "addtive"}),
                HasSubstr("did you mean 'additive'?")},
        Refusal{"CacheHit", published({"--cache-hit", "1"}), HasSubstr("under 100%")},
        Refusal{"WhatIf", published({"--what-if", "price=1..2", "--gpus", "1", "--rps", "1"}),
                HasSubstr("utilisation=30%..60%")},
        Refusal{"WhatIfAlone", published({"--what-if", "utilisation=30%..60%"}),
                HasSubstr("--gpus")},
        Refusal{"GpusAlone", published({"--gpus", "20"}), HasSubstr("--what-if")},
        Refusal{"By", published({"--by", "diver"}), HasSubstr("did you mean 'driver'?")},
        Refusal{"ByPrecision", published({"--by", "precision"}), HasSubstr("--precision")},
        Refusal{"Gpu", published({"--gpu", "B300"}), HasSubstr("'B300'")},
        Refusal{"Format", published({"--format", "html"}), HasSubstr("'html'")},
        Refusal{"Mixed", published({"--explain", "--phase", "mixed"}), HasSubstr("--chunk")},
        Refusal{"ImportNothing", {"db", "import", "--db", "x.db"}, HasSubstr("required")},
        Refusal{
            "ImportMissing", {"db", "import", "none.csv", "--db", "x.db"}, HasSubstr("'none.csv'")},
        Refusal{"SuiteWithoutModel",
                {"sweep", "--device", "host", "--suite", "llm"},
                HasSubstr("--model is missing")},
        Refusal{"ModelWithoutSuite",
                {"sweep", "--device", "host", "--model", "llama-3.1-8b"},
                HasSubstr("--suite llm")}),
    [](const auto& test) { return test.param.what; });

}  // namespace
}  // namespace etalon::cli
