#include "baselines/common/vendor_library.h"

#include <gmock/gmock.h>

namespace etalon {
namespace {

TEST(VendorVersion, FiveDigitsAndFour) {
    EXPECT_EQ(vendor_version_text(91900), "9.19.0");
    EXPECT_EQ(vendor_version_text(91002), "9.10.2");
    EXPECT_EQ(vendor_version_text(130100), "13.1.0");
    EXPECT_EQ(vendor_version_text(120805), "12.8.5");
    EXPECT_EQ(vendor_version_text(80900), "8.9.0");
    EXPECT_EQ(vendor_version_text(8907), "8.9.7");
}

TEST(VendorLibrary, AFileThatIsSomethingElse) {
    const VendorLibrary library({.name = "cuDNN",
                                 .file = "libm.so.6",
                                 .variable = "ETALON_NO_SUCH_VARIABLE",
                                 .version_symbol = "cudnnGetVersion",
                                 .major = 9,
                                 .package = "nvidia-cudnn-cu13"});
    EXPECT_EQ(library.version(), "");
    EXPECT_EQ(library.problem(),
              "libm.so.6 is not cuDNN: it has no cudnnGetVersion; pip install nvidia-cudnn-cu13, "
              "then set ETALON_NO_SUCH_VARIABLE to its libm.so.6");
    void (*function)() = nullptr;
    EXPECT_THROW(library.find(function, "cos"), Error);
}

}  // namespace
}  // namespace etalon
