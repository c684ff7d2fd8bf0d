#include "baselines/cudnn/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "baselines/common/choose.h"
#include "baselines/cudnn/session.h"

namespace etalon::cudnn {
namespace {

// fp8's scalars beside those of the tensors: descale and scale of the weights, scale of the output.
// Weights lie in [0, 1]: times 256 they use e4m3's range to 448.
constexpr std::array<float, 3> fp8_scalars = {1.0F / 256, 256.0F, 1.0F};

Buffer uploaded(Device& device, std::span<const std::byte> bytes) {
    Buffer buffer = device.allocate(bytes.size());
    device.upload(buffer, bytes);
    return buffer;
}

class PreparedAttention final : public Prepared {
   public:
    PreparedAttention(Session& session, const Case& key, Device& device,
                      std::span<const BufferSet> sets)
        : problem_(attention_problem(key.problem)), tables_(problem_, device) {
        if (gives_lengths(problem_)) {
            const std::vector<std::int32_t> queries(static_cast<std::size_t>(problem_.batch),
                                                    static_cast<std::int32_t>(problem_.queries));
            query_lengths_ = uploaded(device, std::as_bytes(std::span(queries)));
        }
        if (problem_.precision == Precision::fp8) {
            scalars_ = uploaded(device, std::as_bytes(std::span(fp8_scalars)));
            maxima_ = device.allocate(2 * sizeof(float));
        }
        for (const BufferSet& set : sets) pointers_.push_back(pointers(set));
        graph_ = session.graph(device, attention_definition(problem_));
        choose(key, device);
    }

    void launch(Stream stream, std::size_t set) override {
        graph_->launch(stream, graph_->plans()[chosen_], pointers_[set], workspace_.data());
    }
    [[nodiscard]] std::string describe() const override { return description_; }

   private:
    [[nodiscard]] std::vector<void*> pointers(const BufferSet& set) const {
        std::vector<void*> all = {set[0].data(), set[1].data(), set[2].data(), set.back().data()};
        if (gives_lengths(problem_)) {
            all.push_back(query_lengths_.data());
            all.push_back(tables_.key_lengths());
        }
        if (problem_.page > 0) all.insert(all.end(), 2, tables_.pages());
        if (problem_.precision == Precision::fp8) {
            auto* const scalars = scalars_.as<float>();
            auto* const maxima = maxima_.as<float>();
            for (const std::size_t i : {5U, 3U, 4U}) all.push_back(set[i].data());
            for (int i = 0; i < 3; ++i) all.push_back(scalars + i);
            for (int i = 0; i < 2; ++i) all.push_back(maxima + i);
        }
        return all;
    }

    void choose(const Case& key, Device& device) {
        const std::vector<Graph::Plan>& plans = graph_->plans();
        std::int64_t most = 0;
        for (const Graph::Plan& plan : plans) most = std::max(most, plan.workspace_bytes);
        if (most > 0) workspace_ = device.allocate(static_cast<std::size_t>(most));
        std::vector<Launch> candidates;
        for (const Graph::Plan& plan : plans) {
            candidates.push_back([this, &plan](Stream stream, std::size_t set) {
                graph_->launch(stream, plan, pointers_[set], workspace_.data());
            });
        }
        const Choice choice = key.variant == "first"
                                  ? choose_first(device, candidates)
                                  : choose_fastest(device, key.l2, pointers_.size(), candidates);
        chosen_ = choice.index;
        description_ = fmt::format(
            R"({{"form":"sdpa","plan":"{}","offered":{},"refused":{},"chosen":{},)"
            R"("gain_over_first":{:.4f},"workspace_bytes":{}}})",
            plans[chosen_].name, plans.size(), choice.refused, chosen_,
            chosen_ == choice.first ? 0.0 : choice.gain, plans[chosen_].workspace_bytes);
    }

    AttentionProblem problem_;
    AttentionTables tables_;
    Buffer query_lengths_, scalars_, maxima_;
    std::vector<std::vector<void*>> pointers_;  // of each set, in the graph's order
    std::shared_ptr<Graph> graph_;
    Buffer workspace_;
    std::size_t chosen_ = 0;
    std::string description_;
};

class AttentionProvider final : public Provider {
   public:
    AttentionProvider(std::string_view op, std::shared_ptr<Session> session)
        : op_(op), session_(std::move(session)) {}
    [[nodiscard]] std::string_view name() const override { return "cudnn"; }
    [[nodiscard]] std::string_view op() const override { return op_; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::cuda; }
    // The library's own first choice.
    [[nodiscard]] std::vector<std::string> variants() const override { return {"first"}; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key, Device&) const override {
        if (auto misfit = attention_misfit(key.problem)) return misfit;
        if (!session_->problem().empty()) return session_->problem();
        return attention_unsupported(attention_problem(key.problem));
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device& device, std::span<const BufferSet> sets) const override {
        return std::make_unique<PreparedAttention>(*session_, key, device, sets);
    }

   private:
    std::string_view op_;
    std::shared_ptr<Session> session_;
};

}  // namespace

std::vector<std::unique_ptr<Provider>> attention_providers(
    const std::shared_ptr<Session>& session) {
    std::vector<std::unique_ptr<Provider>> providers;
    for (const char* op : {"attention_prefill", "attention_decode"}) {
        providers.push_back(std::make_unique<AttentionProvider>(op, session));
    }
    return providers;
}

}  // namespace etalon::cudnn
