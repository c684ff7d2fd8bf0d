#include <gmock/gmock.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "harness/store/test_support.h"

namespace etalon {
namespace {

using namespace store_test;
using testing::HasSubstr;

// Contracts of the machine output: other programs read these.
constexpr const char* measurements_header =
    "run_id,started_at,gpu,driver,cuda_runtime,cublas,cudnn,suite,case_id,op,precision,provider,"
    "variant,l2,axes,status,reason,samples,time_ns,time_lo_ns,time_hi_ns,norm_time_ns,norm_lo_ns,"
    "norm_hi_ns,clock_mhz,elasticity,elasticity_lo,elasticity_hi,flop,bytes_min,power_w,method\n";
constexpr const char* ratios_header =
    "run_id,case_id,baseline_case_id,op,precision,axes,ratio,ratio_lo,ratio_hi\n";

class Export : public testing::Test {
   protected:
    std::string text(const std::string& table, const std::string& format) {
        std::string out;
        Store::open(path, Store::Mode::read)
            .export_table(table, format, [&](std::string_view part) { out += part; });
        return out;
    }
    // One whole measurement, one with awkward text and nothing measured, and a ratio.
    void fill() {
        Store store = Store::open(path, Store::Mode::create);
        store.begin_run(environment(), run("run-a"), {});
        store.add("run-a", measurement(0));
        Measurement m;
        m.key = store::parse_stored_case("softmax/fp32/rows=1,cols=2/etalon+naive/hot");
        m.status = Status::failed;
        m.reason = "said \"no\", twice,\nthen left";
        store.add("run-a", m);
        store.add("run-a", Ratio{case_id(0), case_id(1), {1.25, 1.2, 1.0 / 3}});
    }
    TemporaryFolder folder;
    const std::string path = folder.path("results.db");
};

TEST_F(Export, MeasurementsAsCsv) {
    fill();
    EXPECT_EQ(text("measurements", "csv"),
              measurements_header +
                  std::string("run-a,2026-12-01T17:04:05.123Z,NVIDIA H200,580.159.04,13.0,13.1.0,"
                              "9.14.0,nightly,\"gemm/bf16/m=1,n=64,k=14336/cublaslt/cold\",gemm,"
                              "bf16,cublaslt,,cold,m=1;n=64;k=14336,ok,,64,27040,27008,27072,"
                              "22300.1234567,22290.5,22310.25,1634.5,0.79,0.75,0.83,1835008,"
                              "1835008,431.7,events/1\n"
                              "run-a,2026-12-01T17:04:05.123Z,NVIDIA H200,580.159.04,13.0,13.1.0,"
                              "9.14.0,nightly,\"softmax/fp32/rows=1,cols=2/etalon+naive/hot\","
                              "softmax,fp32,etalon,naive,hot,rows=1;cols=2,failed,"
                              "\"said \"\"no\"\", twice,\nthen left\",0,,,,,,,,,,,0,0,,\n"));
}

TEST_F(Export, MeasurementsAsJson) {
    fill();
    EXPECT_EQ(
        text("measurements", "json"),
        R"({"format":"etalon.measurements/1","rows":[)"
        "\n"
        R"({"run_id":"run-a","started_at":"2026-12-01T17:04:05.123Z","gpu":"NVIDIA H200",)"
        R"("driver":"580.159.04","cuda_runtime":"13.0","cublas":"13.1.0","cudnn":"9.14.0",)"
        R"("suite":"nightly","case_id":"gemm/bf16/m=1,n=64,k=14336/cublaslt/cold","op":"gemm",)"
        R"("precision":"bf16","provider":"cublaslt","variant":null,"l2":"cold",)"
        R"("axes":"m=1;n=64;k=14336","status":"ok","reason":null,"samples":64,"time_ns":27040,)"
        R"("time_lo_ns":27008,"time_hi_ns":27072,"norm_time_ns":22300.1234567,)"
        R"("norm_lo_ns":22290.5,"norm_hi_ns":22310.25,"clock_mhz":1634.5,"elasticity":0.79,)"
        R"("elasticity_lo":0.75,"elasticity_hi":0.83,"flop":1835008,"bytes_min":1835008,)"
        R"("power_w":431.7,"method":"events/1"},)"
        "\n"
        R"({"run_id":"run-a","started_at":"2026-12-01T17:04:05.123Z","gpu":"NVIDIA H200",)"
        R"("driver":"580.159.04","cuda_runtime":"13.0","cublas":"13.1.0","cudnn":"9.14.0",)"
        R"("suite":"nightly","case_id":"softmax/fp32/rows=1,cols=2/etalon+naive/hot",)"
        R"("op":"softmax","precision":"fp32","provider":"etalon","variant":"naive","l2":"hot",)"
        R"("axes":"rows=1;cols=2","status":"failed",)"
        R"("reason":"said \"no\", twice,\nthen left","samples":0,"time_ns":null,)"
        R"("time_lo_ns":null,"time_hi_ns":null,"norm_time_ns":null,"norm_lo_ns":null,)"
        R"("norm_hi_ns":null,"clock_mhz":null,"elasticity":null,"elasticity_lo":null,)"
        R"("elasticity_hi":null,"flop":0,"bytes_min":0,"power_w":null,"method":null})"
        "\n]}\n");
}

TEST_F(Export, Ratios) {
    fill();
    EXPECT_EQ(text("ratios", "csv"),
              ratios_header + std::string("run-a,\"gemm/bf16/m=1,n=64,k=14336/cublaslt/cold\","
                                          "\"gemm/bf16/m=2,n=64,k=14336/cublaslt/cold\",gemm,bf16,"
                                          "m=1;n=64;k=14336,1.25,1.2,0.3333333333333333\n"));
    EXPECT_EQ(text("ratios", "json"),
              R"({"format":"etalon.ratios/1","rows":[)"
              "\n"
              R"({"run_id":"run-a","case_id":"gemm/bf16/m=1,n=64,k=14336/cublaslt/cold",)"
              R"("baseline_case_id":"gemm/bf16/m=2,n=64,k=14336/cublaslt/cold","op":"gemm",)"
              R"("precision":"bf16","axes":"m=1;n=64;k=14336","ratio":1.25,"ratio_lo":1.2,)"
              R"("ratio_hi":0.3333333333333333})"
              "\n]}\n");
}

TEST_F(Export, OfAnEmptyFileIsItsHeader) {
    (void)Store::open(path, Store::Mode::create);
    EXPECT_EQ(text("measurements", "csv"), measurements_header);
    EXPECT_EQ(text("ratios", "csv"), ratios_header);
    EXPECT_EQ(nlohmann::json::parse(text("ratios", "json"))["rows"].size(), 0u);
}

TEST_F(Export, NumbersReadBackTheSame) {
    const std::vector<double> values = {
        0.1, 1.0 / 3, 1e-300, 1.7976931348623157e308, 5e-324, 123456789.123456789, 1e16, 1e21};
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-a"), {});
    for (std::size_t i = 0; i < values.size(); ++i) {
        Measurement m = measurement(static_cast<int>(i));
        m.flop = values[i];
        store.add("run-a", m);
    }
    std::vector<double> as_csv, as_json;
    for (const std::string& line : split(text("measurements", "csv"), '\n')) {
        if (!line.starts_with("run-a")) continue;
        const std::vector<std::string> fields = split(line, ',');
        const std::string& flop = fields[fields.size() - 4];
        double value = 0;
        std::from_chars(flop.data(), flop.data() + flop.size(), value);
        as_csv.push_back(value);
    }
    const auto document = nlohmann::json::parse(text("measurements", "json"));
    for (const auto& row : document["rows"]) {
        as_json.push_back(row["flop"]);
    }
    EXPECT_EQ(as_csv, values);
    EXPECT_EQ(as_json, values);
}

TEST_F(Export, TextThatIsNoUtf8StillMakesJson) {
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-a"), {});
    Measurement m = measurement(0);
    m.reason = "bad \xff byte\r";
    store.add("run-a", m);
    EXPECT_EQ(nlohmann::json::parse(text("measurements", "json"))["rows"].size(), 1u);
    EXPECT_THAT(text("measurements", "csv"), HasSubstr("\"bad \xff byte\r\""));
}

TEST_F(Export, UnknownNamesAreRefused) {
    (void)Store::open(path, Store::Mode::create);
    EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)text("ratio", "csv"); }),
                HasSubstr("did you mean 'ratios'"));
    EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)text("ratios", "xml"); }),
                HasSubstr("csv, json"));
}

}  // namespace
}  // namespace etalon
