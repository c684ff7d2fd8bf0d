// cuDNN as a provider of softmax, rmsnorm and layernorm: every graph plan it offers is timed, and
// for softmax the legacy call beside them.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "baselines/common/choose.h"
#include "baselines/cudnn/attention.h"
#include "baselines/cudnn/cudnn_api.h"
#include "baselines/cudnn/legacy_softmax.h"
#include "baselines/cudnn/row_graph.h"
#include "baselines/cudnn/row_problem.h"
#include "baselines/cudnn/session.h"
#include "bench/providers.h"

namespace etalon {
namespace {

using cudnn::Graph;
using cudnn::LegacySoftmax;
using cudnn::RowOp;
using cudnn::RowProblem;
using cudnn::Session;

class PreparedRow final : public Prepared {
   public:
    PreparedRow(Session& session, RowOp op, std::string_view earlier, const Case& key,
                Device& device, std::span<const BufferSet> sets)
        : problem_(cudnn::row_problem(op, key)) {
        for (const BufferSet& set : sets) {
            std::vector<void*>& pointers = pointers_.emplace_back();
            for (const Buffer& buffer : set) pointers.push_back(buffer.data());
        }
        if (key.variant != "first" && take(session, device, earlier)) return;
        ways_.clear();
        if (op == RowOp::softmax && key.variant != "graph") {
            add_legacy(session.context(device), /*required=*/key.variant == "legacy");
        }
        if (op != RowOp::softmax || key.variant != "legacy") {
            add_graph(session, device, /*required=*/ways_.empty());
        }
        choose(key, device);
    }

    void launch(Stream stream, std::size_t set) override { ways_[chosen_].launch(stream, set); }
    [[nodiscard]] std::string describe() const override { return description_; }

   private:
    struct Way {
        std::string form;  // legacy, graph
        std::string name;  // softmax mode, plan
        std::int64_t workspace_bytes = 0;
        Launch launch;
    };

    void add_legacy(const std::shared_ptr<cudnn::Context>& context, bool required) {
        try {
            legacy_.emplace(context, problem_);
        } catch (const Unsupported&) {
            if (required) throw;
            return;
        }
        const auto add = [&](LegacySoftmax::Mode mode, const char* name) {
            ways_.push_back({"legacy", name, 0, [this, mode](Stream stream, std::size_t set) {
                                 const std::vector<void*>& tensors = pointers_[set];
                                 legacy_->launch(stream, mode, tensors[0], tensors[1]);
                             }});
        };
        add(LegacySoftmax::Mode::instance, "softmax_forward_instance");
        add(LegacySoftmax::Mode::channel, "softmax_forward_channel");
    }

    void add_graph(Session& session, const Device& device, bool required) {
        try {
            graph_ = session.graph(device, cudnn::row_definition(problem_));
        } catch (const Error&) {
            if (required || !device.usable()) throw;
            return;
        }
        add_plans();
    }

    void add_plans() {
        for (const Graph::Plan& plan : graph_->plans()) {
            ways_.push_back({"graph", plan.name, plan.workspace_bytes,
                             [this, &plan](Stream stream, std::size_t set) {
                                 graph_->launch(stream, plan, pointers_[set], workspace_.data());
                             }});
        }
    }

    // The way of an earlier description, if there still is one like it that can be launched.
    bool take(Session& session, Device& device, std::string_view earlier) {
        const nlohmann::json told = nlohmann::json::parse(earlier, nullptr, false);
        const auto text = [&told](const char* name) {
            const auto found = told.is_object() ? told.find(name) : told.end();
            return found != told.end() && found->is_string() ? found->get<std::string>() : "";
        };
        const std::string form = text("form"), plan = text("plan");
        if (form.empty() || plan.empty()) return false;
        try {
            if (form == "legacy") {
                add_legacy(session.context(device), /*required=*/true);
            } else {
                graph_ = session.graph(device, cudnn::row_definition(problem_), plan);
                add_plans();
            }
        } catch (const Unsupported&) {
            return false;
        }
        for (std::size_t i = 0; i < ways_.size(); ++i) {
            const Way& way = ways_[i];
            if (way.form != form || way.name != plan) continue;
            if (way.workspace_bytes > 0) {
                workspace_ = device.allocate(static_cast<std::size_t>(way.workspace_bytes));
            }
            chosen_ = i;
            description_ = earlier;
            return can_launch(device, way.launch);
        }
        return false;
    }

    void choose(const Case& key, Device& device) {
        std::int64_t most = 0;
        for (const Way& way : ways_) most = std::max(most, way.workspace_bytes);
        if (most > 0) workspace_ = device.allocate(static_cast<std::size_t>(most));
        std::vector<Launch> candidates;
        for (const Way& way : ways_) candidates.push_back(way.launch);
        const Choice choice = key.variant == "first"
                                  ? choose_first(device, candidates)
                                  : choose_fastest(device, key.l2, pointers_.size(), candidates);
        chosen_ = choice.index;
        const Way& way = ways_[chosen_];
        // Give back what only the others needed.
        if (way.workspace_bytes < most) {
            workspace_ = Buffer();
            if (way.workspace_bytes > 0) {
                workspace_ = device.allocate(static_cast<std::size_t>(way.workspace_bytes));
            }
        }
        description_ =
            fmt::format(R"({{"form":"{}","plan":"{}","offered":{},"refused":{},"chosen":{},)"
                        R"("gain_over_first":{:.4f},"workspace_bytes":{}}})",
                        way.form, way.name, ways_.size(), choice.refused, chosen_,
                        chosen_ == choice.first ? 0.0 : choice.gain, way.workspace_bytes);
    }

    RowProblem problem_;
    std::vector<std::vector<void*>> pointers_;  // of each set, in the op's order
    std::optional<LegacySoftmax> legacy_;
    std::shared_ptr<Graph> graph_;
    std::vector<Way> ways_;
    Buffer workspace_;
    std::size_t chosen_ = 0;
    std::string description_;
};

class CudnnProvider final : public Provider {
   public:
    CudnnProvider(RowOp op, std::shared_ptr<Session> session)
        : op_(op), session_(std::move(session)) {}
    [[nodiscard]] std::string_view name() const override { return "cudnn"; }
    [[nodiscard]] std::string_view op() const override { return cudnn::name(op_); }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::cuda; }
    // `first` is the library's own first choice. Softmax has two forms, and each can be forced.
    [[nodiscard]] std::vector<std::string> variants() const override {
        if (op_ == RowOp::softmax) return {"legacy", "graph"};
        return {"first"};
    }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key, Device&) const override {
        if (!session_->problem().empty()) return session_->problem();
        return cudnn::unsupported(cudnn::row_problem(op_, key));
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device& device, std::span<const BufferSet> sets) const override {
        return prepare_like("", key, device, sets);
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare_like(
        std::string_view earlier, const Case& key, Device& device,
        std::span<const BufferSet> sets) const override {
        return std::make_unique<PreparedRow>(*session_, op_, earlier, key, device, sets);
    }

   private:
    RowOp op_;
    std::shared_ptr<Session> session_;
};

}  // namespace

Providers cudnn_providers() {
    const auto session = std::make_shared<Session>();
    Providers providers;
    for (const RowOp op : {RowOp::softmax, RowOp::rmsnorm, RowOp::layernorm}) {
        providers.push_back(std::make_unique<CudnnProvider>(op, session));
    }
    for (std::unique_ptr<Provider>& each : cudnn::attention_providers(session)) {
        providers.push_back(std::move(each));
    }
    return providers;
}

}  // namespace etalon
