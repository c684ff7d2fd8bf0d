// Kernel tables of others, as CSV.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/cost/data_files.h"
#include "harness/cost/kernels.h"
#include "harness/cost/op_table.h"

namespace etalon::cost {
namespace {

enum Column { gpu, provider, op_name, precision, axes, time_us, time_lo_us, time_hi_us, samples };
constexpr std::array column_names = {"gpu",     "provider",   "op",         "precision", "axes",
                                     "time_us", "time_lo_us", "time_hi_us", "samples"};
constexpr std::size_t needed = 6;

// Fields of one line; a quoted one may hold commas and doubled quotes (RFC 4180, no line breaks).
std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quoted) {
            if (c != '"') {
                fields.back() += c;
            } else if (i + 1 < line.size() && line[i + 1] == '"') {
                fields.back() += line[++i];
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    for (std::string& field : fields) field = trim(field);
    return fields;
}

class CsvReader {
   public:
    explicit CsvReader(const std::string& file) : file_(file) { at_.fill(-1); }

    std::vector<KernelSet> read(std::string_view text) {
        std::size_t begin = 0;
        while (begin < text.size()) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            std::string_view line = text.substr(begin, end - begin);
            begin = end + 1;
            ++line_;
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
            if (line.empty()) continue;
            if (!header_read_) {
                header(fields_of(line));
            } else {
                row(fields_of(line));
            }
        }
        if (sets_.empty()) {
            throw usage_error(
                fmt::format("{}: no kernel in it; the header is {}", file_, join_names()));
        }
        return std::move(sets_);
    }

   private:
    [[noreturn]] void fail(const std::string& what) const {
        throw usage_error(fmt::format("{}:{}: {}", file_, line_, one_line(what)));
    }
    static std::string join_names() {
        std::vector<std::string> names(column_names.begin(), column_names.begin() + needed);
        return join(names, ",");
    }

    void header(const std::vector<std::string>& names) {
        const std::vector<std::string> known(column_names.begin(), column_names.end());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto found = std::find(known.begin(), known.end(), names[i]);
            if (found == known.end()) fail(unknown_name("column", names[i], known));
            int& at = at_[static_cast<std::size_t>(found - known.begin())];
            if (at >= 0) fail(fmt::format("column '{}' stands twice", names[i]));
            at = static_cast<int>(i);
        }
        for (std::size_t i = 0; i < needed; ++i) {
            if (at_[i] < 0) {
                fail(fmt::format("column '{}' is missing; the header is {}", column_names[i],
                                 join_names()));
            }
        }
        columns_ = names.size();
        header_read_ = true;
    }

    [[nodiscard]] std::string text(const std::vector<std::string>& fields, Column column) const {
        return at_[column] < 0 ? "" : fields[static_cast<std::size_t>(at_[column])];
    }
    [[nodiscard]] double number(const std::string& field, Column column) const {
        double value = 0;
        const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
        if (error != std::errc{} || end != field.data() + field.size() || !(value > 0) ||
            !std::isfinite(value)) {
            fail(fmt::format("{} '{}' is not a positive number", column_names[column], field));
        }
        return value;
    }

