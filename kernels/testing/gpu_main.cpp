// main() of a test program that needs a GPU: without one it says so and exits 77, which ctest
// reports as skipped.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <cstdio>

int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "SKIPPED: no usable GPU, so nothing was tested here (%s)\n",
                     error == cudaSuccess ? "no device" : cudaGetErrorString(error));
        return 77;
    }
    return RUN_ALL_TESTS();
}
