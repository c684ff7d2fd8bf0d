#include "baselines/cudnn/graph.h"

#include <cuda_runtime_api.h>
#include <cudnn_frontend.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <iterator>
#include <set>

#include "baselines/cudnn/cudnn_api.h"
#include "bench/op.h"
#include "harness/core/text.h"

// Declared by cudnn-frontend and left to its user to define.
namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace etalon::cudnn {
namespace {

namespace fe = cudnn_frontend;

// A reason is one line; cudnn-frontend's messages are a page, with the cause in the first line
// after "Reason: " where one is given.
std::string reason_in(std::string text) {
    constexpr std::string_view label = "Reason: ";
    if (const std::size_t at = text.find(label); at != std::string::npos) {
        text = text.substr(at + label.size());
        text = text.substr(0, text.find('\n'));
    }
    text = one_line(std::move(text));
    constexpr std::size_t longest = 240;
    return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

}  // namespace

void use_library_for_graphs(void* library) {
    fe::cudnn_dlhandle = library;
    // It looks for the runtimes of CUDA 12 and 13 in turn, prefers 12, and prints a warning where
    // it finds both. This build is for 13.
    constexpr int keep = 0;
    setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", "libcudart.so.13", keep);
}

// The same graph several times: each copy has built a share of the plans.
struct Graph::Frontend {
    std::vector<std::unique_ptr<fe::graph::Graph>> copies;
};

namespace {

struct Share {
    std::unique_ptr<fe::graph::Graph> graph = std::make_unique<fe::graph::Graph>();
    std::vector<Graph::Plan> plans;
    std::string refusals;
};

// Which plans one thread builds: of those that are wanted, each `parts`-th from `part`.
struct Turn {
    std::size_t part = 0, parts = 1;
    std::string_view only;  // plan's name; empty: all are wanted
};

// Asks for the plans of `modes` and builds those of which this is the turn.
Share build_share(const Definition& definition, cudnnHandle_t handle,
                  const std::vector<fe::HeurMode_t>& modes, std::int64_t workspace_cap_bytes,
                  const Turn& mine, const std::string& what) {
    const auto require = [&](fe::error_t status) {
        if (status.is_bad()) {
            throw Unsupported(fmt::format("{}: {}", what, reason_in(status.get_message())));
        }
    };
    Share share;
    fe::graph::Graph& graph = *share.graph;
    definition.build(graph);
    require(graph.validate());
    require(graph.build_operation_graph(handle));
    require(graph.create_execution_plans(modes));
    graph.deselect_workspace_greater_than(workspace_cap_bytes);
    std::set<std::string> seen;
    std::size_t turn = 0;
    for (std::int64_t i = 0; i < graph.get_execution_plan_count(); ++i) {
        Graph::Plan plan{.copy = mine.part, .index = i};
        require(graph.get_plan_name_at_index(i, plan.name));
        if (!mine.only.empty() && plan.name != mine.only) continue;
        if (!seen.insert(plan.name).second || turn++ % mine.parts != mine.part) continue;
        if (fe::error_t status = graph.build_plan_at_index(i); status.is_bad()) {
            share.refusals = status.get_message();
            continue;
        }
        require(graph.get_workspace_size_plan_at_index(i, plan.workspace_bytes));
        share.plans.push_back(std::move(plan));
    }
    return share;
}

}  // namespace

Graph::Graph(std::vector<std::shared_ptr<Context>> contexts, const Definition& definition,
             std::int64_t workspace_cap_bytes, std::string_view only)
    : contexts_(std::move(contexts)), frontend_(std::make_unique<Frontend>()) {
    const std::string what =
        fmt::format("cuDNN {} has no graph engine for {}",
                    contexts_.front()->api().library().version(), definition.what);
    int device = 0;
    cudaGetDevice(&device);
    std::string refusals;
    const auto build = [&](const std::vector<fe::HeurMode_t>& modes) {
        std::vector<std::future<Share>> shares;
        for (std::size_t part = 0; part < contexts_.size(); ++part) {
            shares.push_back(std::async(std::launch::async, [&, part] {
                cudaSetDevice(device);  // each thread begins on the first
                return build_share(definition, contexts_[part]->handle(), modes,
                                   workspace_cap_bytes, {part, contexts_.size(), only}, what);
            }));
        }
        frontend_->copies.clear();
        for (std::future<Share>& future : shares) {
            Share share = future.get();
            frontend_->copies.push_back(std::move(share.graph));
            if (!share.refusals.empty()) refusals = std::move(share.refusals);
            std::move(share.plans.begin(), share.plans.end(), std::back_inserter(plans_));
        }
        std::sort(plans_.begin(), plans_.end(),
                  [](const Plan& a, const Plan& b) { return a.index < b.index; });
    };
    try {
        // The plans of the fallback mode are right for every shape and slow: only for what the
        // others refuse.
        try {
            build({fe::HeurMode_t::A, fe::HeurMode_t::B});
        } catch (const Unsupported&) {
            plans_.clear();
        }
        if (plans_.empty()) build({fe::HeurMode_t::FALLBACK});
        if (plans_.empty()) throw Unsupported(fmt::format("{}: {}", what, reason_in(refusals)));
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw device_error(fmt::format("{}: {}", what, reason_in(error.what())));
    }
}

Graph::~Graph() = default;

void Graph::launch(Stream stream, const Plan& plan, std::span<void*> pointers, void* workspace) {
    fe::error_t status = frontend_->copies[plan.copy]->execute_plan_at_index(
        contexts_[plan.copy]->on(stream), pointers.data(), static_cast<int>(pointers.size()),
        workspace, plan.index);
    if (status.is_bad()) {
        throw device_error(fmt::format("cuDNN {} refused plan {}: {}",
                                       contexts_.front()->api().library().version(), plan.name,
                                       reason_in(status.get_message())));
    }
}

}  // namespace etalon::cudnn
