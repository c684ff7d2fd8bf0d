// Which cuBLASLt this machine has. No CUDA header needed.
#pragma once

#include <string>

#include "baselines/common/vendor_library.h"

namespace etalon {

// libcublasLt.so.13, or the file that $ETALON_CUBLASLT names.
[[nodiscard]] VendorLibrarySpec cublaslt_spec();
// "13.1.0"; empty when the library is missing.
[[nodiscard]] std::string cublaslt_version();
// One line with the mend when it cannot be used; else empty.
[[nodiscard]] std::string cublaslt_problem();

}  // namespace etalon
