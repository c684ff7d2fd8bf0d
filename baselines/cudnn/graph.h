// A cudnn-frontend graph, with every plan that the library can build for it. cudnn-frontend's
// header is behind this one: it takes half a minute to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/device.h"

namespace cudnn_frontend::graph {
class Graph;
}

namespace etalon::cudnn {

class Context;

// Points cudnn-frontend at an open libcudnn.
void use_library_for_graphs(void* library);

// What is computed: called on an empty graph, once for each copy. Tensors get the numbers 1, 2, ...
// in the order of the pointers that launch() takes.
struct Definition {
    std::string what;  // "softmax of 8 x 64 in bf16", for a refusal
    std::function<void(cudnn_frontend::graph::Graph&)> build;
};

class Graph {
   public:
    struct Plan {
        std::size_t copy = 0;    // of the graph, that has built it
        std::int64_t index = 0;  // in the library's order of preference
        std::string name;        // engine and knobs: "eng4_k2=1_k5=0"
        std::int64_t workspace_bytes = 0;
    };
    // Builds the plans that heuristic modes A and B propose, or where they have none the fallback
    // mode, and whose workspace is at most `workspace_cap_bytes`; one of two that are equal. Most
    // plans are compiled at that moment, up to two seconds each: one thread for each context, all
    // of this device, at least one. With a name in `only`, that plan and no other is built. Throws
    // Unsupported when none is left.
    Graph(std::vector<std::shared_ptr<Context>> contexts, const Definition& definition,
          std::int64_t workspace_cap_bytes, std::string_view only = {});
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph();

    // Never empty; the library's first choice first.
    [[nodiscard]] const std::vector<Plan>& plans() const { return plans_; }
    // Enqueues the plan. `pointers` are the graph's tensors in order. Throws a device Error when it
    // is refused.
    void launch(Stream stream, const Plan& plan, std::span<void*> pointers, void* workspace);

   private:
    struct Frontend;
    std::vector<std::shared_ptr<Context>> contexts_;
    std::unique_ptr<Frontend> frontend_;
    std::vector<Plan> plans_;
};

}  // namespace etalon::cudnn
