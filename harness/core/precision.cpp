#include "harness/core/precision.h"

#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon {

std::string_view name(Precision precision) {
    switch (precision) {
        case Precision::fp32:
            return "fp32";
        case Precision::tf32:
            return "tf32";
        case Precision::bf16:
            return "bf16";
        case Precision::fp16:
            return "fp16";
        case Precision::fp8:
            return "fp8";
        case Precision::int8:
            return "int8";
    }
    return "?";
}

std::string_view name(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return "f64";
        case DType::f32:
            return "f32";
        case DType::bf16:
            return "bf16";
        case DType::f16:
            return "f16";
        case DType::e4m3:
            return "e4m3";
        case DType::i8:
            return "i8";
        case DType::i32:
            return "i32";
    }
    return "?";
}

Precision parse_precision(std::string_view text) {
    static constexpr std::pair<std::string_view, Precision> aliases[] = {
        {"f32", Precision::fp32},      {"float", Precision::fp32}, {"float32", Precision::fp32},
        {"bfloat16", Precision::bf16}, {"f16", Precision::fp16},   {"half", Precision::fp16},
        {"float16", Precision::fp16},  {"e4m3", Precision::fp8},   {"fp8_e4m3", Precision::fp8},
        {"f8", Precision::fp8},        {"i8", Precision::int8},    {"s8", Precision::int8},
    };
    std::vector<std::string> known;
    for (const Precision precision : all_precisions) {
        if (name(precision) == text) return precision;
        known.emplace_back(name(precision));
    }
    for (const auto& [alias, precision] : aliases) {
        if (alias == text) return precision;
    }
    throw usage_error(unknown_name("precision", text, known));
}

std::size_t bytes_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return 8;
        case DType::f32:
        case DType::i32:
            return 4;
        case DType::bf16:
        case DType::f16:
            return 2;
        case DType::e4m3:
        case DType::i8:
            return 1;
    }
    return 0;
}

DType input_dtype(Precision precision) {
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32:
            return DType::f32;
        case Precision::bf16:
            return DType::bf16;
        case Precision::fp16:
            return DType::f16;
        case Precision::fp8:
            return DType::e4m3;
        case Precision::int8:
            return DType::i8;
    }
    return DType::f32;
}

DType output_dtype(Precision precision) {
    switch (precision) {
        case Precision::fp8:
            return DType::bf16;
        case Precision::int8:
            return DType::i32;
        default:
            return input_dtype(precision);
    }
}

double unit_roundoff(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return 0x1p-53;
        case DType::f32:
            return 0x1p-24;
        case DType::bf16:
            return 0x1p-8;
        case DType::f16:
            return 0x1p-11;
        case DType::e4m3:
            return 0x1p-4;
        case DType::i8:
        case DType::i32:
            return 0;
    }
    return 0;
}

}  // namespace etalon
