// Attention by cuDNN's SDPA: prefill, decode, paged decode.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baselines/cudnn/graph.h"
#include "bench/attention_problem.h"

namespace etalon::cudnn {

class Session;

[[nodiscard]] std::vector<std::unique_ptr<Provider>> attention_providers(
    const std::shared_ptr<Session>& session);

// Tensors, in order: q, k, v, out; then, if the lengths are given, those of queries and keys; then,
// if the cache is paged, the table of k and that of v; then, in fp8, descale of q, k, v and the
// softmax's output, scale of that and of the output, and the two maxima that come back.
[[nodiscard]] Definition attention_definition(const AttentionProblem& problem);
// Sequences of different length, or pages: cuDNN wants both lengths.
[[nodiscard]] bool gives_lengths(const AttentionProblem& problem);

// Why cuDNN cannot compute it, as far as its documentation says; the rest is settled by building.
[[nodiscard]] std::optional<std::string> attention_unsupported(const AttentionProblem& problem);

}  // namespace etalon::cudnn
