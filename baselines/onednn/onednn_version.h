// oneDNN as it is loaded here.
#pragma once

#include <string>

namespace etalon {

// "3.2.0"; empty in a build without it.
[[nodiscard]] std::string onednn_version();

}  // namespace etalon
