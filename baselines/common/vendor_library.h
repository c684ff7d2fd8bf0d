// A vendor's shared library, opened at run time: programs start on machines that have none, and
// only what needs the library says so.
#pragma once

#include <string>
#include <string_view>

#include "harness/core/error.h"

namespace etalon {

struct VendorLibrarySpec {
    std::string_view name;            // "cuDNN"
    std::string_view file;            // "libcudnn.so.9": what the loader is asked for
    std::string_view variable;        // "ETALON_CUDNN": environment variable, path of the file
    std::string_view version_symbol;  // function of no arguments that returns a std::size_t
    int major = 0;                    // the one that this build can use
    std::string_view package;         // "nvidia-cudnn-cu13": the wheel that brings it
};

// 91900 → "9.19.0", and 8900 → "8.9.0" from before the scheme changed with the fifth digit.
[[nodiscard]] std::string vendor_version_text(std::size_t version);

class VendorLibrary {
   public:
    // Never throws: problem() says what is wrong.
    explicit VendorLibrary(const VendorLibrarySpec& spec);
    VendorLibrary(const VendorLibrary&) = delete;
    VendorLibrary& operator=(const VendorLibrary&) = delete;
    ~VendorLibrary();

    // One line that names the library and the mend; empty when it can be used.
    [[nodiscard]] const std::string& problem() const { return problem_; }
    // "9.14.0"; empty when the library is missing. Set for an unusable major version too.
    [[nodiscard]] const std::string& version() const { return version_; }
    [[nodiscard]] void* handle() const { return handle_; }

    // Sets `function` to the library's `symbol`. Throws a device Error that names it.
    template <typename Function>
    void find(Function& function, const char* symbol) const {
        function = reinterpret_cast<Function>(address(symbol));
    }

   private:
    [[nodiscard]] void* address(const char* symbol) const;
    VendorLibrarySpec spec_;
    std::string path_;
    void* handle_ = nullptr;
    std::string version_;
    std::string problem_;
};

}  // namespace etalon
