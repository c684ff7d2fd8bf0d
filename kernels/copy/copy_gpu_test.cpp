#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/copy/copy.h"
#include "kernels/testing/gpu_test.h"

namespace etalon::kernels {
namespace {

using namespace testing;  // NOLINT: the helpers of kernels/testing

class Copy : public ::testing::Test {
   protected:
    // Copies between these offsets and checks every byte of the target's memory.
    void expect_copied(std::size_t to_offset, std::size_t from_offset, std::size_t bytes) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes from +" + std::to_string(from_offset) +
                     " to +" + std::to_string(to_offset));
        std::vector<unsigned char> source(from_offset + bytes + kGuard);
        for (unsigned char& byte : source) byte = static_cast<unsigned char>(random_());
        std::vector<unsigned char> expected(to_offset + bytes + kGuard, 0xA5);
        const DeviceMemory from(source.size());
        const DeviceMemory to(expected.size());
        check(cudaMemcpy(from.data(), source.data(), source.size(), cudaMemcpyHostToDevice));
        check(cudaMemcpy(to.data(), expected.data(), expected.size(), cudaMemcpyHostToDevice));
        check(copy(to.data() + to_offset, from.data() + from_offset, bytes, nullptr));
        synchronize();
        std::vector<unsigned char> found(expected.size());
        check(cudaMemcpy(found.data(), to.data(), found.size(), cudaMemcpyDeviceToHost));
        std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from_offset), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(to_offset));
        EXPECT_TRUE(found == expected);
    }

    static constexpr std::size_t kGuard = 64;
    std::mt19937_64 random_{fresh_seed()};
};

TEST_F(Copy, EveryPairOfAlignments) {
    for (std::size_t to = 0; to < 17; ++to) {
        for (std::size_t from = 0; from < 17; ++from) expect_copied(to, from, 1021);
    }
}

TEST_F(Copy, EverySizeAroundAWordAndABlock) {
    for (const std::size_t bytes : {0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 32767, 32768, 32769,
                                    65536, 65551, 1048576, 1048583}) {
        expect_copied(0, 0, bytes);
        expect_copied(3, 3, bytes);
        expect_copied(8, 0, bytes);
        expect_copied(5, 0, bytes);
    }
}

}  // namespace
}  // namespace etalon::kernels
