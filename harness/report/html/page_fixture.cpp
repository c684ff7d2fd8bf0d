// Writes the results files that html_test.py opens pages of: page_fixture FOLDER
//   empty.db    no run
//   one.db      one run of one case
//   nights.db   40 nights of a GPU: steps, a drift, a new driver, providers to compare
//   hostile.db  names and reasons that would break out of a page that is careless
#include <cmath>
#include <cstdio>
#include <functional>

#include "harness/stats/simulation.h"
#include "harness/store/test_support.h"

namespace etalon {
namespace {

constexpr int nights = 40, step_night = 25;

struct FixtureCase {
    std::string id;
    double time_ns, elasticity, flop, bytes;
};

std::vector<FixtureCase> fixture_cases() {
    std::vector<FixtureCase> all;
    for (const int m : {64, 512, 4096}) {
        for (const int n : {1024, 4096}) {
            const double flop = 2.0 * m * n * 4096;
            const double bytes = 2.0 * (double(m) * n + 4096.0 * (m + n));
            for (const char* provider : {"etalon", "cublaslt"}) {
                const std::string id =
                    fmt::format("gemm/bf16/m={},n={},k=4096/{}/cold", m, n, provider);
                all.push_back({id, 3e3 + flop / 6e5, 0.8, flop, bytes});
            }
        }
    }
    for (const int rows : {64, 1024, 16384}) {
        const double bytes = 4.0 * rows * 4096;
        for (const char* provider : {"etalon", "cudnn"}) {
            all.push_back({fmt::format("softmax/bf16/rows={},cols=4096/{}/cold", rows, provider),
                           3e3 + bytes / 4e3, 0.1, 5.0 * rows * 4096, bytes});
        }
    }
    all.push_back({"copy/bf16/n=33554432/etalon/cold", 33e3, 0.05, 0, 134217728});
    return all;
}

Measurement measured(const FixtureCase& each, double time_ns, stats::Simulation& random) {
    Measurement m = store_test::measurement(0);
    m.key = store::parse_stored_case(each.id);
    m.samples.clear();
    for (int i = 0; i < 40; ++i) {
        const double clock = 1700 + 60 * random.normal();
        const double own = time_ns * std::exp(0.004 * random.normal());
        m.samples.push_back({own * std::pow(1980 / clock, each.elasticity), clock});
    }
    m.norm_time_ns = Estimate{time_ns, 0.998 * time_ns, 1.002 * time_ns};
    const double raw = time_ns * std::pow(1980.0 / 1700, each.elasticity);
    m.time_ns = Estimate{raw, 0.998 * raw, 1.002 * raw};
    m.elasticity = Estimate{each.elasticity, each.elasticity - 0.03, each.elasticity + 0.03};
    m.clock_mhz = 1650 + 100 * random.uniform();
    m.flop = each.flop;
    m.bytes_min = each.bytes;
    return m;
}

// From night 25 on a driver is new and gemm of our own a twentieth slower; softmax of 64 rows
// drifts; the last run has a case that failed and one that is unsupported.
void make_nights(const std::string& path) {
    stats::Simulation random(11);
    Store store = Store::open(path, Store::Mode::create);
    for (int night = 0; night < nights; ++night) {
        const std::string driver = night < step_night ? "580.95" : "590.10";
        Run run = store_test::run(
            fmt::format("run{:04}", night),
            fmt::format("2026-{:02}-{:02}T02:00:00.000Z", 10 + night / 28, 1 + night % 28));
        run.revision = fmt::format("{:07x}", 0xabc0000 + night / 5);
        run.tag = night == nights - 1 ? "latest" : "";
        store.begin_run(store_test::environment(driver), run, {});
        for (const FixtureCase& each : fixture_cases()) {
            double time = each.time_ns * std::exp(0.002 * random.normal());
            const bool ours = each.id.find("/etalon/") != std::string::npos;
            if (night >= step_night && ours && each.id.starts_with("gemm")) time *= 1.05;
            if (each.id.starts_with("softmax/bf16/rows=64,")) time *= std::pow(1.002, night);
            store.add(run.run_id, measured(each, time, random));
        }
        Measurement m = store_test::measurement(0);
        m.key = store::parse_stored_case("layernorm/bf16/rows=64,cols=4096/cudnn/cold");
        m.status = night == nights - 1 ? Status::failed : Status::unsupported;
        m.reason = night == nights - 1 ? "out of memory" : "cuDNN is not there";
        m.samples.clear();
        m.time_ns = m.norm_time_ns = m.elasticity = std::nullopt;
        store.add(run.run_id, m);
        for (std::size_t i = 0; i + 1 < fixture_cases().size(); i += 2) {
            const double ratio = 0.6 + 0.12 * double(i);
            store.add(run.run_id, Ratio{fixture_cases()[i].id,
                                        fixture_cases()[i + 1].id,
                                        {ratio, 0.99 * ratio, 1.01 * ratio}});
        }
        store.end_run(run.run_id, RunState::finished, run.started_at);
    }
}

void make_one(const std::string& path) {
    stats::Simulation random(12);
    Store store = Store::open(path, Store::Mode::create);
    const Run run = store_test::run("run0001");
    store.begin_run(store_test::environment(), run, {});
    store.add(run.run_id, measured(fixture_cases()[0], 20e3, random));
    store.end_run(run.run_id, RunState::finished, run.started_at);
}

// `window.broken` is what a page that let one of these through would set.
void make_hostile(const std::string& path) {
    const std::string script = "</script><script>window.broken=1</script><!--";
    const std::string image = "<img src=x onerror=window.broken=1>\"'`${window.broken=1}";
    stats::Simulation random(13);
    Store store = Store::open(path, Store::Mode::create);
    for (int night = 0; night < 6; ++night) {
        Environment environment = store_test::environment(image + std::to_string(night / 3));
        environment.gpu = "GPU " + script + " \U0001F525";
        environment.extra["=cmd|' /C calc'!A0"] = script;
        Run run = store_test::run(fmt::format("run{:04}", night),
                                  fmt::format("2026-12-{:02}T02:00:00.000Z", 1 + night));
        run.host_name = image;
        run.tag = "tag " + script;
        run.suite = "suite" + image;
        run.revision = image;
        store.begin_run(environment, run, {});
        const std::vector<std::string> ids = {
            "gemm" + image + "/bf16/m=1/<b>bold<b>+=1+1|calc/cold",
            "=HYPERLINK(\"x\")/bf16/m=2/\U0001F600 \u2028line'quote/cold",
            "gemm|`pipe`/bf16/m=3/" + std::string(10000, 'x') + "/cold"};
        for (const std::string& id : ids) {
            store.add(run.run_id,
                      measured({id, 20e3, 0.5, 1e9, 1e6}, 20e3 * (night < 3 ? 1 : 1.2), random));
        }
        Measurement m = store_test::measurement(0);
        m.key = store::parse_stored_case("bad/bf16/m=4/etalon/cold");
        m.status = Status::failed;
        m.reason = script + image + std::string(10000, '"') + "\xff\xfe | \U0001F4A9";
        m.samples.clear();
        m.time_ns = m.norm_time_ns = m.elasticity = std::nullopt;
        store.add(run.run_id, m);
        store.add(run.run_id, Ratio{ids[0], ids[1], {1.2, 1.1, 1.3}});
        store.end_run(run.run_id, RunState::finished, run.started_at);
    }
}

void make_all(const std::string& folder) {
    { (void)Store::open(folder + "/empty.db", Store::Mode::create); }
    make_one(folder + "/one.db");
    make_nights(folder + "/nights.db");
    make_hostile(folder + "/hostile.db");
}

}  // namespace
}  // namespace etalon

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: page_fixture FOLDER\n", stderr);
        return 2;
    }
    try {
        etalon::make_all(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "page_fixture: %s\n", error.what());
        return 4;
    }
}
