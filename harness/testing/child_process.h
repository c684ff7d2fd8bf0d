// For tests: the built program as a child process, in a folder of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/testing/scratch.h"

namespace etalon::cli {

// How a program ended and what it wrote.
struct Outcome {
    int code = -1;   // exit code; -1 when a signal ended it
    int signal = 0;  // that signal
    std::string out, err;
};

// A running program: in the folder, with output in two files of it, and with no variable of etalon
// in its environment. Killed if nobody waits for it.
class Child {
   public:
    Child(const TemporaryFolder& folder, const std::vector<std::string>& command,
          const std::string& stdout_path = "");
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();
    [[nodiscard]] Outcome wait();
    // Has it ended? Never waits.
    [[nodiscard]] bool ended();
    void send(int signal) const;
    [[nodiscard]] std::string err() const { return read_file(err_); }

   private:
    void keep(int status);
    std::string out_, err_;
    pid_t pid_ = -1;
    bool reaped_ = false;
    Outcome outcome_;
};

// `etalon ARGUMENTS...` from beginning to end. `stdout_path`: where its output goes instead.
[[nodiscard]] Outcome etalon(const TemporaryFolder& folder,
                             const std::vector<std::string>& arguments,
                             const std::string& stdout_path = "");
// As `etalon`, not yet waited for.
[[nodiscard]] std::vector<std::string> etalon_command(const std::vector<std::string>& arguments);
// A line for the shell, in which $ETALON_PROGRAM is the program.
[[nodiscard]] Outcome shell(const TemporaryFolder& folder, const std::string& line);

}  // namespace etalon::cli
