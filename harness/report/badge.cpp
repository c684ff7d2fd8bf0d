#include "harness/report/badge.h"

#include <fmt/format.h>

#include "harness/report/xml.h"

namespace etalon::report {
namespace {

struct Word {
    std::string text;
    const char* colour;  // white text keeps 4.5 : 1 on each
};

Word word_of(const Report& report) {
    constexpr const char *blue = "#0063a5", *orange = "#b34700", *grey = "#5c6670";
    const auto count_of = [&](Status status) {
        const auto found = report.counts.find(status);
        return found == report.counts.end() ? 0 : found->second;
    };
    if (const int incorrect = count_of(Status::incorrect); incorrect > 0) {
        return {fmt::format("{} incorrect", incorrect), orange};
    }
    if (!report.changes) return {"no baseline", grey};
    const gate::GateResult& result = *report.changes;
    switch (result.exit) {
        case ExitCode::ok:
            return {fmt::format("fine, {} cases", result.comparison.changes.size()), blue};
        case ExitCode::regression:
            return {fmt::format("{} slower", result.comparison.count(gate::Verdict::slower)),
                    orange};
        case ExitCode::device_failure:
            return {fmt::format("{} failed", result.comparison.count(gate::Verdict::failed)),
                    orange};
        default:
            return {"cannot decide", grey};
    }
}

}  // namespace

std::string badge_svg(const Report& report) {
    const Word word = word_of(report);
    // Wide enough for 11 px DejaVu Sans, the widest of the usual fonts.
    const auto width = [](const std::string& text) {
        return 12 + static_cast<int>(7.2 * double(text.size()));
    };
    const std::string left = "etalon";
    const int left_px = width(left), right_px = width(word.text);
    return fmt::format(
        R"svg(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="20" role="img" aria-label="{1}: {2}">
<title>{1}: {2}</title>
<clipPath id="round"><rect width="{0}" height="20" rx="3"/></clipPath>
<g clip-path="url(#round)"><rect width="{3}" height="20" fill="#31383f"/><rect x="{3}" width="{4}" height="20" fill="{5}"/></g>
<g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11"><text x="{6}" y="14">{1}</text><text x="{7}" y="14">{2}</text></g>
</svg>
)svg",
        left_px + right_px, left, xml_text(word.text), left_px, right_px, word.colour,
        left_px / 2.0, left_px + right_px / 2.0);
}

}  // namespace etalon::report
