#include "baselines/common/vendor_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace etalon {
namespace {

constexpr std::size_t first_five_digit_version = 10000;

int major_of(std::size_t version) {
    return static_cast<int>(version >= first_five_digit_version ? version / 10000 : version / 1000);
}

std::string loader_error() {
    const char* text = dlerror();
    return text == nullptr ? "no reason given" : text;
}

}  // namespace

std::string vendor_version_text(std::size_t version) {
    const std::size_t rest = version >= first_five_digit_version ? version % 10000 : version % 1000;
    return fmt::format("{}.{}.{}", major_of(version), rest / 100, rest % 100);
}

VendorLibrary::VendorLibrary(const VendorLibrarySpec& spec) : spec_(spec), path_(spec.file) {
    const std::string variable(spec.variable);
    if (const char* path = std::getenv(variable.c_str()); path != nullptr && *path != '\0') {
        path_ = path;
    }
    const std::string mend =
        fmt::format("pip install {}, then set {} to its {}", spec.package, variable, spec.file);
    // Not unloaded on close: cudnn-frontend keeps addresses of functions in static variables.
    handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ == nullptr) {
        problem_ = fmt::format("{} {} cannot be opened ({}); {}", spec.name, spec.major,
                               loader_error(), mend);
        return;
    }
    const std::string symbol(spec.version_symbol);
    const auto get_version = reinterpret_cast<std::size_t (*)()>(dlsym(handle_, symbol.c_str()));
    if (get_version == nullptr) {
        problem_ = fmt::format("{} is not {}: it has no {}; {}", path_, spec.name, symbol, mend);
        return;
    }
    const std::size_t version = get_version();
    version_ = vendor_version_text(version);
    if (major_of(version) != spec.major) {
        problem_ = fmt::format("{} is {} {}, and this build needs {} {}; {}", path_, spec.name,
                               version_, spec.name, spec.major, mend);
    }
}

VendorLibrary::~VendorLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
}

void* VendorLibrary::address(const char* symbol) const {
    if (!problem_.empty()) throw device_error(problem_);
    void* found = dlsym(handle_, symbol);
    if (found == nullptr) {
        throw device_error(fmt::format("{} {} has no {}; install a newer release of {}", spec_.name,
                                       version_, symbol, spec_.package));
    }
    return found;
}

}  // namespace etalon
