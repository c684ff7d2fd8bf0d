// cudnn-frontend, for the files that define graphs with it.
#pragma once

#include <cudnn_frontend.h>

#include <memory>

#include "harness/core/precision.h"

namespace etalon::cudnn {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

inline fe::DataType_t data_type(DType dtype) {
    switch (dtype) {
        case DType::bf16:
            return fe::DataType_t::BFLOAT16;
        case DType::f16:
            return fe::DataType_t::HALF;
        case DType::e4m3:
            return fe::DataType_t::FP8_E4M3;
        case DType::i32:
            return fe::DataType_t::INT32;
        default:
            return fe::DataType_t::FLOAT;
    }
}

}  // namespace etalon::cudnn
