#include "harness/store/samples_codec.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "harness/core/error.h"
#include "harness/store/bytes.h"

namespace etalon::store {
namespace {

static_assert(std::endian::native == std::endian::little, "the layout is written as it lies");

constexpr std::uint8_t version = 1;
constexpr std::uint8_t zstd_flag = 0x80;
constexpr std::size_t header_bytes = 5;
constexpr std::size_t min_zstd_raw_bytes = 64;  // below, a frame cannot win back its own header
constexpr std::size_t min_zstd_packed_bytes = 1024;
constexpr std::size_t max_samples = 1u << 24;     // guards the decoder against a damaged count
constexpr double max_integer = 9007199254740992;  // 2^53: past it doubles skip integers
constexpr double max_relative_change = 1e-5;

enum class Kind : std::uint8_t { raw = 0, from_least = 1, from_predecessor = 2 };

// Quanta as divisors: q / 1000.0 is the double nearest to the decimal, q * 0.001 is not.
constexpr double duration_per_quantum = 1000;
constexpr double clock_per_quantum = 100;

bool quantise(std::span<const double> values, double per_quantum, std::vector<std::int64_t>& out) {
    out.clear();
    for (const double value : values) {
        const double scaled = value * per_quantum;
        if (!(std::fabs(scaled) < max_integer)) return false;
        const double rounded = std::nearbyint(scaled);
        if (std::fabs(rounded / per_quantum - value) > max_relative_change * std::fabs(value)) {
            return false;
        }
        out.push_back(static_cast<std::int64_t>(rounded));
    }
    return true;
}

// Returns the kind it chose.
Kind put_column(ByteWriter& out, std::span<const double> values, double per_quantum,
                std::vector<std::int64_t>& integers, std::vector<std::uint64_t>& residuals) {
    if (values.empty()) return Kind::from_least;
    if (!quantise(values, per_quantum, integers)) {
        out.u8(static_cast<std::uint8_t>(Kind::raw));
        for (const double value : values) out.f64(value);
        return Kind::raw;
    }
    const std::int64_t least = *std::min_element(integers.begin(), integers.end());
    std::uint64_t step = 0;
    std::uint64_t widest = 0;
    for (const std::int64_t value : integers) {
        const auto above = static_cast<std::uint64_t>(value - least);
        // Most values divide by the step found so far, and one division is cheaper than a gcd.
        if (step == 0 || above % step != 0) step = std::gcd(step, above);
        widest = std::max(widest, above);
    }
    step = std::max<std::uint64_t>(step, 1);
    widest /= step;

    std::uint64_t widest_change = 0;
    for (std::size_t i = 1; i < integers.size(); ++i) {
        const std::int64_t change =
            (integers[i] - integers[i - 1]) / static_cast<std::int64_t>(step);
        widest_change = std::max(widest_change, zigzag(change));
    }
    const bool by_change = std::bit_width(widest_change) < std::bit_width(widest);
    residuals.clear();
    if (by_change) {
        for (std::size_t i = 1; i < integers.size(); ++i) {
            residuals.push_back(
                zigzag((integers[i] - integers[i - 1]) / static_cast<std::int64_t>(step)));
        }
    } else {
        for (const std::int64_t value : integers) {
            residuals.push_back(static_cast<std::uint64_t>(value - least) / step);
        }
    }
    const Kind kind = by_change ? Kind::from_predecessor : Kind::from_least;
    out.u8(static_cast<std::uint8_t>(kind));
    out.varint(zigzag(by_change ? integers.front() : least));
    out.varint(step);
    const int bits = std::bit_width(by_change ? widest_change : widest);
    out.u8(static_cast<std::uint8_t>(bits));
    out.packed(residuals, bits);
    return kind;
}

std::vector<double> get_column(ByteReader& in, std::size_t count, double per_quantum) {
    std::vector<double> values;
    if (count == 0) return values;
    values.reserve(count);
    const auto kind = static_cast<Kind>(in.u8());
    if (kind == Kind::raw) {
        for (std::size_t i = 0; i < count; ++i) values.push_back(in.f64());
        return values;
    }
    if (kind != Kind::from_least && kind != Kind::from_predecessor) {
        throw usage_error("samples of an unknown kind");
    }
    // Unsigned arithmetic: a damaged blob may overflow, and must not be undefined.
    auto at = static_cast<std::uint64_t>(unzigzag(in.varint()));
    const std::uint64_t step = in.varint();
    const int bits = in.u8();
    const auto add = [&](std::uint64_t integer) {
        values.push_back(static_cast<double>(static_cast<std::int64_t>(integer)) / per_quantum);
    };
    if (kind == Kind::from_least) {
        for (const std::uint64_t residual : in.packed(count, bits)) add(at + residual * step);
        return values;
    }
    add(at);
    for (const std::uint64_t change : in.packed(count - 1, bits)) {
        at += static_cast<std::uint64_t>(unzigzag(change)) * step;
        add(at);
    }
    return values;
}

struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

std::string decompress(std::string_view frame) {
    const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
        size > max_samples * 2 * sizeof(double)) {
        throw usage_error("samples are not a zstd frame");
    }
    std::string body(size, '\0');
    const std::size_t got = ZSTD_decompress(body.data(), body.size(), frame.data(), frame.size());
    if (ZSTD_isError(got) || got != size) throw usage_error("samples do not decompress");
    return body;
}

}  // namespace

