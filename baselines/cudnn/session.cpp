#include "baselines/cudnn/session.h"

#include <algorithm>
#include <thread>

#include "baselines/cudnn/cudnn_library.h"

namespace etalon::cudnn {
namespace {

constexpr std::int64_t workspace_cap_bytes = std::int64_t{256} << 20;

std::size_t builders() {
    return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 12);
}

}  // namespace

const std::string& Session::problem() {
    if (!problem_) problem_ = cudnn_problem();
    return *problem_;
}

std::shared_ptr<Graph> Session::graph(const Device& device, const Definition& definition) {
    const std::string name = device.info().id + " " + definition.what;
    if (!graph_ || graph_name_ != name) {
        graph_.reset();
        graph_ =
            std::make_shared<Graph>(contexts(device, builders()), definition, workspace_cap_bytes);
        graph_name_ = name;
    }
    return graph_;
}

std::shared_ptr<Graph> Session::graph(const Device& device, const Definition& definition,
                                      const std::string& plan) {
    return std::make_shared<Graph>(Contexts{context(device)}, definition, workspace_cap_bytes,
                                   plan);
}

const Session::Contexts& Session::contexts(const Device& device, std::size_t count) {
    Contexts& contexts = contexts_[device.info().id];
    while (contexts.size() < count) contexts.push_back(std::make_shared<Context>());
    return contexts;
}

}  // namespace etalon::cudnn
