#include "harness/store/bytes.h"

#include <algorithm>
#include <cstring>

#include "harness/core/error.h"

namespace etalon::store {

std::uint32_t fnv1a_32(std::string_view bytes) {
    std::uint32_t state = 0x811c9dc5U;
    for (const char c : bytes) state = (state ^ static_cast<unsigned char>(c)) * 0x01000193U;
    return state;
}

std::uint64_t fnv1a_64(std::string_view bytes) {
    std::uint64_t state = 0xcbf29ce484222325ULL;
    for (const char c : bytes) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return state;
}

void ByteWriter::f64(double value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof raw);
}

void ByteWriter::varint(std::uint64_t value) {
    while (value >= 0x80) {
        u8(static_cast<std::uint8_t>(value | 0x80));
        value >>= 7;
    }
    u8(static_cast<std::uint8_t>(value));
}

void ByteWriter::packed(std::span<const std::uint64_t> values, int bits) {
    std::uint64_t held = 0;  // bits not yet written, least first
    int count = 0;           // how many: always under 8 between values
    for (std::uint64_t value : values) {
        for (int left = bits; left > 0;) {
            const int part = std::min(left, 32);
            held |= (value & ((std::uint64_t{1} << part) - 1)) << count;
            count += part;
            value >>= part;
            left -= part;
            for (; count >= 8; count -= 8) {
                u8(static_cast<std::uint8_t>(held));
                held >>= 8;
            }
        }
    }
    if (count > 0) u8(static_cast<std::uint8_t>(held));
}

std::string_view ByteReader::take(std::size_t size) {
    if (size > left_.size()) throw usage_error("samples are cut off");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
}

std::uint8_t ByteReader::u8() {
    return static_cast<std::uint8_t>(take(1)[0]);
}

double ByteReader::f64() {
    double value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
}

std::uint64_t ByteReader::varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const std::uint64_t byte = u8();
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    throw usage_error("samples hold a number that is too long");
}

std::vector<std::uint64_t> ByteReader::packed(std::size_t count, int bits) {
    if (bits > 64) throw usage_error("samples claim more than 64 bits a value");
    const std::string_view bytes = take((count * static_cast<std::size_t>(bits) + 7) / 8);
    std::vector<std::uint64_t> values(count, 0);
    std::size_t at = 0;  // in bits
    for (std::uint64_t& value : values) {
        for (int done = 0; done < bits;) {
            const int offset = static_cast<int>(at % 8);
            const int part = std::min(8 - offset, bits - done);
            const auto byte = static_cast<unsigned char>(bytes[at / 8]);
            const std::uint64_t chunk = (byte >> offset) & ((1U << part) - 1);
            value |= chunk << done;
            done += part;
            at += static_cast<std::size_t>(part);
        }
    }
    return values;
}

}  // namespace etalon::store
