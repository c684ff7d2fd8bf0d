#include <fmt/format.h>

#include <algorithm>

#include "harness/cost/render.h"
#include "harness/report/text.h"

namespace etalon::cost {
namespace {

// Characters, not bytes: every byte but UTF-8's continuations.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string padded(const std::string& text, std::size_t width, bool left) {
    const std::string blanks(width - std::min(width, width_of(text)), ' ');
    return left ? text + blanks : blanks + text;
}

std::string csv_field(const nlohmann::ordered_json& value) {
    if (value.is_null()) return "";
    if (value.is_array()) {
        std::string out;
        for (const auto& each : value) {
            out += (out.empty() ? "" : "; ") +
                   (each.is_string() ? each.get<std::string>() : each.dump());
        }
        return csv_field(out);
    }
    if (!value.is_string()) return value.dump();
    const auto text = value.get<std::string>();
    if (text.find_first_of("\",\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

}  // namespace

std::string TextTable::text() const {
    std::vector<std::size_t> widths;
    for (const std::string& title : header) widths.push_back(width_of(title));
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(row[i]));
        }
    }
    std::string out;
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string text;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text += (i == 0 ? "" : "  ") + padded(cells[i], widths[i], left[i]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    };
    line(header);
    for (const auto& row : rows) line(row);
    return out;
}

std::string TextTable::markdown() const {
    std::string out = "|", rule = "|";
    for (std::size_t i = 0; i < header.size(); ++i) {
        out += " " + report::cell(header[i]) + " |";
        rule += left[i] ? "---|" : "---:|";
    }
    out += "\n" + rule + "\n";
    for (const auto& row : rows) {
        out += "|";
        for (const std::string& text : row) out += " " + report::cell(text) + " |";
        out += "\n";
    }
    return out;
}

std::string csv_of(const nlohmann::ordered_json& rows) {
    std::string out;
    if (rows.empty()) return out;
    for (const auto& [key, value] : rows.front().items()) out += (out.empty() ? "" : ",") + key;
    out += "\n";
    for (const auto& row : rows) {
        std::string line;
        bool first = true;
        for (const auto& [key, value] : row.items()) {
            if (!first) line += ',';
            first = false;
            line += csv_field(value);
        }
        out += line + "\n";
    }
    return out;
}

}  // namespace etalon::cost
