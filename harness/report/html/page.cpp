// Puts the data into the page.
#include <fmt/format.h>

#include "harness/report/html/page_assets.h"
#include "harness/report/html/page_data.h"

namespace etalon::report {

std::string json_for_html(const nlohmann::json& value) {
    const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string out;
    out.reserve(text.size() + text.size() / 64);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = std::string_view(text).substr(i);
        if (text[i] == '<') {
            out += "\\u003c";
        } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
            out += rest.starts_with("\u2028") ? "\\u2028" : "\\u2029";
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string html_page(const nlohmann::json& data) {
    const PageAssets assets = page_assets();
    std::string page(assets.before_data);
    page += json_for_html(data);
    page += assets.after_data;
    return page;
}

}  // namespace etalon::report
