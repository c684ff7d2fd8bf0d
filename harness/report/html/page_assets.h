// The page without its data: made by CMake from the .html, .css and .js files beside this, and
// Chart.js as Debian has it.
#pragma once

#include <string_view>

namespace etalon::report {

struct PageAssets {
    std::string_view before_data, after_data;
};
[[nodiscard]] PageAssets page_assets();

}  // namespace etalon::report
