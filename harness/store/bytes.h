// Little-endian bytes, variable-length integers and bit packing for the samples blob.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::store {

// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ... so that small magnitudes are small numbers.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Fowler-Noll-Vo 1a. Tells texts apart and sees damage; not for security.
[[nodiscard]] std::uint32_t fnv1a_32(std::string_view bytes);
[[nodiscard]] std::uint64_t fnv1a_64(std::string_view bytes);

class ByteWriter {
   public:
    void clear() { bytes_.clear(); }
    void u8(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
    void f64(double value);
    void varint(std::uint64_t value);  // 7 bits a byte, least first
    // `bits` (0 to 64) of each value, back to back, the last byte filled with zeros.
    void packed(std::span<const std::uint64_t> values, int bits);
    [[nodiscard]] std::string_view view() const { return bytes_; }

   private:
    std::string bytes_;
};

// Every read past the end is a usage Error, so damaged input cannot be read out of bounds.
class ByteReader {
   public:
    explicit ByteReader(std::string_view bytes) : left_(bytes) {}
    [[nodiscard]] std::uint8_t u8();
    [[nodiscard]] double f64();
    [[nodiscard]] std::uint64_t varint();
    [[nodiscard]] std::vector<std::uint64_t> packed(std::size_t count, int bits);
    [[nodiscard]] bool at_end() const { return left_.empty(); }

   private:
    std::string_view take(std::size_t size);
    std::string_view left_;
};

}  // namespace etalon::store
