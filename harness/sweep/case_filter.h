// Which cases: globs and regular expressions on case ids.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace etalon {

// Keeps cases whose id matches any include (all if none) and no exclude. `re:EXPR` and `/EXPR/` are
// ECMAScript expressions searched in the id; anything else is a glob over the whole id, in which
// '*' crosses '/'.
class CaseFilter {
   public:
    CaseFilter() = default;
    // Throws a usage Error for an expression that does not compile.
    CaseFilter(const std::vector<std::string>& include, const std::vector<std::string>& exclude);
    [[nodiscard]] bool matches(const std::string& case_id) const;

   private:
    struct Pattern {
        std::string glob;  // used when there is no expression
        std::optional<std::regex> expression;
        [[nodiscard]] bool matches(const std::string& case_id) const;
    };
    [[nodiscard]] static Pattern compile(const std::string& text);
    std::vector<Pattern> include_, exclude_;
};

}  // namespace etalon
