#include "bench/reference.h"

#include <fmt/format.h>

#include <vector>

#include "harness/device/host/convert.h"
#include "kernels/host/host_kernels.h"
#ifdef ETALON_CUDA
#include "bench/cuda_types.h"
#include "harness/device/cuda/element_type.h"
#include "kernels/attention/attention.h"
#include "kernels/gemm/gemm.h"
#include "kernels/norm/norm.h"
#include "kernels/softmax/softmax.h"
#include "kernels/util/device_util.h"
#endif

namespace etalon::reference {
namespace {

kernels::host::Type host_type(Precision precision) {
    if (precision == Precision::fp32) return kernels::host::Type::fp32;
    if (precision == Precision::bf16) return kernels::host::Type::bf16;
    throw Unsupported(
        fmt::format("{} has no reference on the CPU; the host device measures fp32 "
                    "and bf16",
                    name(precision)));
}

bool on_host(Device& device) {
    return device.info().kind == DeviceKind::host;
}

kernels::host::NormArgs host_norm(const Rows& args) {
    return {host_type(args.precision),
            args.x,
            args.weight,
            args.bias,
            nullptr,
            args.rows,
            args.cols,
            args.ldx,
            args.cols};
}

#ifdef ETALON_CUDA
void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        throw device_error(
            fmt::format("the {} reference failed: {}", what, cudaGetErrorString(status)));
    }
}
cudaStream_t stream_of(Device& device) {
    return static_cast<cudaStream_t>(device.stream().handle);
}
kernels::NormArgs cuda_norm(const Rows& args) {
    return {row_type(args.precision),
            args.x,
            args.weight,
            args.bias,
            nullptr,
            args.rows,
            args.cols,
            args.ldx,
            args.cols};
}
#endif

}  // namespace

void gemm(Device& device, const Matrices& args, double* c) {
    if (on_host(device)) {
        kernels::host::gemm_reference({host_type(args.precision), args.a, args.b, nullptr, args.m,
                                       args.n, args.k, args.lda, args.ldb, args.n},
                                      c);
        return;
    }
#ifdef ETALON_CUDA
    check(kernels::gemm_reference({gemm_type(args.precision), args.a, args.b, nullptr, args.m,
                                   args.n, args.k, args.lda, args.ldb, args.n},
                                  c, stream_of(device)),
          "gemm");
#endif
}

void softmax(Device& device, const Rows& args, double* y) {
    if (on_host(device)) {
        kernels::host::softmax_reference(
            {host_type(args.precision), args.x, nullptr, args.rows, args.cols, args.ldx, args.cols},
            y);
        return;
    }
#ifdef ETALON_CUDA
    check(kernels::softmax_reference({row_type(args.precision), args.x, nullptr, args.rows,
                                      args.cols, args.ldx, args.cols},
                                     y, stream_of(device)),
          "softmax");
#endif
}

void rmsnorm(Device& device, const Rows& args, double* y) {
    if (on_host(device)) {
        kernels::host::rmsnorm_reference(host_norm(args), y);
        return;
    }
#ifdef ETALON_CUDA
    check(kernels::rmsnorm_reference(cuda_norm(args), y, stream_of(device)), "rmsnorm");
#endif
}

void layernorm(Device& device, const Rows& args, double* y) {
    if (on_host(device)) {
        kernels::host::layernorm_reference(host_norm(args), y);
        return;
    }
#ifdef ETALON_CUDA
    check(kernels::layernorm_reference(cuda_norm(args), y, stream_of(device)), "layernorm");
#endif
}

void attention(Device& device, const kernels::AttentionArgs& args, double* out) {
    if (on_host(device)) {
        if (args.type != args.query_type || (args.type != kernels::AttentionType::fp32 &&
                                             args.type != kernels::AttentionType::bf16)) {
            (void)host_type(Precision::fp8);  // throws
        }
        kernels::host::attention_reference(args, out);
        return;
    }
#ifdef ETALON_CUDA
    check(kernels::attention_reference(args, out, stream_of(device)), "attention");
#endif
}

void copy(Device& device, DType dtype, const Buffer& x, std::int64_t n, double* y) {
    if (on_host(device)) {
        host::widen(dtype, x.data(), n, y);
        return;
    }
#ifdef ETALON_CUDA
    check(kernels::widen(element_type(dtype), x.data(), static_cast<std::size_t>(n), y,
                         stream_of(device)),
          "copy");
#endif
}

}  // namespace etalon::reference
