// Reading the small TOML files of results/: every fault names file, line and key.
#pragma once

#include <fmt/format.h>

#include <toml++/toml.h>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::cost {

// One [[entry]] of a file.
class TomlEntry {
   public:
    TomlEntry(const std::string& file, const toml::table& table) : file_(file), table_(table) {}

    [[nodiscard]] Error fault(const toml::node& node, const std::string& what) const {
        return usage_error(fmt::format("{}:{}: {}", file_, node.source().begin.line, what));
    }
    void only(const std::vector<std::string>& known) const {
        for (const auto& [key, node] : table_) {
            const std::string text(key.str());
            if (std::find(known.begin(), known.end(), text) == known.end()) {
                throw fault(node, unknown_name("key", text, known));
            }
        }
    }
    [[nodiscard]] const toml::node& need(std::string_view key) const {
        const toml::node* node = table_.get(key);
        if (node == nullptr) throw fault(table_, fmt::format("'{}' is missing", key));
        return *node;
    }
    [[nodiscard]] std::string text(std::string_view key) const {
        const toml::node& node = need(key);
        const auto value = node.value_exact<std::string>();
        if (!value || trim(*value).empty())
            throw fault(node, fmt::format("'{}' must be text", key));
        return *value;
    }
    // Positive and finite.
    [[nodiscard]] double number(std::string_view key) const { return number(key, need(key)); }
    [[nodiscard]] double number(std::string_view key, const toml::node& node) const {
        const auto value = node.is_number() ? node.value<double>() : std::nullopt;
        if (!value || !std::isfinite(*value) || !(*value > 0)) {
            throw fault(node, fmt::format("'{}' must be a positive number", key));
        }
        return *value;
    }
    [[nodiscard]] const toml::table& table() const { return table_; }

   private:
    const std::string& file_;
    const toml::table& table_;
};

// Calls `each` with every [[name]] of the text.
template <typename Function>
void each_toml_entry(std::string_view text, const std::string& file, std::string_view name,
                     Function each) {
    toml::table root;
    try {
        root = toml::parse(text);
    } catch (const toml::parse_error& error) {
        throw usage_error(fmt::format("{}:{}: {}", file, error.source().begin.line,
                                      one_line(std::string(error.description()))));
    }
    for (const auto& [key, node] : root) {
        if (key.str() != name || node.as_array() == nullptr) {
            throw usage_error(fmt::format("{}:{}: write [[{}]] entries, not '{}'", file,
                                          node.source().begin.line, name,
                                          std::string_view(key.str())));
        }
        for (const toml::node& element : *node.as_array()) {
            const toml::table* table = element.as_table();
            if (table == nullptr) {
                throw usage_error(fmt::format("{}:{}: write [[{}]] entries", file,
                                              element.source().begin.line, name));
            }
            each(TomlEntry(file, *table));
        }
    }
}

}  // namespace etalon::cost
