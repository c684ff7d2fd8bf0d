// Which cuDNN this machine has. No CUDA or cuDNN header needed.
#pragma once

#include <string>

#include "baselines/common/vendor_library.h"

namespace etalon {

// libcudnn.so.9, or the file that $ETALON_CUDNN names.
[[nodiscard]] VendorLibrarySpec cudnn_spec();
// "9.14.0"; empty when the library is missing.
[[nodiscard]] std::string cudnn_version();
// One line with the mend when it cannot be used; else empty.
[[nodiscard]] std::string cudnn_problem();

}  // namespace etalon
