#include "harness/sweep/suite.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/core/text.h"

namespace etalon {
namespace {

namespace fs = std::filesystem;

// Of one grid. A year's nights are shorter.
constexpr std::size_t most_points = 1'000'000;

std::vector<fs::path> suite_folders() {
    std::vector<fs::path> folders;
    if (const char* chosen = std::getenv("ETALON_SUITES"); chosen != nullptr && *chosen != '\0') {
        if (!fs::is_directory(chosen)) {
            throw usage_error(fmt::format(
                "ETALON_SUITES names '{}', which is no folder; unset it, or name one", chosen));
        }
        folders.emplace_back(chosen);
    }
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        folders.push_back(program.parent_path() / "suites");
        folders.push_back(program.parent_path().parent_path() / "share/etalon/suites");
    }
    folders.emplace_back(ETALON_SOURCE_SUITES);
    return folders;
}

// A fault at a place in a suite's file.
Error fault(const std::string& file, const toml::source_region& where, const std::string& what) {
    return usage_error(fmt::format("{}:{}: {}", file, where.begin.line, what));
}

// Reads one [[grid]] of a suite.
class GridReader {
   public:
    GridReader(const std::string& file, const toml::table& grid, const Registry& registry,
               DeviceKind kind)
        : file_(file), grid_(grid), registry_(registry), kind_(kind) {
        static const std::vector<std::string> known = {"op",     "precision", "providers", "l2",
                                                       "device", "axes",      "points"};
        for (const auto& [key, node] : grid_) {
            const std::string text(key.str());
            if (std::find(known.begin(), known.end(), text) == known.end()) {
                throw fault(file_, node.source(), unknown_name("key of a grid", text, known));
            }
        }
    }

    void add_to(std::vector<Case>& cases, std::set<std::string>& seen) const {
        const std::vector<std::string> devices = strings("device", {"cuda", "host"});
        const std::vector<std::string> kinds = {"cuda", "host"};
        for (const std::string& device : devices) {
            if (std::find(kinds.begin(), kinds.end(), device) == kinds.end()) {
                throw fault(file_, source("device"), unknown_name("device", device, kinds));
            }
        }
        if (std::find(devices.begin(), devices.end(), name(kind_)) == devices.end()) return;
        if (!grid_.contains("op")) throw fault(file_, grid_.source(), "a grid needs op = \"...\"");
        const std::vector<std::string> names = strings("op", {});
        for (const std::string& op_name : names) add_op(op_name, cases, seen);
    }

   private:
    // Adds file and line to a usage Error from below.
    template <typename Function>
    decltype(auto) at(const char* key, Function function) const {
        try {
            return function();
        } catch (const Error& error) {
            throw fault(file_, source(key), error.what());
        }
    }

    void add_op(const std::string& op_name, std::vector<Case>& cases,
                std::set<std::string>& seen) const {
        const Op& op = at("op", [&]() -> const Op& { return registry_.op(op_name); });
        std::vector<std::string> all_precisions_of_op;
        for (const Precision p : op.precisions()) all_precisions_of_op.emplace_back(name(p));
        const std::vector<std::vector<Axis>> points = expand();
        for (const std::string& precision : strings("precision", all_precisions_of_op)) {
            const Precision parsed = at("precision", [&] {
                const Precision p = parse_precision(precision);
                check_precision(op, p);
                return p;
            });
            for (const std::vector<Axis>& point : points) {
                Problem problem{op_name, parsed,
                                at(points_key(), [&] { return Axes(op.axes(), point, op_name); })};
                for (const std::string& l2 : strings("l2", {"cold"})) {
                    const L2Mode mode = at("l2", [&] { return parse_l2(l2); });
                    for (const auto& [provider, variant] : providers(op_name)) {
                        Case key{problem, provider, variant, mode};
                        if (seen.insert(key.id()).second) cases.push_back(std::move(key));
                    }
                }
            }
        }
    }

