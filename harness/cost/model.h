// Model: the shapes of a language model, read from its Hugging Face config.json.
//
// Nothing is guessed. An architecture that is not in the table, a field that is missing or of the
// wrong kind, or a size that cannot be is one usage Error that names the file and the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::cost {

// Mixture of experts: `active` of `experts` MLPs of width `width` see each token.
struct Experts {
    std::int64_t experts = 0, active = 0, width = 0;
    std::int64_t shared = 0;        // experts of the same width that see every token
    std::int64_t dense_layers = 0;  // first layers that have an ordinary MLP instead
};

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): keys and values are kept as one
// vector of kv_rank + rope_dim numbers per token, shared by all heads.
struct LatentAttention {
    std::int64_t q_rank = 0, kv_rank = 0, rope_dim = 0, nope_dim = 0, value_dim = 0;
};

struct Model {
    std::string name;          // of the file or its folder
    std::string architecture;  // LlamaForCausalLM, ...
    std::int64_t hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0;
    std::int64_t window = 0;           // sliding window in tokens; 0: none
    std::int64_t windowed_layers = 0;  // layers that see the window only
    int norms_per_layer = 2;           // Gemma norms also behind attention and MLP
    bool qk_norm = false;              // RMSNorm over each head of Q and K
    bool gelu = false;                 // GELU·mul instead of SiLU·mul
    bool tied_embeddings = false;      // the head reads the embedding's weights
    std::optional<Experts> moe;
    std::optional<LatentAttention> mla;

    [[nodiscard]] std::int64_t moe_layers() const { return moe ? layers - moe->dense_layers : 0; }
    [[nodiscard]] std::int64_t dense_layers() const { return layers - moe_layers(); }
    // Weights of one layer's attention; of one MLP of this width; of embedding and head.
    [[nodiscard]] double attention_weights() const;
    [[nodiscard]] double mlp_weights(std::int64_t width) const;
    [[nodiscard]] double embedding_weights() const;
    [[nodiscard]] double total_weights() const;
};

// `name` is what tables call the model; `where` begins each message.
[[nodiscard]] Model parse_model(std::string_view json, const std::string& name,
                                const std::string& where);
// A path of a config.json (or of a folder that holds one), or the name of a model in
// results/models. Throws a usage Error that lists the shipped models.
[[nodiscard]] Model load_model(const std::string& name_or_path);
[[nodiscard]] std::vector<std::string> model_names();
[[nodiscard]] std::vector<std::string> known_architectures();

}  // namespace etalon::cost
