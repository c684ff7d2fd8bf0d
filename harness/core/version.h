// Version of this build; the git revision is taken at build time.
#pragma once

#include <string_view>

namespace etalon {

[[nodiscard]] std::string_view version();         // 0.1.0
[[nodiscard]] std::string_view revision();        // 1a2b3c4d5e6f, "+dirty" when uncommitted
[[nodiscard]] std::string_view compiler();        // g++ 12.2.0
[[nodiscard]] std::string_view build_features();  // cuda, cudnn, onednn, portable

}  // namespace etalon
