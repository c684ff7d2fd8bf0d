#include "harness/testing/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace etalon::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

int open_for_writing(const std::string& path) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) fail(path);
    return descriptor;
}

// Between fork and exec: nothing but system calls.
[[noreturn]] void become(const char* folder, char* const* command, char* const* environment,
                         int out, int err) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (chdir(folder) == 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(err, STDERR_FILENO) >= 0) {
        execve(command[0], command, environment);
    }
    _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

std::vector<std::string> plain_environment() {
    std::vector<std::string> all = {"ETALON_PROGRAM=" ETALON_PROGRAM};
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!text.starts_with("ETALON_")) all.push_back(text);
    }
    return all;
}

}  // namespace

Child::Child(const TemporaryFolder& folder, const std::vector<std::string>& command,
             const std::string& stdout_path) {
    // Beside the folder, so that tests can say what the program left in it.
    static int number = 0;
    const std::string beside = fmt::format("{}.{}", folder.at().string(), ++number);
    out_ = stdout_path.empty() ? beside + ".out" : stdout_path;
    err_ = beside + ".err";
    std::vector<std::string> arguments = command, variables = plain_environment();
    const std::vector<char*> argv = pointers(arguments), envp = pointers(variables);
    const int out = open_for_writing(out_), err = open_for_writing(err_);
    pid_ = fork();
    if (pid_ == 0) become(folder.at().c_str(), argv.data(), envp.data(), out, err);
    close(out);
    close(err);
    if (pid_ < 0) fail("fork");
}

Child::~Child() {
    if (!reaped_) {
        send(SIGKILL);
        (void)waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    if (fs::is_regular_file(out_, ignored)) fs::remove(out_, ignored);
    fs::remove(err_, ignored);
}

void Child::send(int signal) const {
    if (!reaped_) kill(pid_, signal);
}

void Child::keep(int status) {
    reaped_ = true;
    if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
    if (WIFEXITED(status)) outcome_.code = WEXITSTATUS(status);
    outcome_.out = read_file(out_);
    outcome_.err = read_file(err_);
}

bool Child::ended() {
    int status = 0;
    if (!reaped_ && waitpid(pid_, &status, WNOHANG) == pid_) keep(status);
    return reaped_;
}

Outcome Child::wait() {
    int status = 0;
    while (!reaped_) {
        if (waitpid(pid_, &status, 0) == pid_) {
            keep(status);
        } else if (errno != EINTR) {
            fail("waitpid");
        }
    }
    return outcome_;
}

std::vector<std::string> etalon_command(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {ETALON_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

Outcome etalon(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
               const std::string& stdout_path) {
    return Child(folder, etalon_command(arguments), stdout_path).wait();
}

Outcome shell(const TemporaryFolder& folder, const std::string& line) {
    return Child(folder, {"/bin/bash", "-c", line}).wait();
}

}  // namespace etalon::cli
