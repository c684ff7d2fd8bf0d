// Storage type of the row kernels.
#pragma once

namespace etalon::kernels {

enum class RowType { fp32, bf16, fp16 };

}  // namespace etalon::kernels
