#include "harness/sweep/case_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon {

CaseFilter::Pattern CaseFilter::compile(const std::string& text) {
    std::string expression;
    if (text.starts_with("re:")) {
        expression = text.substr(3);
    } else if (text.size() > 2 && text.front() == '/' && text.back() == '/') {
        expression = text.substr(1, text.size() - 2);
    } else {
        return {text, std::nullopt};
    }
    try {
        return {"", std::regex(expression, std::regex::ECMAScript | std::regex::optimize)};
    } catch (const std::regex_error& error) {
        throw usage_error(
            fmt::format("'{}' is not a regular expression ({}); a glob such as "
                        "'gemm/*' needs no re:",
                        expression, error.what()));
    }
}

CaseFilter::CaseFilter(const std::vector<std::string>& include,
                       const std::vector<std::string>& exclude) {
    for (const std::string& text : include) include_.push_back(compile(text));
    for (const std::string& text : exclude) exclude_.push_back(compile(text));
}

bool CaseFilter::Pattern::matches(const std::string& case_id) const {
    return expression ? std::regex_search(case_id, *expression) : glob_match(glob, case_id);
}

bool CaseFilter::matches(const std::string& case_id) const {
    const auto matching = [&](const Pattern& pattern) { return pattern.matches(case_id); };
    const bool in = include_.empty() || std::any_of(include_.begin(), include_.end(), matching);
    return in && std::none_of(exclude_.begin(), exclude_.end(), matching);
}

}  // namespace etalon