    void row(const std::vector<std::string>& fields) {
        if (fields.size() != columns_) {
            fail(fmt::format("{} fields, the header has {}", fields.size(), columns_));
        }
        for (std::size_t i = 0; i < needed; ++i) {
            if (fields[static_cast<std::size_t>(at_[i])].empty()) {
                fail(fmt::format("{} is empty", column_names[i]));
            }
        }
        Kernel kernel;
        kernel.op = text(fields, op_name);
        kernel.provider = text(fields, provider);
        // They become parts of a case id.
        for (const std::string& part : {kernel.op, kernel.provider}) {
            if (part.find_first_of("/,; \t") != std::string::npos) {
                fail(fmt::format("'{}' has a blank, '/', ',' or ';' in it; write a plain name",
                                 part));
            }
        }
        if (const std::size_t plus = kernel.provider.find('+'); plus != std::string::npos) {
            kernel.variant = kernel.provider.substr(plus + 1);
            kernel.provider.resize(plus);
        }
        try {
            const std::string word = text(fields, precision);
            auto known = precisions_.find(word);
            if (known == precisions_.end()) {
                known = precisions_.emplace(word, parse_named_precision(word)).first;
            }
            const NamedPrecision& named = known->second;
            kernel.precision = named.precision;
            if (!named.variant.empty()) kernel.variant = named.variant;
            kernel.axes = parse_axes(text(fields, axes));
        } catch (const Error& error) {
            fail(error.what());
        }
        check_axes(kernel);
        const double us = number(text(fields, time_us), time_us);
        kernel.time_ns = {1e3 * us, 1e3 * us * (1 - imported_half_width),
                          1e3 * us * (1 + imported_half_width)};
        const std::string lo = text(fields, time_lo_us), hi = text(fields, time_hi_us);
        if (!lo.empty() && !hi.empty()) {
            kernel.time_ns.lo = 1e3 * number(lo, time_lo_us);
            kernel.time_ns.hi = 1e3 * number(hi, time_hi_us);
            if (kernel.time_ns.lo > kernel.time_ns.value ||
                kernel.time_ns.hi < kernel.time_ns.value) {
                fail("time_us is not between time_lo_us and time_hi_us");
            }
            kernel.samples = 1;
        }
        if (const std::string count = text(fields, samples); !count.empty()) {
            kernel.samples = static_cast<int>(std::min(number(count, samples), 1e9));
        }
        set_of(text(fields, gpu)).kernels.push_back(std::move(kernel));
    }

    void check_axes(const Kernel& kernel) const {
        const OpInfo* info = find_op(kernel.op);
        for (std::size_t i = 0; i < kernel.axes.size(); ++i) {
            const Axis& axis = kernel.axes[i];
            for (std::size_t j = 0; j < i; ++j) {
                if (kernel.axes[j].name == axis.name) {
                    fail(fmt::format("axis '{}' is given twice", axis.name));
                }
            }
            if (axis.value < 0) fail(fmt::format("axis {}={} is negative", axis.name, axis.value));
            if (info == nullptr) continue;
            const std::vector<std::string> known(info->axes.begin(), info->axes.end());
            if (axis.name != "pad" &&
                std::find(known.begin(), known.end(), axis.name) == known.end()) {
                fail(unknown_name(fmt::format("axis of {}", kernel.op), axis.name, known));
            }
        }
        if (info == nullptr) return;
        for (const char* name : info->axes) {
            const bool given = std::any_of(kernel.axes.begin(), kernel.axes.end(),
                                           [&](const Axis& axis) { return axis.name == name; });
            const std::string_view text = name;
            const bool may_be_left_out =
                text == "cached" || text == "window" || text == "value_dim" || text == "causal";
            if (!given && !may_be_left_out) {
                fail(fmt::format("axis '{}' of {} is missing", name, kernel.op));
            }
        }
    }

    KernelSet& set_of(const std::string& name) {
        if (const auto found = set_at_.find(name); found != set_at_.end()) {
            return sets_[found->second];
        }
        set_at_[name] = sets_.size();
        sets_.push_back({.gpu = name, .origins = {file_}});
        return sets_.back();
    }

    const std::string& file_;
    std::array<int, column_names.size()> at_{};
    std::size_t columns_ = 0;
    int line_ = 0;
    bool header_read_ = false;
    std::map<std::string, NamedPrecision> precisions_;
    std::map<std::string, std::size_t> set_at_;
    std::vector<KernelSet> sets_;
};

}  // namespace

std::vector<KernelSet> parse_kernel_csv(std::string_view text, const std::string& file) {
    return CsvReader(file).read(text);
}

std::vector<KernelSet> read_kernel_csv(const std::string& path) {
    return parse_kernel_csv(read_text(path), path);
}

}  // namespace etalon::cost
