#include "harness/profile/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::profile {
namespace {

constexpr std::string_view duration = "gpu__time_duration.sum";
constexpr std::string_view sm_active = "sm__cycles_active.avg";
constexpr std::string_view sm_elapsed = "sm__cycles_elapsed.avg";
constexpr std::string_view dram_bytes = "dram__bytes.sum";
constexpr std::string_view dram_share = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view occupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr std::string_view of_elapsed = ".avg.pct_of_peak_sustained_elapsed";
// Cycles of the tensor pipe where it is counted as one; else its instructions.
constexpr std::array tensor_pipes = {
    std::string_view("sm__pipe_tensor_cycles_active"),
    std::string_view("sm__inst_executed_pipe_tensor"),
};

// The base of "sm__cycles_active.avg" is "sm__cycles_active": what the listing names.
std::string_view base(std::string_view metric) {
    return metric.substr(0, metric.find('.'));
}

bool lists(std::string_view listing, std::string_view metric) {
    for (const std::string& line : split(listing, '\n')) {
        if (line.starts_with(metric) &&
            (line.size() == metric.size() || line[metric.size()] == ' ')) {
            return true;
        }
    }
    return false;
}

// Fields of one line, RFC 4180.
std::vector<std::string> fields(std::string_view line) {
    std::vector<std::string> all(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            all.back() += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            all.emplace_back();
        } else if (c != '\r') {
            all.back() += c;
        }
    }
    return all;
}

// "1,234.5" as ncu groups digits.
std::optional<double> number(std::string text) {
    std::erase(text, ',');
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

using Row = std::map<std::string, std::string>;

std::optional<double> value(const Row& row, std::string_view metric) {
    const auto found = row.find(std::string(metric));
    return found == row.end() ? std::nullopt : number(found->second);
}

// Mean over kernels, weighted by their time; empty where one has none.
class Mean {
   public:
    void add(std::optional<double> each, double weight) {
        missing_ |= !each;
        sum_ += each.value_or(0) * weight;
        weight_ += weight;
    }
    [[nodiscard]] std::optional<double> get() const {
        return missing_ || weight_ <= 0 ? std::nullopt : std::optional(sum_ / weight_);
    }

   private:
    double sum_ = 0, weight_ = 0;
    bool missing_ = false;
};

std::optional<double> ratio(std::optional<double> a, std::optional<double> b) {
    return a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt;
}

std::optional<double> share(std::optional<double> percent) {
    return percent ? std::optional(*percent / 100) : std::nullopt;
}

}  // namespace

std::vector<std::string> choose_metrics(std::string_view listing) {
    std::vector<std::string> chosen;
    for (const std::string_view metric :
         {duration, sm_active, sm_elapsed, dram_bytes, dram_share, occupancy}) {
        if (lists(listing, base(metric))) chosen.emplace_back(metric);
    }
    for (const std::string_view pipe : tensor_pipes) {
        if (!lists(listing, pipe)) continue;
        chosen.push_back(fmt::format("{}{}", pipe, of_elapsed));
        break;
    }
    return chosen;
}

Counters parse_counters(std::string_view output) {
    std::vector<std::string> header;
    std::vector<Row> rows;
    std::string said;
    for (const std::string& line : split(output, '\n')) {
        if (!line.starts_with('"')) {
            if (line.starts_with("==ERROR==")) said += trim(line.substr(9)) + " ";
            continue;
        }
        const std::vector<std::string> cells = fields(line);
        if (header.empty()) {
            header = cells;
            continue;
        }
        Row row;
        for (std::size_t i = 0; i < std::min(cells.size(), header.size()); ++i) {
            row[header[i]] = cells[i];
        }
        if (value(row, "ID")) rows.push_back(std::move(row));  // else the line of units
    }
    if (rows.empty()) {
        throw device_error(
            fmt::format("Nsight Compute counted no kernel{}; without permission for counters see "
                        "developer.nvidia.com/ERR_NVGPUCTRPERM",
                        said.empty() ? "" : ": " + trim(said)));
    }
    Counters all;
    Mean active, tensor, dram, warps;
    std::optional<double> bytes = 0;
    for (const Row& row : rows) {
        const double time_ns = value(row, duration).value_or(0);
        all.duration_ns += time_ns;
        const auto kernel = row.find("Kernel Name");
        all.kernels.push_back(kernel == row.end() ? "" : kernel->second);
        active.add(ratio(value(row, sm_active), value(row, sm_elapsed)), time_ns);
        dram.add(share(value(row, dram_share)), time_ns);
        warps.add(share(value(row, occupancy)), time_ns);
        std::optional<double> pipe;
        for (const std::string_view name : tensor_pipes) {
            if (!pipe) pipe = share(value(row, fmt::format("{}{}", name, of_elapsed)));
        }
        tensor.add(pipe, time_ns);
        const std::optional<double> moved = value(row, dram_bytes);
        bytes = bytes && moved ? std::optional(*bytes + *moved) : std::nullopt;
    }
    all.sm_active = active.get();
    all.tensor_active = tensor.get();
    all.dram_bytes = bytes;
    all.dram_share = dram.get();
    all.occupancy = warps.get();
    return all;
}

}  // namespace etalon::profile