struct SamplesEncoder::Impl {
    std::unique_ptr<ZSTD_CCtx, FreeContext> context{ZSTD_createCCtx()};
    std::vector<double> column;
    std::vector<std::int64_t> integers;
    std::vector<std::uint64_t> residuals;
    ByteWriter body;
    std::string blob;
};

SamplesEncoder::SamplesEncoder() : impl_(std::make_unique<Impl>()) {}
SamplesEncoder::~SamplesEncoder() = default;

std::string_view SamplesEncoder::encode(std::span<const Sample> samples) {
    Impl& s = *impl_;
    s.body.clear();
    s.body.varint(samples.size());
    s.column.clear();
    for (const Sample& sample : samples) s.column.push_back(sample.duration_ns);
    const Kind durations =
        put_column(s.body, s.column, duration_per_quantum, s.integers, s.residuals);
    s.column.clear();
    for (const Sample& sample : samples) s.column.push_back(sample.clock_mhz);
    const Kind clocks = put_column(s.body, s.column, clock_per_quantum, s.integers, s.residuals);

    const std::string_view body = s.body.view();
    std::size_t stored = body.size();
    std::uint8_t head = version;
    s.blob.resize(header_bytes + std::max(body.size(), ZSTD_compressBound(body.size())));
    // Packed bits are noise to zstd; long columns may still repeat themselves.
    const bool has_raw = durations == Kind::raw || clocks == Kind::raw;
    if (body.size() >= (has_raw ? min_zstd_raw_bytes : min_zstd_packed_bytes)) {
        const std::size_t size =
            ZSTD_compressCCtx(s.context.get(), s.blob.data() + header_bytes,
                              s.blob.size() - header_bytes, body.data(), body.size(), 1);
        if (!ZSTD_isError(size) && size < body.size()) {
            head |= zstd_flag;
            stored = size;
        }
    }
    if ((head & zstd_flag) == 0) std::memcpy(s.blob.data() + header_bytes, body.data(), stored);
    const std::uint32_t checksum = fnv1a_32(body);
    s.blob[0] = static_cast<char>(head);
    std::memcpy(s.blob.data() + 1, &checksum, sizeof checksum);
    s.blob.resize(header_bytes + stored);
    return s.blob;
}

std::vector<Sample> decode_samples(std::string_view blob) {
    if (blob.size() < header_bytes) throw usage_error("samples are cut off");
    const auto head = static_cast<std::uint8_t>(blob[0]);
    if ((head & ~zstd_flag) != version) {
        throw usage_error("samples are of a later version; use a newer etalon");
    }
    std::uint32_t checksum = 0;
    std::memcpy(&checksum, blob.data() + 1, sizeof checksum);
    std::string plain;
    std::string_view body = blob.substr(header_bytes);
    if ((head & zstd_flag) != 0) {
        plain = decompress(body);
        body = plain;
    }
    if (fnv1a_32(body) != checksum) throw usage_error("samples do not match their checksum");

    ByteReader in(body);
    const std::uint64_t count = in.varint();
    if (count > max_samples) throw usage_error("samples have an impossible count");
    const std::vector<double> durations = get_column(in, count, duration_per_quantum);
    const std::vector<double> clocks = get_column(in, count, clock_per_quantum);
    if (!in.at_end()) throw usage_error("samples have bytes left over");
    std::vector<Sample> samples(count);
    for (std::size_t i = 0; i < count; ++i) samples[i] = {durations[i], clocks[i]};
    return samples;
}

}  // namespace etalon::store
