// Op: what is computed. Provider: who computes it.
//
// An op is one file in bench/ and one line in bench/registry.cpp; a provider is one class and one
// line there. The runner (harness/sweep) knows neither by name.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/case.h"
#include "harness/device/device.h"

namespace etalon {

struct Work {
    double flop = 0;
    double bytes_min = 0;  // each input read once, each output written once
};

enum class Role { input, output };

struct TensorSpec {
    std::string name;
    Role role = Role::input;
    Layout layout;
    Fill fill;
};

// A result is correct when rel_error ≤ relative, max_error ≤ maximum, nothing is non-finite and no
// padding was written. Both bounds come from the precision and the reduction length.
struct Tolerance {
    double relative = 0;
    double maximum = 0;  // in units of rms(reference)
};

// Thrown by Provider::prepare where only trying can tell; stored as `unsupported`.
class Unsupported : public Error {
   public:
    explicit Unsupported(const std::string& reason) : Error(ExitCode::usage, reason) {}
};

// One buffer for each of Op::tensors(), in that order.
using BufferSet = std::vector<Buffer>;

class Op {
   public:
    virtual ~Op() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual std::string_view summary() const = 0;  // one line for `list`
    [[nodiscard]] virtual std::vector<AxisSpec> axes() const = 0;
    [[nodiscard]] virtual std::vector<Precision> precisions() const = 0;
    // Provider that ratios are taken against, on this kind of device.
    [[nodiscard]] virtual std::string_view baseline(DeviceKind kind) const = 0;
    // Expected elasticity of an op of this problem before anything is measured: 1 compute-bound,
    // 0 memory-bound.
    [[nodiscard]] virtual double prior_elasticity(const Problem& problem) const = 0;
    [[nodiscard]] virtual Work work(const Problem& problem) const = 0;
    [[nodiscard]] virtual std::vector<TensorSpec> tensors(const Problem& problem) const = 0;
    // Computes every output, in tensor order, dense rows × cols in double, on the device that
    // holds the inputs, accumulating in double.
    virtual void reference(Device& device, const Problem& problem, const BufferSet& buffers,
                           std::span<const Buffer> outputs_f64) const = 0;
    [[nodiscard]] virtual Tolerance tolerance(const Problem& problem) const = 0;
};

// A case ready to run: handles, workspace, algorithm choice and graphs are made.
class Prepared {
   public:
    virtual ~Prepared() = default;
    // Enqueues the work on the stream with buffer set `set` and nothing else. Throws a device
    // Error if the launch is refused.
    virtual void launch(Stream stream, std::size_t set) = 0;
    // JSON object: algorithm id, workspace_bytes, kernels, ... whatever tells two choices apart.
    [[nodiscard]] virtual std::string describe() const = 0;
};

class Provider {
   public:
    virtual ~Provider() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;  // etalon, cublaslt, ...
    [[nodiscard]] virtual std::string_view op() const = 0;
    [[nodiscard]] virtual DeviceKind device() const = 0;
    // Besides the default "": e.g. "first" for cuBLASLt's first heuristic.
    [[nodiscard]] virtual std::vector<std::string> variants() const { return {}; }
    // nullopt: yes. Otherwise one line that says why not; stored as `unsupported`.
    [[nodiscard]] virtual std::optional<std::string> unsupported(const Case& key,
                                                                 Device& device) const = 0;
    // Everything that is not the launch. `sets` stay valid as long as the Prepared lives.
    [[nodiscard]] virtual std::unique_ptr<Prepared> prepare(
        const Case& key, Device& device, std::span<const BufferSet> sets) const = 0;
    // The same, by the way that `earlier` tells of: what describe() said of this case under the
    // same software on the same kind of device. A provider that chooses among several ways takes
    // that one without looking at the others, if it still can, so that its nights are comparable.
    [[nodiscard]] virtual std::unique_ptr<Prepared> prepare_like(
        std::string_view /*earlier*/, const Case& key, Device& device,
        std::span<const BufferSet> sets) const {
        return prepare(key, device, sets);
    }
};

// All ops and providers of this build. A value: tests add their own.
class Registry {
   public:
    void add(std::unique_ptr<Op> op) { ops_.push_back(std::move(op)); }
    void add(std::unique_ptr<Provider> provider) { providers_.push_back(std::move(provider)); }
    void add(std::vector<std::unique_ptr<Provider>> providers);

    [[nodiscard]] const Op& op(std::string_view name) const;  // throws a usage Error, nearest named
    [[nodiscard]] const std::vector<std::unique_ptr<Op>>& ops() const { return ops_; }
    // Providers of this op on this kind of device, in the order they were added.
    [[nodiscard]] std::vector<const Provider*> providers(std::string_view op,
                                                         DeviceKind kind) const;
    // Throws a usage Error that lists the providers of the op.
    [[nodiscard]] const Provider& provider(std::string_view op, std::string_view name,
                                           DeviceKind kind) const;
    // Turns `op/precision/axes/provider[+variant]/l2` into a checked Case in canonical spelling.
    [[nodiscard]] Case parse_case(std::string_view id, DeviceKind kind) const;
    // The case that the ratio of `key` is taken against: the op's baseline, in its default variant.
    [[nodiscard]] Case baseline(const Case& key, DeviceKind kind) const;

   private:
    std::vector<std::unique_ptr<Op>> ops_;
    std::vector<std::unique_ptr<Provider>> providers_;
};

[[nodiscard]] Registry builtin_registry();

// Throw a usage Error that lists what the op or the provider has.
void check_precision(const Op& op, Precision precision);
void check_variant(const Provider& provider, std::string_view variant);

}  // namespace etalon
