// Text as XML takes it.
#pragma once

#include <string>
#include <string_view>

namespace etalon::report {

// For an element's text or an attribute in double quotes. What XML 1.0 has no place for (most
// control characters, invalid UTF-8, U+FFFE and U+FFFF) becomes U+FFFD; line breaks and tabs are
// written as references, so that attributes keep them.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace etalon::report
