#include "harness/store/samples_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "harness/core/error.h"
#include "harness/store/bytes.h"

namespace etalon::store {
namespace {

std::vector<Sample> round_trip(const std::vector<Sample>& samples) {
    SamplesEncoder encoder;
    return decode_samples(encoder.encode(samples));
}

void expect_bit_exact(const std::vector<Sample>& samples) {
    const std::vector<Sample> back = round_trip(samples);
    ASSERT_EQ(back.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(back[i].duration_ns),
                  std::bit_cast<std::uint64_t>(samples[i].duration_ns))
            << i << ": " << samples[i].duration_ns;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(back[i].clock_mhz),
                  std::bit_cast<std::uint64_t>(samples[i].clock_mhz))
            << i << ": " << samples[i].clock_mhz;
    }
}

TEST(Bytes, ZigzagIsItsOwnInverse) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{12345},
          std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        EXPECT_EQ(unzigzag(zigzag(value)), value);
    }
    EXPECT_EQ(zigzag(-1), 1u);
    EXPECT_EQ(zigzag(1), 2u);
}

TEST(Bytes, PackingKeepsEveryWidth) {
    std::mt19937_64 random(7);
    for (int bits = 0; bits <= 64; ++bits) {
        std::vector<std::uint64_t> values;
        for (int i = 0; i < 37; ++i) values.push_back(bits == 0 ? 0 : random() >> (64 - bits));
        ByteWriter out;
        out.packed(values, bits);
        EXPECT_EQ(out.view().size(), (37u * static_cast<unsigned>(bits) + 7) / 8);
        ByteReader in(out.view());
        EXPECT_EQ(in.packed(values.size(), bits), values) << bits;
        EXPECT_TRUE(in.at_end());
    }
}

TEST(SamplesCodec, NoneAndOne) {
    expect_bit_exact({});
    expect_bit_exact({{26720, 1634.2}});
    expect_bit_exact({{0, 0}});
}

TEST(SamplesCodec, MultiplesOfTheQuantaAreBitExact) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<Sample> samples;
        const std::uint64_t spread = std::uint64_t{1} << (random() % 40);
        for (int i = 0; i < 1 + round; ++i) {
            const auto ps = static_cast<double>(1'000'000 + random() % spread);
            const auto clock = static_cast<double>(120000 + random() % 78000);
            samples.push_back({ps / 1000, clock / 100});
        }
        expect_bit_exact(samples);
    }
}

TEST(SamplesCodec, TimerStepsTakeFewBytes) {
    std::vector<Sample> samples;
    for (int i = 0; i < 64; ++i) samples.push_back({26720.0 + 32 * (i * 7 % 8), 1980});
    SamplesEncoder encoder;
    // 64 × 3 bits of steps, none for a clock that stands still, and the heads.
    EXPECT_LT(encoder.encode(samples).size(), 24u + 24u);
    expect_bit_exact(samples);
}

TEST(SamplesCodec, DriftIsStoredAsChanges) {
    std::vector<Sample> samples;
    for (int i = 0; i < 64; ++i)
        samples.push_back({1e6 + i * 3200.0 + 32 * (i % 3), 1980 - i * .1});
    SamplesEncoder encoder;
    EXPECT_LT(encoder.encode(samples).size(), 110u);
    expect_bit_exact(samples);
}

TEST(SamplesCodec, OtherValuesAreWithinTheQuantum) {
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> duration(1000, 1e9), clock(1200, 1980);
    std::vector<Sample> samples;
    for (int i = 0; i < 300; ++i) samples.push_back({duration(random), clock(random)});
    const std::vector<Sample> back = round_trip(samples);
    ASSERT_EQ(back.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        EXPECT_NEAR(back[i].duration_ns, samples[i].duration_ns, duration_quantum_ns * 0.5001);
        EXPECT_NEAR(back[i].clock_mhz, samples[i].clock_mhz, clock_quantum_mhz * 0.5001);
    }
    expect_bit_exact(back);  // what was rounded once is not rounded again
}

TEST(SamplesCodec, ValuesTheQuantaWouldSpoilAreKeptRaw) {
    expect_bit_exact({{0.0123456789, 1500}, {26720, 1500}});
    expect_bit_exact({{26720, 0.3333333333}, {26720, 1e-12}});
    expect_bit_exact({{1e300, 1e300}, {5e-324, 1}});
    expect_bit_exact({{9.1e15, 1500}, {1.0, 1500}});
}

TEST(SamplesCodec, RepetitionIsCompressed) {
    std::vector<Sample> raw, packed;
    for (int i = 0; i < 1000; ++i) {
        raw.push_back({0.0123456789 + i % 3, 1500});
        packed.push_back({1000.0 + (i * i) % 1024 * 32, 1500});
    }
    SamplesEncoder encoder;
    EXPECT_LT(encoder.encode(raw).size(), 300u);
    expect_bit_exact(raw);
    EXPECT_LT(encoder.encode(packed).size(), 700u);  // 10 bits each, but a period of 64
    expect_bit_exact(packed);
}

TEST(SamplesCodec, DamageIsNoticed) {
    std::vector<Sample> samples;
    std::mt19937_64 random(3);
    for (int i = 0; i < 64; ++i) samples.push_back({26720.0 + 32 * double(random() % 200), 1500.5});
    SamplesEncoder encoder;
    const std::string blob(encoder.encode(samples));
    for (std::size_t size = 0; size < blob.size(); ++size) {
        EXPECT_THROW((void)decode_samples(std::string_view(blob).substr(0, size)), Error) << size;
    }
    for (std::size_t bit = 0; bit < blob.size() * 8; ++bit) {
        std::string damaged = blob;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_THROW((void)decode_samples(damaged), Error) << bit;
    }
    EXPECT_THROW((void)decode_samples(blob + "x"), Error);
}

TEST(SamplesCodec, DamageWithAMatchingChecksumIsNeverUndefined) {
    std::mt19937_64 random(4);
    std::vector<Sample> samples;
    for (int i = 0; i < 20; ++i) samples.push_back({double(random() % 100000), 1500});
    SamplesEncoder encoder;
    const std::string blob(encoder.encode(samples));
    ASSERT_EQ(blob[0], 1) << "plain body expected";
    int refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string damaged = blob;
        for (int i = 0; i < 3; ++i) damaged[5 + random() % (blob.size() - 5)] = char(random());
        const std::uint32_t checksum = fnv1a_32(std::string_view(damaged).substr(5));
        for (int i = 0; i < 4; ++i) damaged[1 + std::size_t(i)] = char(checksum >> (8 * i));
        try {
            (void)decode_samples(damaged);
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace etalon::store
