// What the tests of kernels share: tensors in device memory with poison around every element that
// is not theirs, and the comparison of outputs on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "kernels/util/element_type.h"

namespace etalon::kernels::testing {

// Throws std::runtime_error with the runtime's words.
void check(cudaError_t error);
// Waits for everything launched, and throws if any of it failed.
void synchronize();

// A new seed every time, printed so that a failure can be repeated: set ETALON_TEST_SEED to it.
std::uint64_t fresh_seed();

class DeviceMemory {
   public:
    explicit DeviceMemory(std::size_t bytes) { check(cudaMalloc(&data_, bytes)); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    DeviceMemory(DeviceMemory&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
    DeviceMemory& operator=(DeviceMemory&&) = delete;
    ~DeviceMemory() { cudaFree(data_); }
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

   private:
    void* data_ = nullptr;
};

// Where a tensor lies: rows of ld ≥ cols elements, `offset` elements after a 256-byte boundary.
struct Place {
    std::int64_t rows = 1;
    std::int64_t cols = 1;
    std::int64_t ld = 1;
    std::int64_t offset = 0;
};

// The least ld whose rows are a multiple of 16 bytes and leave at least one padding element.
[[nodiscard]] std::int64_t aligned_ld(ElementType type, std::int64_t cols);

// Everything but the rows × cols elements is 0xFF: before, between the rows and after.
class Tensor {
   public:
    // All of it poison: an output.
    Tensor(ElementType type, const Place& place);
    // An input that holds these rows × cols values, rounded to the type.
    Tensor(ElementType type, const Place& place, std::span<const double> values);

    [[nodiscard]] void* data() const;
    [[nodiscard]] ElementType type() const { return type_; }
    [[nodiscard]] const Place& place() const { return place_; }
    // rows × cols values, as stored now.
    [[nodiscard]] std::vector<double> values() const;
    // All of it poison again: an output before its next use.
    void poison() const;
    // Bytes outside the elements that are no longer 0xFF.
    [[nodiscard]] std::int64_t written_outside() const;

   private:
    [[nodiscard]] std::vector<std::byte> download() const;
    [[nodiscard]] std::size_t start(std::int64_t row) const;  // byte of the row's first element

    ElementType type_;
    Place place_;
    std::size_t bytes_;
    DeviceMemory memory_;
};

[[nodiscard]] std::vector<double> normal_values(std::size_t count, std::mt19937_64& random,
                                                double mean = 0.0, double sigma = 1.0);
// The value that the type would store.
[[nodiscard]] double rounded(ElementType type, double value);

[[nodiscard]] std::vector<double> download_doubles(const DeviceMemory& memory, std::size_t count);

// ‖out − ref‖ / ‖ref‖ and max |out − ref| / rms(ref); infinite where one is finite and the other
// is not.
struct Errors {
    double relative = 0;
    double maximum = 0;
};
[[nodiscard]] Errors errors(std::span<const double> out, std::span<const double> ref);

}  // namespace etalon::kernels::testing