    // Names of this device's providers; those of the other kind of device are passed over, names
    // that neither has are a fault.
    std::vector<std::pair<std::string, std::string>> providers(const std::string& op) const {
        std::vector<std::pair<std::string, std::string>> out;
        if (!grid_.contains("providers")) {
            for (const Provider* p : registry_.providers(op, kind_))
                out.emplace_back(p->name(), "");
            return out;
        }
        const DeviceKind other = kind_ == DeviceKind::cuda ? DeviceKind::host : DeviceKind::cuda;
        for (const std::string& text : strings("providers", {})) {
            const std::size_t plus = text.find('+');
            const std::string provider = text.substr(0, plus);
            const std::string variant = plus == std::string::npos ? "" : text.substr(plus + 1);
            const auto named = [&](DeviceKind kind) -> const Provider* {
                for (const Provider* p : registry_.providers(op, kind)) {
                    if (p->name() == provider) return p;
                }
                return nullptr;
            };
            if (const Provider* here = named(kind_)) {
                at("providers", [&] { check_variant(*here, variant); });
                out.emplace_back(provider, variant);
            } else if (named(other) == nullptr && !known_elsewhere(provider)) {
                at("providers", [&] { (void)registry_.provider(op, provider, kind_); });
            }
        }
        return out;
    }

    // A build without CUDA does not have the GPU's providers; suites name them all the same.
    static bool known_elsewhere(const std::string& provider) {
        static const std::set<std::string> gpu = {"cublaslt", "cudnn", "cudart"};
        return gpu.contains(provider);
    }

    [[nodiscard]] const char* points_key() const {
        return grid_.contains("points") ? "points" : "axes";
    }

    // Every combination of `axes`, or the `points` as they stand.
    std::vector<std::vector<Axis>> expand() const {
        if (const toml::node* node = grid_.get("points")) {
            if (grid_.contains("axes")) {
                throw fault(file_, source("axes"), "a grid has axes or points, not both");
            }
            const toml::array* list = node->as_array();
            if (list == nullptr || list->empty()) {
                throw fault(file_, node->source(), "points must be a list of tables, not empty");
            }
            std::vector<std::vector<Axis>> points;
            for (const toml::node& element : *list) {
                const toml::table* table = element.as_table();
                if (table == nullptr) {
                    throw fault(file_, element.source(), "a point must be a table, as in {m = 64}");
                }
                std::vector<Axis> point;
                for (const auto& [key, value] : *table) {
                    point.push_back({std::string(key.str()), integer(value, key.str())});
                }
                points.push_back(std::move(point));
            }
            return points;
        }
        const toml::node* node = grid_.get("axes");
        if (node == nullptr) throw fault(file_, grid_.source(), "a grid needs axes or points");
        const toml::table* table = node->as_table();
        if (table == nullptr) {
            throw fault(file_, node->source(), "axes must be a table, as in {m = [1, 64]}");
        }
        std::vector<std::vector<Axis>> points = {{}};
        for (const auto& [key, value] : *table) {
            std::vector<std::int64_t> values;
            if (const toml::array* list = value.as_array()) {
                if (list->empty()) {
                    throw fault(file_, value.source(),
                                fmt::format("axis {} has no value", key.str()));
                }
                if (points.size() * list->size() > most_points) {
                    throw fault(file_, value.source(),
                                fmt::format("the grid has over {} points; write fewer values",
                                            most_points));
                }
                for (const toml::node& element : *list) {
                    values.push_back(integer(element, key.str()));
                }
            } else {
                values.push_back(integer(value, key.str()));
            }
            std::vector<std::vector<Axis>> grown;
            for (const std::vector<Axis>& point : points) {
                for (const std::int64_t v : values) {
                    grown.push_back(point);
                    grown.back().push_back({std::string(key.str()), v});
                }
            }
            points = std::move(grown);
        }
        return points;
    }

