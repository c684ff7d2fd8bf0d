#include "harness/cost/kernels.h"

#include <gmock/gmock.h>

#include "harness/core/error.h"
#include "harness/cost/gather.h"
#include "harness/cost/synthetic_kernels.h"
#include "harness/testing/scratch.h"

namespace etalon::cost {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string header = "gpu,provider,op,precision,axes,time_us\n";
const std::string row = "H200,trtllm,gemm,fp8_dynamic,m=64;n=4096;k=4096,12.5\n";

std::string refusal(const std::string& text) {
    try {
        (void)parse_kernel_csv(text, "k.csv");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        const std::string line = error.what();
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
        return line;
    }
    return "read";
}

TEST(KernelCsv, ReadsRowsOfTwoCards) {
    const auto sets = parse_kernel_csv(
        "\xEF\xBB\xBF" + header + row + "\"B200\",x+fast,gemm,bf16,\"m=1,n=2,k=3\",2e1\r\n\n", "k");
    ASSERT_EQ(sets.size(), 2U);
    const Kernel& kernel = sets[0].kernels.at(0);
    EXPECT_EQ(kernel.precision, Precision::fp8);
    EXPECT_EQ(kernel.variant, "dynamic");
    EXPECT_EQ(kernel.time_ns.value, 12500);
    EXPECT_NEAR(kernel.time_ns.hi, 12500 * 1.05, 1e-6);
    EXPECT_EQ(sets[1].gpu, "B200");
    EXPECT_EQ(sets[1].kernels[0].variant, "fast");
    EXPECT_EQ(sets[1].kernels[0].problem_id(), "gemm/bf16/m=1,n=2,k=3");
}

TEST(KernelCsv, ColumnsStandInAnyOrderAndMayCarryAnInterval) {
    const auto sets = parse_kernel_csv(
        "time_us,axes,op,gpu,provider,precision,time_lo_us,time_hi_us,samples\n"
        "10,rows=1;cols=2,rmsnorm,H200,x,bf16,9,12,40\n",
        "k");
    EXPECT_EQ(sets[0].kernels[0].time_ns, (Estimate{10000, 9000, 12000}));
    EXPECT_EQ(sets[0].kernels[0].samples, 40);
}

TEST(KernelCsv, EachFaultNamesFileAndLine) {
    EXPECT_THAT(refusal(""), HasSubstr("k.csv: no kernel"));
    EXPECT_THAT(refusal(header), HasSubstr("no kernel"));
    EXPECT_THAT(refusal("gpu,op\n"), HasSubstr("k.csv:1: column 'provider' is missing"));
    EXPECT_THAT(refusal("gpu,gpu\n"), HasSubstr("stands twice"));
    EXPECT_THAT(refusal("gpu,provider,op,precision,axis,time_us\n"),
                HasSubstr("did you mean 'axes'?"));
    EXPECT_THAT(refusal(header + "H200,x,gemm,bf16\n"), HasSubstr("k.csv:2: 4 fields"));
    EXPECT_THAT(refusal(header + "H200,x,gemm,bf61,m=1;n=1;k=1,1\n"),
                HasSubstr("did you mean 'bf16'?"));
    EXPECT_THAT(refusal(header + row + "H200,x,gemm,bf16,m=1;n=1,1\n"),
                HasSubstr("k.csv:3: axis 'k' of gemm is missing"));
    EXPECT_THAT(refusal(header + "H200,x,gemm,bf16,m=1;n=1;kk=1,1\n"),
                HasSubstr("did you mean 'k'?"));
    EXPECT_THAT(refusal(header + "H200,x,gemm,bf16,m=1;m=1;n=1;k=1,1\n"), HasSubstr("twice"));
    EXPECT_THAT(refusal(header + "H200,x,gemm,bf16,m=-1;n=1;k=1,1\n"), HasSubstr("negative"));
    for (const char* time : {"0", "-1", "nan", "inf", "1us", "1e999"}) {
        EXPECT_THAT(refusal(header + "H200,x,gemm,bf16,m=1;n=1;k=1," + time + "\n"),
                    HasSubstr("is not a positive number"));
    }
    EXPECT_THAT(refusal(header + "H200,,gemm,bf16,m=1;n=1;k=1,1\n"),
                HasSubstr("provider is empty"));
    EXPECT_THAT(refusal(header + "H200,a/b,gemm,bf16,m=1;n=1;k=1,1\n"), HasSubstr("'a/b'"));
}

class Database : public ::testing::Test {
   protected:
    // A run of one gemm at this time; returns nothing, the store keeps it.
    void add_run(const std::string& id, const std::string& driver, const std::string& at,
                 const std::vector<double>& times_ns, const std::string& gpu = "NVIDIA H200") {
        Environment e;
        e.device_kind = "cuda";
        e.gpu = gpu;
        e.driver = driver;
        e.memory_bytes = 150'000'000'000;
        etalon::Run run;
        run.run_id = id;
        run.started_at = at;
        run.suite = "llm";
        run.device = "cuda:0";
        run.options = "{}";
        run.floor_ns = 1000;
        store.begin_run(e, run, {});
        for (const double time : times_ns) {
            Measurement m;
            m.key = {{"gemm", Precision::bf16,
                      Axes({{.name = "m"}, {.name = "n"}, {.name = "k"}},
                           {{"m", 64}, {"n", 4096}, {"k", 4096}}, "gemm")},
                     "cublaslt",
                     "",
                     L2Mode::cold};
            m.samples.assign(16, {time, 1900});
            m.time_ns = Estimate{time, time * 0.98, time * 1.02};
            store.add(id, m);
        }
        store.end_run(id, RunState::finished, at);
    }
    std::vector<KernelSet> load(const std::vector<std::string>& by = {}) {
        return load_kernels(store, "r.db", {}, by);
    }

