// cuDNN's plain functions, resolved at run time, and the handle of one device.
#pragma once

#include <cudnn.h>

#include <memory>
#include <string_view>
#include <type_traits>

#include "baselines/common/vendor_library.h"
#include "harness/device/device.h"

namespace etalon::cudnn {

// Throws a device Error when the library cannot be used. Making one also points cudnn-frontend at
// the same library.
class Api {
   public:
    Api();
    [[nodiscard]] const VendorLibrary& library() const { return library_; }
    // Throws unless status is success: Unsupported where cuDNN says so, else a device Error.
    void check(cudnnStatus_t status, std::string_view what) const;

   private:
    VendorLibrary library_;

   public:
    decltype(&::cudnnCreate) create = nullptr;
    decltype(&::cudnnDestroy) destroy = nullptr;
    decltype(&::cudnnSetStream) set_stream = nullptr;
    decltype(&::cudnnGetErrorString) error_string = nullptr;
    decltype(&::cudnnCreateTensorDescriptor) tensor_create = nullptr;
    decltype(&::cudnnDestroyTensorDescriptor) tensor_destroy = nullptr;
    decltype(&::cudnnSetTensor4dDescriptorEx) tensor_set = nullptr;
    decltype(&::cudnnSoftmaxForward) softmax_forward = nullptr;
};

template <typename Pointer>
using Owner = std::unique_ptr<std::remove_pointer_t<Pointer>, cudnnStatus_t (*)(Pointer)>;

// A handle on the current device. Making one takes milliseconds, so the cases of a device share it.
class Context {
   public:
    Context();
    [[nodiscard]] const Api& api() const { return api_; }
    [[nodiscard]] cudnnHandle_t handle() const { return handle_.get(); }
    // The handle, set to enqueue on this stream.
    [[nodiscard]] cudnnHandle_t on(Stream stream);

   private:
    Api api_;
    Owner<cudnnHandle_t> handle_;
    void* stream_ = nullptr;  // a new handle's: the default stream
};

}  // namespace etalon::cudnn
