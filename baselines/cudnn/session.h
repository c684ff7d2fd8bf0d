// What cuDNN's providers share: one look for the library, handles for each device, the last graph.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baselines/cudnn/cudnn_api.h"
#include "baselines/cudnn/graph.h"

namespace etalon::cudnn {

class Session {
   public:
    [[nodiscard]] const std::string& problem();
    [[nodiscard]] std::shared_ptr<Context> context(const Device& device) {
        return contexts(device, 1).front();
    }
    // The graph of the last definition asked for (told apart by `what`): its plans take seconds to
    // build, and a sweep has each problem's variants and L2 modes one after another.
    [[nodiscard]] std::shared_ptr<Graph> graph(const Device& device, const Definition& definition);

    // The same with the plan of this name alone, which takes a twentieth of the time.
    [[nodiscard]] std::shared_ptr<Graph> graph(const Device& device, const Definition& definition,
                                               const std::string& plan);

   private:
    using Contexts = std::vector<std::shared_ptr<Context>>;
    // At least `count`; they live as long as the session.
    const Contexts& contexts(const Device& device, std::size_t count);

    std::optional<std::string> problem_;
    std::shared_ptr<Graph> graph_;
    std::string graph_name_;
    std::map<std::string, Contexts> contexts_;
};

}  // namespace etalon::cudnn
