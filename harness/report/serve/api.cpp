#include "harness/report/serve/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/gate/load.h"
#include "harness/gate/sides.h"
#include "harness/report/badge.h"
#include "harness/report/changes.h"
#include "harness/report/history.h"
#include "harness/report/html/page_data.h"
#include "harness/report/roofline.h"
#include "harness/report/runs.h"
#include "harness/report/text.h"
#include "harness/report/top.h"

namespace etalon::serve {
namespace {

using nlohmann::json;

constexpr std::size_t most_cached = 8;

std::optional<std::string> parameter(const Query& query, const std::string& name) {
    const auto found = query.find(name);
    return found == query.end() || found->second.empty() ? std::nullopt
                                                         : std::optional(found->second);
}

std::string need(const Query& query, const std::string& name, std::string_view example) {
    if (const auto value = parameter(query, name)) return *value;
    throw usage_error(fmt::format("parameter '{}' is missing, as in {}", name, example));
}

std::size_t whole(const Query& query, const std::string& name, std::size_t otherwise) {
    const auto text = parameter(query, name);
    if (!text) return otherwise;
    std::size_t value = 0;
    const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (fault != std::errc() || end != text->data() + text->size() || value > 1'000'000) {
        throw usage_error(fmt::format("parameter '{}' must be a whole number up to 1000000", name));
    }
    return value;
}

void only(const Query& query, const std::vector<std::string>& known) {
    for (const auto& [name, value] : query) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw usage_error(
                known.empty() ? fmt::format("no parameter is taken here, not '{}'", one_line(name))
                              : unknown_name("parameter", one_line(name), known));
        }
    }
}

Answer json_answer(const json& value) {
    return {200, "application/json", report::dump(value) + "\n"};
}

json error_json(const std::string& text) {
    return {{"error", one_line(text)}};
}

// State of the file and its log: what is committed changes at least one of the two.
std::string stamp(const std::string& database) {
    std::string out;
    for (const char* suffix : {"", "-wal"}) {
        std::error_code fault;
        const std::filesystem::path path = database + suffix;
        const auto size = std::filesystem::file_size(path, fault);
        if (fault) continue;
        const auto time = std::filesystem::last_write_time(path, fault);
        out += fmt::format("{} {};", size, time.time_since_epoch().count());
    }
    return out;
}

json history_answer(const Store& store, const Query& query) {
    const std::string pattern = need(query, "case", "/api/history?case=gemm/bf16/*");
    std::vector<std::string> ids;
    for (std::string& id : store.case_ids()) {
        if (id == pattern || glob_match(pattern, id)) ids.push_back(std::move(id));
    }
    if (ids.empty()) throw usage_error(fmt::format("no case matches '{}'", pattern));
    const NightValues values = store.night_values({}, ids);
    return report::history_json(history::lines_of(values), values, whole(query, "limit", 0));
}

json compare_answer(const Store& store, const Query& query) {
    constexpr std::string_view example = "/api/compare?a=cudnn=9.14&b=cudnn=9.19";
    const gate::Sides sides =
        gate::choose_sides(store, need(query, "a", example), need(query, "b", example));
    json out = report::changes_json(
        gate::compare(gate::load_runs(store, sides.before), gate::load_runs(store, sides.after)));
    out["format"] = "etalon.compare/1";
    for (const auto& [key, runs] :
         {std::pair("reference", &sides.before), std::pair("candidate", &sides.after)}) {
        out[key] = json::array();
        for (const Run& run : *runs) out[key].push_back(run.run_id);
    }
    return out;
}

json findings_answer(const Store& store) {
    const NightValues values = store.night_values();
    const auto lines = history::lines_of(values);
    return report::findings_json(lines, history::clusters_of(lines), values);
}

json gate_answer(const Store& store, const Query& query) {
    gate::GateOptions options;
    options.run = parameter(query, "run");
    return report::gate_json(gate::gate(store, options));
}

json top_answer(const Store& store, const Query& query) {
    const report::Report of = report::load_run_report(store, parameter(query, "run"));
    report::TopOptions options;
    options.most = whole(query, "limit", 20);
    options.best = parameter(query, "best").value_or("0") == "1";
    return report::top_json(of, report::top_rows(of, options));
}

using Handler = std::function<Answer(const Store&, const Query&)>;

struct Route {
    std::vector<std::string> parameters;
    Handler handler;
};

report::Report whole_report(const Store& store, const Query& query) {
    return report::load_report(store, parameter(query, "run"));
}

