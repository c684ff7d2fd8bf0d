// The files of results/migrations, in the program.
#pragma once

#include <string_view>

namespace etalon::store {

// SQL that takes a file from schema `version` − 1 to `version`; version is 1 to schema_version.
[[nodiscard]] std::string_view migration_sql(int version);

}  // namespace etalon::store
