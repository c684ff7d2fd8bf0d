// Built by etalon_fake_library: a library that is only a version.
#include <cstddef>

extern "C" std::size_t FAKE_SYMBOL() {
    return FAKE_VERSION;
}
