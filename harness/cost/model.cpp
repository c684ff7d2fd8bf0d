#include "harness/cost/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/cost/data_files.h"

namespace etalon::cost {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// What the architectures differ in, beyond their sizes.
enum class Window { none, all_layers, qwen, alternating, one_in_six };
enum class Mlp { dense, qwen_moe, mixtral, deepseek, gpt_oss };

struct Family {
    const char* architecture;
    Mlp mlp = Mlp::dense;
    Window window = Window::none;
    bool head_dim_needed = false;  // it is not hidden/heads, and no rule gives it
    bool qk_norm = false;
    int norms_per_layer = 2;
    bool gelu = false;
    bool tied_by_default = false;  // what transformers takes where the field is not written
    bool latent = false;
};

constexpr Family families[] = {
    {.architecture = "LlamaForCausalLM"},
    {.architecture = "MistralForCausalLM", .window = Window::all_layers},
    {.architecture = "Qwen2ForCausalLM", .window = Window::qwen},
    {.architecture = "Qwen3ForCausalLM",
     .window = Window::qwen,
     .head_dim_needed = true,
     .qk_norm = true},
    {.architecture = "Qwen3MoeForCausalLM",
     .mlp = Mlp::qwen_moe,
     .window = Window::qwen,
     .head_dim_needed = true,
     .qk_norm = true},
    {.architecture = "MixtralForCausalLM", .mlp = Mlp::mixtral, .window = Window::all_layers},
    {.architecture = "Gemma2ForCausalLM",
     .window = Window::alternating,
     .head_dim_needed = true,
     .norms_per_layer = 4,
     .gelu = true,
     .tied_by_default = true},
    {.architecture = "Gemma3ForCausalLM",
     .window = Window::one_in_six,
     .head_dim_needed = true,
     .qk_norm = true,
     .norms_per_layer = 4,
     .gelu = true,
     .tied_by_default = true},
    // The same text model with a vision tower; its sizes stand in text_config.
    {.architecture = "Gemma3ForConditionalGeneration",
     .window = Window::one_in_six,
     .head_dim_needed = true,
     .qk_norm = true,
     .norms_per_layer = 4,
     .gelu = true,
     .tied_by_default = true},
    {.architecture = "DeepseekV3ForCausalLM", .mlp = Mlp::deepseek, .latent = true},
    {.architecture = "GptOssForCausalLM",
     .mlp = Mlp::gpt_oss,
     .window = Window::alternating,
     .head_dim_needed = true},
};

class Reader {
   public:
    Reader(const json& root, const std::string& where, std::string prefix = "")
        : root_(root), where_(where), prefix_(std::move(prefix)) {}

    [[nodiscard]] bool has(const char* key) const {
        const auto found = root_.find(key);
        return found != root_.end() && !found->is_null();
    }
    // A whole number from `least` on.
    [[nodiscard]] std::int64_t size(const char* key, std::int64_t least = 1) const {
        if (!has(key)) {
            throw usage_error(fmt::format("{}: field '{}{}' is missing; nothing is guessed, add it",
                                          where_, prefix_, key));
        }
        const json& value = root_.at(key);
        // Far above any model, and products of two sizes and a number of tokens fit 64 bits.
        constexpr std::int64_t most = std::int64_t{1} << 24;
        const bool fits = value.is_number_integer() &&
                          !(value.is_number_unsigned() && value.get<std::uint64_t>() > most);
        if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
            throw usage_error(fmt::format(
                "{}: field '{}{}' must be a whole number from {} to {}, "
                "not {}",
                where_, prefix_, key, least, most, one_line(value.dump().substr(0, 40))));
        }
        return value.get<std::int64_t>();
    }
    [[nodiscard]] bool flag(const char* key, bool otherwise) const {
        if (!has(key)) return otherwise;
        if (!root_.at(key).is_boolean()) {
            throw usage_error(
                fmt::format("{}: field '{}{}' must be true or false", where_, prefix_, key));
        }
        return root_.at(key).get<bool>();
    }
    // How many of layer_types are sliding; nullopt where the field is not written.
    [[nodiscard]] std::optional<std::int64_t> sliding_layers(std::int64_t layers) const {
        if (!has("layer_types")) return std::nullopt;
        const json& list = root_.at("layer_types");
        if (!list.is_array() || static_cast<std::int64_t>(list.size()) != layers) {
            throw usage_error(
                fmt::format("{}: field '{}layer_types' must be a list of {} texts, "
                            "one a layer",
                            where_, prefix_, layers));
        }
        std::int64_t sliding = 0;
        for (const json& each : list) {
            if (each == "sliding_attention") {
                ++sliding;
            } else if (each != "full_attention") {
                throw usage_error(
                    fmt::format("{}: field '{}layer_types' has {}; known are full_attention and "
                                "sliding_attention",
                                where_, prefix_, one_line(each.dump().substr(0, 40))));
            }
        }
        return sliding;
    }
    void need(bool fine, const std::string& what) const {
        if (!fine) throw usage_error(fmt::format("{}: {}", where_, what));
    }