    TemporaryFolder folder;
    std::string path = folder.path("r.db");
    Store store = Store::open(path, Store::Mode::create);
};

TEST_F(Database, TheLatestRunOfACaseCountsLessTheEmptyWindow) {
    add_run("a", "580", "2026-12-01T00:00:00.000Z", {21000});
    add_run("b", "590", "2026-12-02T00:00:00.000Z", {26000});
    const auto sets = load();
    ASSERT_EQ(sets.size(), 1U);
    ASSERT_EQ(sets[0].kernels.size(), 1U);
    EXPECT_EQ(sets[0].kernels[0].time_ns.value, 25000);
    EXPECT_EQ(sets[0].memory_bytes, 150e9);
    const auto apart = load({"driver"});
    ASSERT_EQ(apart.size(), 2U);
    EXPECT_EQ(apart[0].group_text(), "driver=580");
    EXPECT_EQ(apart[0].kernels[0].time_ns.value, 20000);
}

TEST_F(Database, RepeatsNarrowTheInterval) {
    add_run("a", "580", "2026-12-01T00:00:00.000Z", {21000});
    const Estimate one = load()[0].kernels[0].time_ns;
    add_run("b", "580", "2026-12-02T00:00:00.000Z", {21000, 21000, 21000, 21000});
    const Estimate four = load()[0].kernels[0].time_ns;
    EXPECT_EQ(one.value, four.value);
    EXPECT_NEAR((four.hi - four.lo) / (one.hi - one.lo), 0.5, 1e-9);
}

TEST_F(Database, ACaseThatWasIncorrectInARunIsNotCountedFromIt) {
    add_run("a", "580", "2026-12-01T00:00:00.000Z", {21000});
    add_run("b", "580", "2026-12-02T00:00:00.000Z", {15000});
    Measurement wrong;
    wrong.key = {{"gemm", Precision::bf16,
                  Axes({{.name = "m"}, {.name = "n"}, {.name = "k"}},
                       {{"m", 64}, {"n", 4096}, {"k", 4096}}, "gemm")},
                 "cublaslt",
                 "",
                 L2Mode::cold};
    wrong.status = Status::incorrect;
    wrong.reason = "rel_error";
    store.add("b", wrong);
    EXPECT_EQ(load().at(0).kernels.at(0).time_ns.value, 20000);
}

TEST_F(Database, TwoCardsMustBeToldApart) {
    add_run("a", "580", "2026-12-01T00:00:00.000Z", {21000});
    add_run("b", "580", "2026-12-02T00:00:00.000Z", {30000}, "NVIDIA H100 80GB HBM3");
    const auto sets_of = [&](Sources sources) {
        sources.database = path;
        return gather(sources, shipped_cards());
    };
    EXPECT_THROW((void)sets_of({}), Error);
    EXPECT_EQ(sets_of({.by = {"gpu"}}).size(), 2U);
    EXPECT_EQ(sets_of({.gpu = "h100"})[0].kernels[0].time_ns.value, 29000);
    EXPECT_THROW((void)sets_of({.gpu = "B200"}), Error);
    EXPECT_THROW((void)sets_of({.by = {"diver"}}), Error);
}

TEST_F(Database, AnImportedTableOfTheSameCardAddsToItsKernels) {
    add_run("a", "580", "2026-12-01T00:00:00.000Z", {21000});
    (void)import_kernels(store, parse_kernel_csv(header + row, "k.csv")[0], "k.csv");
    const auto sets = gather({.database = path}, shipped_cards());
    ASSERT_EQ(sets.size(), 1U);
    EXPECT_EQ(sets[0].gpu, "NVIDIA H200");
    EXPECT_EQ(sets[0].memory_bytes, 150e9);
    EXPECT_EQ(sets[0].kernels.size(), 2U);
}

TEST_F(Database, AnImportedTableComesBackAsItWas) {
    const auto sets = parse_kernel_csv(
        header + row + "H200,nccl-2.29,all_reduce,half,gpus=2;elements=512,6\n", "k.csv");
    const std::string id = import_kernels(store, sets[0], "k.csv");
    EXPECT_TRUE(store.verify().problems.empty()) << store.verify().problems.front();
    EXPECT_EQ(store.run(id).suite, "import");
    EXPECT_THAT(store.plan(id), ElementsAre("gemm/fp8/m=64,n=4096,k=4096/trtllm+dynamic/cold",
                                            "all_reduce/fp16/gpus=2,elements=512/nccl-2.29/cold"));
    const auto back = load();
    ASSERT_EQ(back.size(), 1U);
    ASSERT_EQ(back[0].kernels.size(), 2U);
    const Kernel& gemm = back[0].kernels[1];
    EXPECT_EQ(gemm.problem_id(), "gemm/fp8/m=64,n=4096,k=4096");
    EXPECT_EQ(gemm.variant, "dynamic");
    EXPECT_EQ(gemm.time_ns, sets[0].kernels[0].time_ns);
}

TEST(Card, IsFoundByItsWordsAndElseMadeOfItsKernels) {
    const auto cards = shipped_cards();
    EXPECT_EQ(card_of(cards, {.gpu = "NVIDIA H200"}).copy_gb_s, 4263);
    EXPECT_EQ(card_of(cards, {.gpu = "h200_sxm"}).name, "H200");
    EXPECT_EQ(card_of(cards, {.gpu = "NVIDIA H100 80GB HBM3"}).name, "H100");
    EXPECT_EQ(card_of(cards, {.gpu = "NVIDIA H100 PCIe"}).name, "H100 PCIe");
    EXPECT_EQ(card_of(cards, {.gpu = "H200", .memory_bytes = 1.5e11}).memory_bytes, 1.5e11);
    KernelSet unknown{.gpu = "Xeon"};
    EXPECT_THROW((void)card_of(cards, unknown), Error);
    unknown.kernels = {{"copy",
                        Precision::fp32,
                        "libc",
                        "",
                        L2Mode::cold,
                        {{"n", 1000000}},
                        {100000, 99000, 101000},
                        20},
                       {"gemm",
                        Precision::fp32,
                        "onednn",
                        "",
                        L2Mode::cold,
                        {{"m", 100}, {"n", 100}, {"k", 100}},
                        {20000, 19000, 21000},
                        20}};
    const Card made = card_of(cards, unknown);
    EXPECT_DOUBLE_EQ(made.copy_gb_s, 80);
    EXPECT_DOUBLE_EQ(made.tflops.at(Precision::fp32), 0.1);
}

}  // namespace
}  // namespace etalon::cost
