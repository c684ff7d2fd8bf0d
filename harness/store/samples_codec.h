// Samples of one measurement as a small blob.
//
// Durations are kept as whole picoseconds and clocks as whole hundredths of a megahertz, so values
// that are multiples of these quanta come back bit for bit; others come back rounded to the
// quantum, which is four orders of magnitude under what any timer resolves. A column with a value
// that the quantum would change by more than 1 part in 100 000 (a duration under 50 ps, say) is
// kept as raw doubles. Within a column the integers are stored as multiples of their greatest
// common step, from their least value or from their predecessor, in as few bits as the widest
// needs.
//
// Layout, little-endian:
//   u8   version 1, plus 0x80 when the body is a zstd frame (kept only where it is smaller)
//   u32  FNV-1a of the plain body: SQLite's integrity check does not see a flipped bit in a blob
//   body: varint count, then the column of durations and the column of clocks:
//         u8 kind   0 raw: count × f64
//                   1 from the least:   zigzag base, varint step, u8 bits, count × bits
//                   2 from predecessor: zigzag first, varint step, u8 bits, (count − 1) × bits,
//                     each the zigzag of (difference / step)
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records.h"

namespace etalon::store {

inline constexpr double duration_quantum_ns = 0.001;
inline constexpr double clock_quantum_mhz = 0.01;

// Reuses its buffers and its compression context: one per writer, not for two threads.
class SamplesEncoder {
   public:
    SamplesEncoder();
    SamplesEncoder(const SamplesEncoder&) = delete;
    SamplesEncoder& operator=(const SamplesEncoder&) = delete;
    ~SamplesEncoder();
    // Valid until the next call. Values must be finite.
    [[nodiscard]] std::string_view encode(std::span<const Sample> samples);

   private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Throws a usage Error of one line for a blob that is damaged or of a later version.
[[nodiscard]] std::vector<Sample> decode_samples(std::string_view blob);

}  // namespace etalon::store
