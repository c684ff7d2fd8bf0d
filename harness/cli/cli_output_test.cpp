// What every command says of itself, its machine output, and output that cannot be written.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "harness/store/store.h"
#include "harness/testing/child_process.h"

namespace etalon::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* recorded = ETALON_SOURCE "/results/recorded/h200.db";

// A file with one small run of the CPU, made once.
class Output : public ::testing::Test {
   protected:
    static void SetUpTestSuite() {
        folder_ = std::make_unique<TemporaryFolder>();
        sweep_ = etalon(*folder_,
                        {"sweep", "--json", "--device", "host", "--db", "small.db", "--case",
                         "copy/fp32/n=1000/etalon/hot", "--case", "copy/fp32/n=1000/libc/hot"});
    }
    static void TearDownTestSuite() { folder_.reset(); }

    static std::unique_ptr<TemporaryFolder> folder_;
    static Outcome sweep_;
};
std::unique_ptr<TemporaryFolder> Output::folder_;
Outcome Output::sweep_;

std::string recorded_run(std::size_t number) {
    return "run=" + Store::open(recorded, Store::Mode::read).runs().at(number).run_id;
}

std::vector<std::string> commands() {
    // The help lists them under "Subcommands:", each on a line of its own, indented by two.
    const TemporaryFolder folder;
    const std::string help = etalon(folder, {"--help"}).out;
    std::vector<std::string> found;
    std::istringstream lines(help.substr(help.find("Subcommands:")));
    for (std::string line; std::getline(lines, line);) {
        if (line.size() > 2 && line.starts_with("  ") && line[2] != ' ') {
            found.push_back(line.substr(2, line.find(' ', 2) - 2));
        }
    }
    return found;
}

TEST_F(Output, HelpOfEveryCommandNamesItsFlags) {
    const std::vector<std::string> all = commands();
    EXPECT_THAT(all, ::testing::IsSupersetOf({"doctor", "devices", "list", "sweep", "gate",
                                              "compare", "history", "report"}));
    for (const std::string& command : all) {
        const Outcome outcome = etalon(*folder_, {command, "--help"});
        EXPECT_EQ(outcome.code, 0) << command;
        EXPECT_THAT(outcome.err, IsEmpty()) << command;
        EXPECT_THAT(outcome.out, HasSubstr("--help")) << command;
        // A command of commands, such as db, has its flags one step further on.
        EXPECT_THAT(outcome.out, ::testing::AnyOf(HasSubstr("--json"), HasSubstr("Subcommands:")))
            << command;
    }
    EXPECT_THAT(etalon(*folder_, {"--help"}).out, HasSubstr("Exit codes:"));
    EXPECT_THAT(etalon(*folder_, {"--version"}).out, StartsWith("etalon "));
}

TEST_F(Output, JsonOfEveryCommandParsesAndNamesItsFormat) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> all = {
        {"etalon.doctor/1", {"doctor"}},
        {"etalon.devices/1", {"devices"}},
        {"etalon.list/1", {"list"}},
        {"etalon.list/1", {"list", "--device", "host", "--suite", "quick"}},
        {"etalon.plan/1", {"sweep", "--device", "host", "--dry-run"}},
        {"etalon.gate/1", {"gate", "--db", "small.db"}},
        {"etalon.compare/1", {"compare", "--db", recorded, recorded_run(0), recorded_run(1)}},
        {"etalon.history/1", {"history", "*", "--db", "small.db"}},
        {"etalon.runs/1", {"history", "--runs", "--db", "small.db"}},
        {"etalon.report/1", {"report", "--db", "small.db"}},
        {"etalon.report/1", {"report", "--db", recorded}},
        {"etalon.top/1", {"top", "--db", recorded}},
        {"etalon.roofline/1", {"roofline", "--db", recorded}},
    };
    for (auto [format, arguments] : all) {
        arguments.emplace_back("--json");
        const Outcome outcome = etalon(*folder_, arguments);
        const nlohmann::json parsed = nlohmann::json::parse(outcome.out, nullptr, false);
        ASSERT_TRUE(parsed.is_object()) << format << "\n" << outcome.out << outcome.err;
        EXPECT_EQ(parsed.value("format", ""), format);
        EXPECT_THAT(outcome.err, IsEmpty()) << format;
    }
}

