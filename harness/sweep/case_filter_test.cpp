#include "harness/sweep/case_filter.h"

#include <gmock/gmock.h>

#include "harness/core/error.h"

namespace etalon {
namespace {

constexpr const char* id = "gemm/bf16/m=64,n=128,k=32/cublaslt/cold";

TEST(CaseFilter, GlobsSpanTheWholeIdAndExpressionsAreSearched) {
    EXPECT_TRUE(CaseFilter().matches(id));
    EXPECT_TRUE(CaseFilter({"gemm/*"}, {}).matches(id));
    EXPECT_FALSE(CaseFilter({"gemm"}, {}).matches(id));
    EXPECT_TRUE(CaseFilter({"re:m=6[0-9],"}, {}).matches(id));
    EXPECT_TRUE(CaseFilter({"/k=32/"}, {}).matches(id));
    EXPECT_FALSE(CaseFilter({"gemm/*"}, {"*cublaslt*"}).matches(id));
}

TEST(CaseFilter, ABadExpressionIsAUsageError) {
    EXPECT_THROW(CaseFilter({"re:(("}, {}), Error);
}

}  // namespace
}  // namespace etalon
