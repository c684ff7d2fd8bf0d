#include <cstdint>
#include <cstring>

#include "kernels/host/host_kernels.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace etalon::kernels::host {
namespace {

// Past this a plain store would first read the line that it overwrites.
constexpr std::size_t streaming_bytes = std::size_t{8} << 20;

}  // namespace

void copy(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
    if (bytes >= streaming_bytes) {
        auto* out = static_cast<unsigned char*>(to);
        const auto* in = static_cast<const unsigned char*>(from);
        const std::size_t head = (16 - reinterpret_cast<std::uintptr_t>(out) % 16) % 16;
        std::memcpy(out, in, head);
        std::size_t at = head;
        for (; at + 64 <= bytes; at += 64) {
            const auto* source = reinterpret_cast<const __m128i*>(in + at);
            auto* target = reinterpret_cast<__m128i*>(out + at);
            const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
            const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
            _mm_stream_si128(target, a);
            _mm_stream_si128(target + 1, b);
            _mm_stream_si128(target + 2, c);
            _mm_stream_si128(target + 3, d);
        }
        _mm_sfence();
        std::memcpy(out + at, in + at, bytes - at);
        return;
    }
#endif
    std::memcpy(to, from, bytes);
}

}  // namespace etalon::kernels::host