   private:
    const json& root_;
    const std::string& where_;
    std::string prefix_;
};

void read_window(const Reader& in, const Family& family, Model& model) {
    if (family.window == Window::none) return;
    if (family.window == Window::qwen && !in.flag("use_sliding_window", false)) return;
    const bool always = family.window == Window::alternating || family.window == Window::one_in_six;
    if (!in.has("sliding_window") && !always) return;
    model.window = in.size("sliding_window");
    if (const auto sliding = in.sliding_layers(model.layers)) {
        model.windowed_layers = *sliding;
        return;
    }
    switch (family.window) {
        case Window::none:
        case Window::all_layers:
            model.windowed_layers = model.layers;
            break;
        case Window::qwen:  // layers from max_window_layers on
            model.windowed_layers =
                std::max<std::int64_t>(0, model.layers - in.size("max_window_layers", 0));
            break;
        case Window::alternating:  // layers 0, 2, 4, ...
            model.windowed_layers = (model.layers + 1) / 2;
            break;
        case Window::one_in_six:  // every sliding_window_pattern-th layer sees all
            model.windowed_layers = model.layers - model.layers / in.size("sliding_window_pattern");
            break;
    }
}

void read_experts(const Reader& in, const Family& family, Model& model) {
    Experts moe;
    switch (family.mlp) {
        case Mlp::dense:
            return;
        case Mlp::qwen_moe:
            moe.experts = in.size("num_experts");
            moe.active = in.size("num_experts_per_tok");
            moe.width = in.size("moe_intermediate_size");
            in.need(!in.has("decoder_sparse_step") || in.size("decoder_sparse_step") == 1,
                    "field 'decoder_sparse_step' other than 1 is not supported");
            break;
        case Mlp::mixtral:
        case Mlp::gpt_oss:
            moe.experts = in.size("num_local_experts");
            moe.active = in.size("num_experts_per_tok");
            moe.width = in.size("intermediate_size");
            break;
        case Mlp::deepseek:
            moe.experts = in.size("n_routed_experts");
            moe.active = in.size("num_experts_per_tok");
            moe.width = in.size("moe_intermediate_size");
            moe.shared = in.size("n_shared_experts", 0);
            moe.dense_layers = in.size("first_k_dense_replace", 0);
            in.need(!in.has("moe_layer_freq") || in.size("moe_layer_freq") == 1,
                    "field 'moe_layer_freq' other than 1 is not supported");
            break;
    }
    in.need(moe.active <= moe.experts,
            fmt::format("{} experts are active of {}", moe.active, moe.experts));
    in.need(moe.dense_layers <= model.layers,
            fmt::format("{} dense layers of {}", moe.dense_layers, model.layers));
    model.moe = moe;
}

Model read(const Reader& in, const Family& family, const std::string& name) {
    Model model;
    model.name = name;
    model.architecture = family.architecture;
    model.norms_per_layer = family.norms_per_layer;
    model.qk_norm = family.qk_norm;
    model.gelu = family.gelu;
    model.hidden = in.size("hidden_size");
    model.layers = in.size("num_hidden_layers");
    model.heads = in.size("num_attention_heads");
    model.kv_heads = in.size("num_key_value_heads");
    model.vocab = in.size("vocab_size");
    model.tied_embeddings = in.flag("tie_word_embeddings", family.tied_by_default);
    if (family.latent) {
        model.mla = LatentAttention{in.size("q_lora_rank"), in.size("kv_lora_rank"),
                                    in.size("qk_rope_head_dim"), in.size("qk_nope_head_dim"),
                                    in.size("v_head_dim")};
        model.head_dim = model.mla->nope_dim + model.mla->rope_dim;
    } else if (in.has("head_dim") || family.head_dim_needed) {
        model.head_dim = in.size("head_dim");
    } else {
        // The rule of these families where config.json leaves head_dim out.
        in.need(model.hidden % model.heads == 0,
                fmt::format("hidden_size {} is no multiple of num_attention_heads {}, and there is "
                            "no head_dim; add it",
                            model.hidden, model.heads));
        model.head_dim = model.hidden / model.heads;
    }
    in.need(model.kv_heads <= model.heads && model.heads % model.kv_heads == 0,
            fmt::format("num_attention_heads {} is no multiple of num_key_value_heads {}",
                        model.heads, model.kv_heads));
    read_experts(in, family, model);
    // Only layers with an ordinary MLP have this width.
    if (model.dense_layers() > 0) model.ffn = in.size("intermediate_size");
    read_window(in, family, model);
    return model;
}

}  // namespace

