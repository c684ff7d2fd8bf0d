// The libraries that providers use on this machine, with the version that is really loaded.
#pragma once

#include <string>
#include <vector>

#include "harness/core/case.h"
#include "harness/core/records.h"

namespace etalon {

struct Library {
    std::string name;     // cuBLAS, cuDNN, oneDNN
    std::string version;  // empty when it cannot be used
    std::string problem;  // one line with the mend when it cannot be used
};
[[nodiscard]] std::vector<Library> libraries(DeviceKind kind);

// Writes their versions into the environment.
void add_library_versions(Environment& environment, DeviceKind kind);

}  // namespace etalon
