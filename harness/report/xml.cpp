#include "harness/report/xml.h"

#include <fmt/format.h>

#include "harness/report/text.h"

namespace etalon::report {
std::string xml_text(std::string_view raw) {
    const std::string text = valid_utf8(raw);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const std::string_view rest = std::string_view(text).substr(i);
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '"') {
            out += "&quot;";
        } else if (c == '\n' || c == '\r' || c == '\t') {
            out += fmt::format("&#{};", static_cast<int>(c));
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\uFFFD";
        } else if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
            out += "\uFFFD";
            i += 2;
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace etalon::report