TEST_F(Output, JsonOfASweepTellsHowItWent) {
    EXPECT_EQ(sweep_.code, 0) << sweep_.err;
    EXPECT_THAT(sweep_.err, IsEmpty());  // no progress beside JSON
    const nlohmann::json parsed = nlohmann::json::parse(sweep_.out, nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << sweep_.out;
    EXPECT_EQ(parsed["format"], "etalon.sweep/1");
    EXPECT_EQ(parsed["state"], "finished");
    EXPECT_EQ(parsed["ok"], 2);
    EXPECT_EQ(parsed["left"], 0);
    EXPECT_EQ(parsed["db"], "small.db");
    EXPECT_FALSE(parsed.contains("why_left"));
}

TEST_F(Output, AFullDiskIsAnErrorHoweverShortTheOutput) {
    const std::vector<std::vector<std::string>> all = {
        {"list"},
        {"devices"},
        {"--help"},
        {"--version"},
        {"list", "--help"},
        {"report", "--db", recorded},
        {"history", "gemm/*", "--db", recorded, "--json"},
        {"gate", "--db", "small.db"},
        {"sweep", "--device", "host", "--dry-run"},
    };
    for (const auto& arguments : all) {
        const Outcome outcome = etalon(*folder_, arguments, "/dev/full");
        EXPECT_EQ(outcome.code, 4) << arguments[0];
        EXPECT_THAT(outcome.err,
                    AllOf(StartsWith("etalon: cannot write"),
                          ::testing::AnyOf(HasSubstr("No space left"), HasSubstr("may be full"))));
        EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    }
    const Outcome file = etalon(*folder_, {"report", "--db", "small.db", "--out", "/dev/full"});
    EXPECT_EQ(file.code, 4);
    EXPECT_THAT(file.err, HasSubstr("cannot write '/dev/full'"));
    const Outcome nowhere = etalon(*folder_, {"report", "--db", "small.db", "--out", "/no/where"});
    EXPECT_EQ(nowhere.code, 2);
}

TEST_F(Output, AReaderThatLeavesEarlyCausesNoCrash) {
    const std::string db = fmt::format(" --db '{}'", recorded);
    const std::vector<std::string> lines = {"report" + db, "list --suite full --device host",
                                            "history '*' --json" + db};
    for (const std::string& line : lines) {
        const Outcome outcome =
            shell(*folder_, "$ETALON_PROGRAM " + line + " | head -n 1; exit ${PIPESTATUS[0]}");
        // 0 where all fitted into the pipe.
        EXPECT_THAT(outcome.code, ::testing::AnyOf(0, 128 + SIGPIPE)) << line << outcome.err;
        EXPECT_FALSE(outcome.out.empty());
    }
}

TEST_F(Output, AnUnwritableLogEndsNeitherAnErrorNorASweepInACrash) {
    EXPECT_EQ(shell(*folder_, "$ETALON_PROGRAM --bogus 2>/dev/full").code, 2);
    EXPECT_EQ(shell(*folder_, "$ETALON_PROGRAM --bogus 2>&-").code, 2);
    const Outcome sweep = shell(*folder_,
                                "$ETALON_PROGRAM sweep --device host --db log.db "
                                "--case copy/fp32/n=1000/libc/hot 2>/dev/full");
    EXPECT_EQ(sweep.code, 0);
    EXPECT_THAT(sweep.out, HasSubstr("1 ok, 0 unsupported, 0 failed, 0 incorrect"));
}

}  // namespace
}  // namespace etalon::cli