    std::int64_t integer(const toml::node& node, std::string_view axis) const {
        const auto value = node.value_exact<std::int64_t>();
        if (!value) {
            throw fault(
                file_, node.source(),
                fmt::format("axis {} must be a whole number, not {}", axis, type_name(node)));
        }
        return *value;
    }

    std::vector<std::string> strings(const char* key, std::vector<std::string> fallback) const {
        const toml::node* node = grid_.get(key);
        if (node == nullptr) return fallback;
        const auto one = [&](const toml::node& element) {
            const auto text = element.value_exact<std::string>();
            if (!text) {
                throw fault(file_, element.source(),
                            fmt::format("{} must be text or a list of texts, not {}", key,
                                        type_name(element)));
            }
            return *text;
        };
        if (const toml::array* list = node->as_array()) {
            std::vector<std::string> out;
            for (const toml::node& element : *list) out.push_back(one(element));
            return out;
        }
        return {one(*node)};
    }

    static std::string type_name(const toml::node& node) {
        switch (node.type()) {
            case toml::node_type::string:
                return "text";
            case toml::node_type::integer:
                return "a whole number";
            case toml::node_type::floating_point:
                return "a fraction";
            case toml::node_type::boolean:
                return "true or false";
            case toml::node_type::table:
                return "a table";
            case toml::node_type::array:
                return "a list";
            default:
                return "a date or time";
        }
    }

    [[nodiscard]] toml::source_region source(const char* key) const {
        const toml::node* node = grid_.get(key);
        return node == nullptr ? grid_.source() : node->source();
    }

    const std::string& file_;
    const toml::table& grid_;
    const Registry& registry_;
    DeviceKind kind_;
};

fs::path find_suite(const std::string& name_or_path) {
    if (name_or_path.ends_with(".toml") || name_or_path.find('/') != std::string::npos) {
        if (!fs::is_regular_file(name_or_path)) {
            throw usage_error(fmt::format("there is no suite file '{}'", name_or_path));
        }
        return name_or_path;
    }
    for (const fs::path& folder : suite_folders()) {
        const fs::path path = folder / (name_or_path + ".toml");
        if (fs::is_regular_file(path)) return path;
    }
    throw usage_error(unknown_name("suite", name_or_path, suite_names()));
}

}  // namespace

std::vector<std::string> suite_names() {
    std::set<std::string> names;
    for (const fs::path& folder : suite_folders()) {
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
            if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
        }
    }
    return {names.begin(), names.end()};
}

Suite load_suite(const std::string& name_or_path, const Registry& registry, DeviceKind kind) {
    const fs::path path = find_suite(name_or_path);
    const std::string file = path.string();
    toml::table root;
    try {
        root = toml::parse_file(file);
    } catch (const toml::parse_error& error) {
        throw fault(file, error.source(), std::string(error.description()));
    }
    Suite suite{path.stem().string(), "", {}};
    std::set<std::string> seen;
    for (const auto& [key, node] : root) {
        if (key.str() == "description") {
            const auto text = node.value_exact<std::string>();
            if (!text) throw fault(file, node.source(), "description must be text");
            suite.description = *text;
        } else if (key.str() != "grid") {
            const std::vector<std::string> known = {"description", "grid"};
            throw fault(file, node.source(),
                        unknown_name("key of a suite", std::string(key.str()), known));
        }
    }
    const toml::node* grids = root.get("grid");
    if (grids == nullptr) throw usage_error(fmt::format("{}:1: a suite needs [[grid]]", file));
    const toml::array* list = grids->as_array();
    if (list == nullptr) throw fault(file, grids->source(), "write [[grid]], twice the brackets");
    for (const toml::node& element : *list) {
        const toml::table* grid = element.as_table();
        if (grid == nullptr) throw fault(file, element.source(), "write [[grid]] tables");
        GridReader(file, *grid, registry, kind).add_to(suite.cases, seen);
    }
    return suite;
}

}  // namespace etalon
