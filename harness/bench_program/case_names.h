// Names that are case ids. Google Benchmark writes how it measured into every name
// ("<id>/iterations:40/manual_time"), so the same case would have another name after another
// --launches, and no service could match it with etalon's.
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

namespace etalon::bench_program {

// Passes on to another reporter what is reported, under the bare name.
class CaseNames final : public benchmark::BenchmarkReporter {
   public:
    // `suffix` is the length of what the library appends: the name's column is so much narrower.
    CaseNames(benchmark::BenchmarkReporter& inner, std::size_t suffix)
        : inner_(inner), suffix_(suffix) {}
    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& runs) override;
    void Finalize() override;
    // Could something not be written? Known after Finalize.
    [[nodiscard]] bool failed() const { return failed_; }

   private:
    benchmark::BenchmarkReporter& inner_;
    std::size_t suffix_;
    bool failed_ = false;
};

// console, json or csv.
[[nodiscard]] std::unique_ptr<benchmark::BenchmarkReporter> make_file_reporter(
    const std::string& format);

}  // namespace etalon::bench_program
