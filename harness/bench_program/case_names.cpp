#include "harness/bench_program/case_names.h"

#include <algorithm>

namespace etalon::bench_program {

bool CaseNames::ReportContext(const Context& context) {
    // The library sets this reporter's streams, and only once it is about to report.
    inner_.SetOutputStream(&GetOutputStream());
    inner_.SetErrorStream(&GetErrorStream());
    Context narrower = context;
    narrower.name_field_width -= std::min(suffix_, narrower.name_field_width);
    return inner_.ReportContext(narrower);
}

void CaseNames::ReportRuns(const std::vector<Run>& runs) {
    std::vector<Run> renamed = runs;
    for (Run& run : renamed) {
        benchmark::BenchmarkName name;
        name.function_name = run.run_name.function_name;
        run.run_name = name;
    }
    inner_.ReportRuns(renamed);
}

void CaseNames::Finalize() {
    inner_.Finalize();
    failed_ = !GetOutputStream().flush();
}

std::unique_ptr<benchmark::BenchmarkReporter> make_file_reporter(const std::string& format) {
    if (format == "json") return std::make_unique<benchmark::JSONReporter>();
    if (format == "console") {
        return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
    }
// Deprecated by the library, and still what --benchmark_out_format=csv asks for.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
}

}  // namespace etalon::bench_program
