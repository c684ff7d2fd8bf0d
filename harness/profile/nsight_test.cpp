#include "harness/profile/nsight.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "harness/core/error.h"
#include "harness/testing/scratch.h"

namespace etalon::profile {
namespace {

using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::HasSubstr;

const Job job{"/opt/etalon/bin/etalon", "copy/fp32/n=1000/etalon/cold", "cuda:1", L2Mode::cold};

TEST(Nsight, BoundsWhatIsRecordedByTheRangeAndLeavesTheClocks) {
    const std::string line = shell_line(report_command(Tool::ncu, "/usr/bin/ncu", job, "out"));
    EXPECT_THAT(line, HasSubstr("--nvtx --nvtx-include etalon@profile/ --clock-control none"));
    EXPECT_THAT(line, HasSubstr("--cache-control all"));
    EXPECT_THAT(line, EndsWith("--export out /opt/etalon/bin/etalon profile "
                               "copy/fp32/n=1000/etalon/cold --here --device cuda:1"));
    EXPECT_THAT(shell_line(report_command(Tool::nsys, "nsys", job, "out")),
                HasSubstr("--capture-range=nvtx --nvtx-capture=profile@etalon"));
}

TEST(Nsight, KeepsTheCachesOfAHotCase) {
    Job hot = job;
    hot.l2 = L2Mode::hot;
    EXPECT_THAT(shell_line(counters_command("ncu", hot, {"a.sum", "b.avg"})),
                HasSubstr("--cache-control none --csv --page raw --print-units base "
                          "--metrics a.sum,b.avg /opt/etalon/bin/etalon"));
}

TEST(ShellLine, QuotesWhatAShellWouldChange) {
    const std::vector<std::string> words = {"a b", "it's", "$HOME", "*", "", "plain-1.0/x=y,z@q"};
    EXPECT_EQ(shell_line(words), "'a b' 'it'\\''s' '$HOME' '*' '' plain-1.0/x=y,z@q");
    std::vector<std::string> command = {"/usr/bin/printf", "%s\n"};
    command.insert(command.end(), words.begin(), words.end());
    EXPECT_EQ(run(command).out, "a b\nit's\n$HOME\n*\n\nplain-1.0/x=y,z@q\n");
}

TEST(Run, TellsHowItEnded) {
    EXPECT_EQ(run({"sh", "-c", "exit 3"}).code, 3);
    EXPECT_EQ(run({"sh", "-c", "kill -9 $$"}).code, 128 + 9);
    EXPECT_EQ(run({"/no/such/program"}).code, 127);
}

TEST(FindTool, LooksAlongThePath) {
    const TemporaryFolder folder;
    const std::string file = folder.write("ncu", "#!/bin/sh\n");
    const std::string before = std::getenv("PATH");
    setenv("PATH", (folder.path("none") + ":" + folder.path("")).c_str(), 1);
    EXPECT_NE(find_tool(Tool::ncu).value_or(""), file);  // not to be run
    chmod(file.c_str(), 0755);
    EXPECT_THAT(find_tool(Tool::ncu).value_or(""), EndsWith("/ncu"));
    EXPECT_EQ(std::string(find_tool(Tool::ncu).value_or("")).rfind(folder.path(""), 0), 0U);
    setenv("PATH", before.c_str(), 1);
}

TEST(ParseTool, NamesThoseItKnows) {
    EXPECT_EQ(parse_tool("nsys"), Tool::nsys);
    EXPECT_THROW((void)parse_tool("perf"), Error);
}

}  // namespace
}  // namespace etalon::profile
