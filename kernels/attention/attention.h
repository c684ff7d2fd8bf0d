// Attention on a CUDA stream: prefill, chunked prefill, decode, contiguous and paged cache.
//
// Usable without the harness: plain arguments in (attention_args.h), a cudaError_t out. A plan
// chooses the kernel and encodes what it needs; launch() only enqueues.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/attention/attention_args.h"

namespace etalon::kernels {

// The plain version, for any sizes: one block for 32 queries of a head. fp32 inside.
cudaError_t attention_simple(const AttentionArgs& args, cudaStream_t stream);
// The same in double, to `out`, dense tokens × heads × value_dim in the order of the queries.
cudaError_t attention_reference(const AttentionArgs& args, double* out, cudaStream_t stream);
// Null when attention_simple() takes these sizes.
[[nodiscard]] const char* attention_simple_unsupported(const AttentionArgs& args);

}  // namespace etalon::kernels
