#include "kernels/testing/gpu_test.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/util/element.cuh"

namespace etalon::kernels::testing {
namespace {

constexpr std::size_t kGuardBytes = 256;

template <typename Visit>
void visit(ElementType type, Visit&& body) {
    check(visit_element(type, [&]<typename T>() {
        body.template operator()<T>();
        return cudaSuccess;
    }));
}

}  // namespace

void check(cudaError_t error) {
    if (error != cudaSuccess) {
        throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
    }
}

void synchronize() {
    check(cudaDeviceSynchronize());
}

std::uint64_t fresh_seed() {
    const char* const given = std::getenv("ETALON_TEST_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("seed: ETALON_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

std::int64_t aligned_ld(ElementType type, std::int64_t cols) {
    const auto elements = static_cast<std::int64_t>(16 / element_bytes(type));
    return (cols / elements + 1) * elements;
}

Tensor::Tensor(ElementType type, const Place& place)
    : type_(type),
      place_(place),
      bytes_(static_cast<std::size_t>(place.rows * place.ld + place.offset) * element_bytes(type) +
             2 * kGuardBytes),
      memory_(bytes_) {
    poison();
}

void Tensor::poison() const {
    check(cudaMemset(memory_.data(), 0xFF, bytes_));
    // The legacy stream's memset may still run when a kernel starts on another stream.
    synchronize();
}

Tensor::Tensor(ElementType type, const Place& place, std::span<const double> values)
    : Tensor(type, place) {
    std::vector<std::byte> bytes(bytes_, std::byte{0xFF});
    visit(type, [&]<typename T>() {
        for (std::int64_t row = 0; row < place_.rows; ++row) {
            for (std::int64_t col = 0; col < place_.cols; ++col) {
                const T stored =
                    from_double<T>(values[static_cast<std::size_t>(row * place_.cols + col)]);
                std::memcpy(bytes.data() + start(row) + static_cast<std::size_t>(col) * sizeof(T),
                            &stored, sizeof(T));
            }
        }
    });
    check(cudaMemcpy(memory_.data(), bytes.data(), bytes_, cudaMemcpyHostToDevice));
    synchronize();
}

std::size_t Tensor::start(std::int64_t row) const {
    return kGuardBytes +
           static_cast<std::size_t>(place_.offset + row * place_.ld) * element_bytes(type_);
}

void* Tensor::data() const {
    return memory_.data() + start(0);
}

std::vector<std::byte> Tensor::download() const {
    std::vector<std::byte> bytes(bytes_);
    synchronize();
    check(cudaMemcpy(bytes.data(), memory_.data(), bytes_, cudaMemcpyDeviceToHost));
    return bytes;
}

std::vector<double> Tensor::values() const {
    const std::vector<std::byte> bytes = download();
    std::vector<double> values(static_cast<std::size_t>(place_.rows * place_.cols));
    visit(type_, [&]<typename T>() {
        for (std::int64_t row = 0; row < place_.rows; ++row) {
            for (std::int64_t col = 0; col < place_.cols; ++col) {
                T stored;
                std::memcpy(static_cast<void*>(&stored),
                            bytes.data() + start(row) + static_cast<std::size_t>(col) * sizeof(T),
                            sizeof(T));
                values[static_cast<std::size_t>(row * place_.cols + col)] = to_double(stored);
            }
        }
    });
    return values;
}

std::int64_t Tensor::written_outside() const {
    std::vector<std::byte> bytes = download();
    const std::size_t row_bytes = static_cast<std::size_t>(place_.cols) * element_bytes(type_);
    for (std::int64_t row = 0; row < place_.rows; ++row) {
        std::memset(bytes.data() + start(row), 0xFF, row_bytes);
    }
    return std::count_if(bytes.begin(), bytes.end(),
                         [](std::byte byte) { return byte != std::byte{0xFF}; });
}

std::vector<double> normal_values(std::size_t count, std::mt19937_64& random, double mean,
                                  double sigma) {
    std::normal_distribution<double> normal(mean, sigma);
    std::vector<double> values(count);
    for (double& value : values) value = normal(random);
    return values;
}

double rounded(ElementType type, double value) {
    double result = 0;
    visit(type, [&]<typename T>() { result = to_double(from_double<T>(value)); });
    return result;
}

std::vector<double> download_doubles(const DeviceMemory& memory, std::size_t count) {
    std::vector<double> values(count);
    synchronize();
    check(cudaMemcpy(values.data(), memory.data(), count * sizeof(double), cudaMemcpyDeviceToHost));
    return values;
}

Errors errors(std::span<const double> out, std::span<const double> ref) {
    if (out.size() != ref.size()) throw std::runtime_error("tensors of unlike size");
    double sum_sq_diff = 0;
    double sum_sq_ref = 0;
    double max_diff = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (!std::isfinite(out[i]) || !std::isfinite(ref[i])) {
            constexpr double kInfinity = std::numeric_limits<double>::infinity();
            return {kInfinity, kInfinity};
        }
        const double diff = std::abs(out[i] - ref[i]);
        sum_sq_diff += diff * diff;
        sum_sq_ref += ref[i] * ref[i];
        max_diff = std::max(max_diff, diff);
    }
    if (sum_sq_diff == 0) return {};
    const double rms = std::sqrt(sum_sq_ref / static_cast<double>(ref.size()));
    return {std::sqrt(sum_sq_diff / sum_sq_ref), max_diff / rms};
}

}  // namespace etalon::kernels::testing