const std::map<std::string, Route>& plain_routes() {
    static const std::map<std::string, Route> routes = {
        {"/report.md",
         {{"run"},
          [](const Store& store, const Query& query) {
              return Answer{200, "text/markdown; charset=utf-8",
                            report::report_markdown(whole_report(store, query))};
          }}},
        {"/report.csv",
         {{"run"},
          [](const Store& store, const Query& query) {
              return Answer{200, "text/csv; charset=utf-8",
                            report::report_csv(whole_report(store, query))};
          }}},
        {"/report.xml",
         {{"run"},
          [](const Store& store, const Query& query) {
              return Answer{200, "application/xml",
                            report::report_junit(whole_report(store, query))};
          }}},
        {"/badge.svg",
         {{"run"},
          [](const Store& store, const Query& query) {
              return Answer{200, "image/svg+xml", report::badge_svg(whole_report(store, query))};
          }}},
        {"/api/runs",
         {{},
          [](const Store& store, const Query&) {
              return json_answer(report::runs_list_json(store.runs()));
          }}},
        {"/api/cases",
         {{},
          [](const Store& store, const Query&) {
              return json_answer({{"format", "etalon.cases/1"}, {"cases", store.case_ids()}});
          }}},
        {"/api/report",
         {{"run"},
          [](const Store& store, const Query& query) {
              return json_answer(report::report_json(whole_report(store, query)));
          }}},
        {"/api/top",
         {{"run", "limit", "best"},
          [](const Store& store, const Query& query) {
              return json_answer(top_answer(store, query));
          }}},
        {"/api/roofline",
         {{"run"},
          [](const Store& store, const Query& query) {
              return json_answer(report::roofline_json(
                  report::roofline(report::load_run_report(store, parameter(query, "run")))));
          }}},
        {"/api/history",
         {{"case", "limit"},
          [](const Store& store, const Query& query) {
              return json_answer(history_answer(store, query));
          }}},
        {"/api/gate",
         {{"run"},
          [](const Store& store, const Query& query) {
              return json_answer(gate_answer(store, query));
          }}},
        {"/api/compare",
         {{"a", "b"},
          [](const Store& store, const Query& query) {
              return json_answer(compare_answer(store, query));
          }}},
    };
    return routes;
}

}  // namespace

Api::Api(std::string database, std::vector<cost::Card> cards)
    : database_(std::move(database)), cards_(std::move(cards)) {}

Answer Api::get(std::string_view target) {
    try {
        return answer(parse_target(target));
    } catch (const Error& error) {
        const int status = error.code() == ExitCode::usage ? 400 : 500;
        return {status, "application/json", report::dump(error_json(error.what())) + "\n"};
    } catch (const std::exception& error) {
        return {500, "application/json", report::dump(error_json(error.what())) + "\n"};
    }
}

Answer Api::answer(const Target& target) {
    const auto route = plain_routes().find(target.path);
    const bool slow =
        target.path == "/" || target.path == "/api/page" || target.path == "/api/findings";
    if (route == plain_routes().end() && !slow) {
        return {404, "application/json",
                report::dump(error_json("nothing is here; see etalon serve --help")) + "\n"};
    }
    if (slow) {
        only(target.query, target.path == "/api/findings" ? std::vector<std::string>{}
                                                          : std::vector<std::string>{"run"});
        return cached(target, Store::open(database_, Store::Mode::read));
    }
    only(target.query, route->second.parameters);
    return route->second.handler(Store::open(database_, Store::Mode::read), target.query);
}

Answer Api::cached(const Target& target, const Store& store) {
    const std::string run = parameter(target.query, "run").value_or("");
    const std::string key = fmt::format("{}\n{}\n{}", target.path, run, stamp(database_));
    const std::lock_guard lock(mutex_);  // two visitors of one page make it once
    for (const Cached& each : cache_) {
        if (each.key == key) return each.answer;
    }
    Answer made;
    if (target.path == "/api/findings") {
        made = json_answer(findings_answer(store));
    } else {
        report::PageOptions options;
        options.run = parameter(target.query, "run");
        options.cards = cards_;
        const json data = report::page_data(store, options);
        made = target.path == "/" ? Answer{200, "text/html; charset=utf-8", report::html_page(data)}
                                  : json_answer(data);
    }
    if (cache_.size() == most_cached) cache_.erase(cache_.begin());
    cache_.push_back({key, made});
    return made;
}

Target parse_target(std::string_view target) {
    const auto decode = [](std::string_view text, bool plus) {
        std::string out;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '+' && plus) {
                out += ' ';
            } else if (text[i] == '%') {
                unsigned value = 0;
                const std::string_view hex = text.substr(i + 1, 2);
                const auto [end, fault] =
                    std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
                if (hex.size() != 2 || fault != std::errc() || end != hex.data() + 2) {
                    throw usage_error("the address holds a bad % escape");
                }
                out += static_cast<char>(value);
                i += 2;
            } else {
                out += text[i];
            }
        }
        return out;
    };
    if (!target.starts_with('/')) throw usage_error("the address must begin with /");
    const std::size_t mark = target.find('?');
    Target out{decode(target.substr(0, mark), false), {}};
    if (mark == std::string_view::npos) return out;
    for (const std::string& part : split(target.substr(mark + 1), '&')) {
        if (part.empty()) continue;
        const std::size_t equals = part.find('=');
        const std::string name = decode(std::string_view(part).substr(0, equals), true);
        const std::string value = equals == std::string::npos
                                      ? ""
                                      : decode(std::string_view(part).substr(equals + 1), true);
        if (!out.query.emplace(name, value).second) {
            throw usage_error(fmt::format("parameter '{}' is there twice", one_line(name)));
        }
    }
    return out;
}

}  // namespace etalon::serve