double Model::attention_weights() const {
    const auto h = static_cast<double>(hidden), q = static_cast<double>(heads);
    if (mla) {
        const auto q_rank = static_cast<double>(mla->q_rank);
        const auto kv_rank = static_cast<double>(mla->kv_rank);
        const auto rope = static_cast<double>(mla->rope_dim);
        const auto nope = static_cast<double>(mla->nope_dim);
        const auto value = static_cast<double>(mla->value_dim);
        return h * (q_rank + kv_rank + rope) + q_rank * q * (nope + rope) +
               kv_rank * q * (nope + value) + q * value * h;
    }
    const auto d = static_cast<double>(head_dim), kv = static_cast<double>(kv_heads);
    return h * (q + 2 * kv) * d + q * d * h;
}

double Model::mlp_weights(std::int64_t width) const {
    return 3 * static_cast<double>(hidden) * static_cast<double>(width);
}

double Model::embedding_weights() const {
    return static_cast<double>(hidden) * static_cast<double>(vocab) * (tied_embeddings ? 1 : 2);
}

double Model::total_weights() const {
    double total = static_cast<double>(layers) * attention_weights() +
                   static_cast<double>(dense_layers()) * mlp_weights(ffn) + embedding_weights();
    if (moe) {
        total += static_cast<double>(moe_layers()) *
                 (static_cast<double>(moe->experts + moe->shared) * mlp_weights(moe->width) +
                  static_cast<double>(hidden) * static_cast<double>(moe->experts));
    }
    return total;
}

std::vector<std::string> known_architectures() {
    std::vector<std::string> names;
    for (const Family& family : families) names.emplace_back(family.architecture);
    return names;
}

Model parse_model(std::string_view text, const std::string& name, const std::string& where) {
    const json root = json::parse(text, nullptr, false);
    if (root.is_discarded()) {
        throw usage_error(fmt::format("{}: not JSON; give a model's config.json", where));
    }
    if (!root.is_object()) {
        throw usage_error(fmt::format("{}: config.json must be an object in braces", where));
    }
    const auto list = root.find("architectures");
    if (list == root.end() || !list->is_array() || list->empty() || !list->front().is_string()) {
        throw usage_error(
            fmt::format("{}: field 'architectures' is missing; it must be a list with a name, as "
                        "in [\"LlamaForCausalLM\"]",
                        where));
    }
    const std::string architecture = one_line(list->front().get<std::string>());
    const auto family =
        std::find_if(std::begin(families), std::end(families),
                     [&](const Family& each) { return each.architecture == architecture; });
    if (family == std::end(families)) {
        throw usage_error(fmt::format(
            "{}: {}", where, unknown_name("architecture", architecture, known_architectures())));
    }
    const auto nested = root.find("text_config");
    if (nested != root.end() && nested->is_object()) {
        return read(Reader(*nested, where, "text_config."), *family, name);
    }
    return read(Reader(root, where), *family, name);
}

std::vector<std::string> model_names() {
    std::set<std::string> names;
    for (const fs::path& folder : data_folders()) {
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder / "models", error)) {
            if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
        }
    }
    return {names.begin(), names.end()};
}

Model load_model(const std::string& name_or_path) {
    std::error_code error;
    fs::path path = name_or_path;
    if (fs::is_directory(path, error)) path /= "config.json";
    const bool is_path = name_or_path.ends_with(".json") ||
                         name_or_path.find('/') != std::string::npos || fs::exists(path, error);
    if (!is_path) {
        const std::vector<std::string> names = model_names();
        if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
            throw usage_error(unknown_name("model", name_or_path, names) +
                              "; or give the path of a config.json");
        }
        path = find_data_file("models/" + name_or_path + ".json");
    }
    // A downloaded model is known by its folder, for its file is always config.json.
    const fs::path stem = path.stem();
    const fs::path folder = fs::absolute(path, error).parent_path().filename();
    const std::string name = stem == "config" ? folder.string() : stem.string();
    return parse_model(read_text(path), name, path.string());
}

}  // namespace etalon::cost
