#include "harness/cli/program.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::cli {
namespace {

int report_error(const char* name, const char* message, ExitCode code) {
    // Not fmt::print: it throws where stderr cannot be written, and nobody is left to catch it.
    std::fputs(fmt::format("{}: {}\n", name, one_line(message)).c_str(), stderr);
    return static_cast<int>(code);
}

// Short output is still in the buffer here; a full disk must not pass for success.
void finish_output() {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    throw device_error(fmt::format("cannot write the output: {}",
                                   errno != 0 ? std::strerror(errno) : "the disk may be full"));
}

}  // namespace

int run_program(const char* name, const std::function<int()>& run) {
    try {
        const int code = run();
        finish_output();
        return code;
    } catch (const Error& error) {
        return report_error(name, error.what(), error.code());
    } catch (const std::exception& error) {
        return report_error(name, error.what(), ExitCode::device_failure);
    }
}

}  // namespace etalon::cli
