#include "harness/options/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/text.h"
#include "harness/options/number_options.h"

namespace etalon::cli {

void ModelOptions::add_to(CLI::App& command) {
    command
        .add_option("--model", models,
                    "config.json, its folder, or a model of results/models; may be repeated")
        ->type_name("MODEL");
    const auto numbers = [&](const char* name, std::vector<std::int64_t>& list, std::int64_t most,
                             const char* help) {
        added_.push_back(command.add_option(name, list, help)
                             ->delimiter(',')
                             ->capture_default_str()
                             ->type_name("N,...")
                             ->check(whole_between(1, most)));
    };
    numbers("--batch", batch, 65536, "Requests in flight");
    numbers("--isl,--context", isl, std::int64_t{1} << 22, "Input tokens of a request");
    numbers("--osl", osl, std::int64_t{1} << 22, "Output tokens of a request");
    numbers("--tp", tp, 1024, "GPUs that each layer is split over");
    added_.push_back(command.add_option("--ep", ep, "Of these, GPUs that share the experts")
                         ->capture_default_str()
                         ->type_name("N")
                         ->check(whole_between(1, 1024)));
    added_.push_back(command.add_option("--chunk", chunk, "Prefill in chunks of this many tokens")
                         ->type_name("TOKENS")
                         ->check(whole_between(1, std::int64_t{1} << 22)));
    added_.push_back(command.add_option("--kv", kv, "Precision of the KV cache: bf16, fp16 or fp8")
                         ->capture_default_str()
                         ->type_name("PRECISION"));
    added_.push_back(
        command.add_option("--scales", scales, "Scales of fp8 and int8 inputs: static or dynamic")
            ->check(CLI::IsMember({"static", "dynamic"}))
            ->capture_default_str());
}

bool ModelOptions::any() const {
    return std::any_of(added_.begin(), added_.end(),
                       [](const CLI::Option* option) { return option->count() > 0; });
}

cost::Grid ModelOptions::grid(const std::vector<std::string>& precisions) const {
    if (models.empty()) {
        throw usage_error(fmt::format("--model is missing; give a config.json or one of {}",
                                      join(cost::model_names(), ", ")));
    }
    cost::Grid grid;
    for (const std::string& model : models) grid.models.push_back(cost::load_model(model));
    if (!precisions.empty()) {
        grid.precisions.clear();
        for (const std::string& text : precisions) grid.precisions.push_back(parse_precision(text));
    }
    grid.kv_precision = parse_precision(kv);
    if (*grid.kv_precision != Precision::bf16 && *grid.kv_precision != Precision::fp16 &&
        *grid.kv_precision != Precision::fp8) {
        throw usage_error(fmt::format("--kv {} is not supported; give bf16, fp16 or fp8", kv));
    }
    grid.static_scales = scales == "static";
    grid.tp.clear();
    for (const std::int64_t each : tp) grid.tp.push_back(static_cast<int>(each));
    grid.ep = static_cast<int>(ep);
    grid.batches = batch;
    grid.isl = isl;
    grid.osl = osl;
    grid.chunk = chunk;
    for (const cost::Model& model : grid.models) {
        for (const int each : grid.tp) {
            cost::check_layout(
                model, cost::layout_of(grid, grid.precisions.front(), each, cost::Impl::best));
        }
    }
    return grid;
}

namespace {

const Op* find(const Registry& registry, std::string_view name) {
    for (const auto& op : registry.ops()) {
        if (op->name() == name) return op.get();
    }
    return nullptr;
}

// The operator as a problem of this build; nullopt where it has no such op, precision or axes.
std::optional<Problem> problem_of(const Registry& registry, const cost::Operator& each) {
    const Op* op = find(registry, each.op);
    if (op == nullptr) return std::nullopt;
    const std::vector<Precision> precisions = op->precisions();
    if (std::find(precisions.begin(), precisions.end(), each.precision) == precisions.end()) {
        return std::nullopt;
    }
    try {
        return Problem{each.op, each.precision, Axes(op->axes(), each.axes, each.op)};
    } catch (const Error&) {  // declared with other axes than those of cost/op_table
        return std::nullopt;
    }
}

}  // namespace

std::vector<Case> llm_cases(const cost::Grid& grid, const Registry& registry, DeviceKind kind) {
    std::set<cost::Step> steps;
    for (const std::int64_t isl : grid.isl) {
        for (const std::int64_t osl : grid.osl) {
            for (const std::int64_t batch : grid.batches) {
                for (const cost::Step& step :
                     cost::steps_of({isl, osl, grid.cache_hit, grid.chunk}, batch)) {
                    steps.insert(step);
                }
            }
        }
    }
    std::vector<Case> cases;
    std::set<std::string> seen;
    const auto add = [&](const Problem& problem) {
        if (!seen.insert(problem.id()).second) return;
        for (const Provider* provider : registry.providers(problem.op, kind)) {
            const std::vector<std::string> variants = provider->variants();
            cases.push_back({problem, std::string(provider->name()), "", L2Mode::cold});
            if (std::find(variants.begin(), variants.end(), "first") != variants.end()) {
                cases.push_back({problem, std::string(provider->name()), "first", L2Mode::cold});
            }
        }
    };
    for (const cost::Model& model : grid.models) {
        for (const Precision precision : grid.precisions) {
            for (const int tp : grid.tp) {
                for (const cost::Impl impl : {cost::Impl::best, cost::Impl::framework}) {
                    const cost::Layout layout = cost::layout_of(grid, precision, tp, impl);
                    for (const cost::Step& step : steps) {
                        for (const cost::Operator& each : cost::compose(model, step, layout)) {
                            if (const auto problem = problem_of(registry, each)) add(*problem);
                        }
                    }
                }
            }
        }
    }
    return cases;
}

std::string sweep_command(const cost::Grid& grid, const std::vector<std::string>& models,
                          const std::string& database) {
    std::string out = "etalon sweep --suite llm";
    for (const std::string& model : models) out += " --model " + model;
    const auto list = [&](const char* flag, const auto& values) {
        out += fmt::format(" {} {}", flag, fmt::join(values, ","));
    };
    for (const Precision precision : grid.precisions) {
        out += fmt::format(" --precision {}", name(precision));
    }
    list("--batch", grid.batches);
    list("--isl", grid.isl);
    list("--osl", grid.osl);
    list("--tp", grid.tp);
    if (grid.ep != 1) out += fmt::format(" --ep {}", grid.ep);
    if (grid.chunk != 0) out += fmt::format(" --chunk {}", grid.chunk);
    if (grid.kv_precision.value_or(Precision::bf16) != Precision::bf16) {
        out += fmt::format(" --kv {}", name(*grid.kv_precision));
    }
    if (grid.static_scales) out += " --scales static";
    return out + " --db " + database;
}

}  // namespace etalon::cli
