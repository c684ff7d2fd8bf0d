// oneDNN on one thread, as the host device measures: matmul, softmax, layer normalisation, reorder.

#include <fmt/format.h>
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>

#include "baselines/onednn/onednn_version.h"
#include "bench/host_precision.h"
#include "bench/providers.h"

namespace etalon {
namespace {

using dnnl::memory;

constexpr float epsilon = 1e-5F;

memory::data_type type_of(DType dtype) {
    switch (dtype) {
        case DType::bf16:
            return memory::data_type::bf16;
        case DType::f16:
            return memory::data_type::f16;
        case DType::i8:
            return memory::data_type::s8;
        case DType::i32:
            return memory::data_type::s32;
        default:
            return memory::data_type::f32;
    }
}

// A primitive, its engine and stream, and its arguments for each buffer set.
class Primitive final : public Prepared {
   public:
    using Arguments = std::unordered_map<int, memory>;
    Primitive(dnnl::engine engine, dnnl::primitive primitive, std::vector<Arguments> sets,
              std::string implementation)
        : stream_(engine),
          primitive_(std::move(primitive)),
          sets_(std::move(sets)),
          implementation_(std::move(implementation)) {}
    void launch(Stream, std::size_t set) override {
        try {
            primitive_.execute(stream_, sets_[set]);
            stream_.wait();
        } catch (const dnnl::error& error) {
            throw device_error(fmt::format("oneDNN refused to run: {}", error.what()));
        }
    }
    [[nodiscard]] std::string describe() const override {
        return fmt::format(R"({{"implementation":"{}","threads":1}})", implementation_);
    }

   private:
    dnnl::stream stream_;
    dnnl::primitive primitive_;
    std::vector<Arguments> sets_;
    std::string implementation_;
};

class OnednnProvider : public Provider {
   public:
    [[nodiscard]] std::string_view name() const override { return "onednn"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::host; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key,
                                                         Device& device) const override {
        return unmeasured_on_host(key.problem.precision, device.info());
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device&, std::span<const BufferSet> sets) const override {
        omp_set_num_threads(1);
        try {
            return make(key, dnnl::engine(dnnl::engine::kind::cpu, 0), sets);
        } catch (const dnnl::error& error) {
            if (error.status == dnnl_unimplemented) {
                throw Unsupported(fmt::format("oneDNN {} has no implementation for this problem",
                                              onednn_version()));
            }
            throw device_error(fmt::format("oneDNN could not prepare: {}", error.what()));
        }
    }

   protected:
    [[nodiscard]] virtual std::unique_ptr<Prepared> make(const Case& key,
                                                         const dnnl::engine& engine,
                                                         std::span<const BufferSet> sets) const = 0;
    static std::int64_t axis(const Case& key, std::string_view name) {
        return key.problem.axes.at(name);
    }
    static memory::desc rows_desc(const Case& key) {
        const std::int64_t cols = axis(key, "cols"), ld = cols + axis(key, "pad");
        return {{axis(key, "rows"), cols}, type_of(input_dtype(key.problem.precision)), {ld, 1}};
    }
};

class Matmul final : public OnednnProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "gemm"; }

   protected:
    [[nodiscard]] std::unique_ptr<Prepared> make(const Case& key, const dnnl::engine& engine,
                                                 std::span<const BufferSet> sets) const override {
        const std::int64_t m = axis(key, "m"), n = axis(key, "n"), k = axis(key, "k"),
                           pad = axis(key, "pad");
        const memory::data_type type = type_of(input_dtype(key.problem.precision));
        const memory::desc a({m, k}, type, {k + pad, 1});
        const memory::desc b({k, n}, type, {1, k + pad});  // Bᵀ by its strides
        const memory::desc c({m, n}, type, {n + pad, 1});
        const dnnl::matmul::primitive_desc description(engine, a, b, c);
        std::vector<Primitive::Arguments> arguments;
        for (const BufferSet& set : sets) {
            arguments.push_back({{DNNL_ARG_SRC, memory(a, engine, set[0].data())},
                                 {DNNL_ARG_WEIGHTS, memory(b, engine, set[1].data())},
                                 {DNNL_ARG_DST, memory(c, engine, set[2].data())}});
        }
        return std::make_unique<Primitive>(engine, dnnl::matmul(description), std::move(arguments),
                                           description.impl_info_str());
    }
};

class Softmax final : public OnednnProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "softmax"; }

   protected:
    [[nodiscard]] std::unique_ptr<Prepared> make(const Case& key, const dnnl::engine& engine,
                                                 std::span<const BufferSet> sets) const override {
        const memory::desc rows = rows_desc(key);
        const dnnl::softmax_forward::primitive_desc description(
            engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, rows,
            rows, 1);
        std::vector<Primitive::Arguments> arguments;
        for (const BufferSet& set : sets) {
            arguments.push_back({{DNNL_ARG_SRC, memory(rows, engine, set[0].data())},
                                 {DNNL_ARG_DST, memory(rows, engine, set[1].data())}});
        }
        return std::make_unique<Primitive>(engine, dnnl::softmax_forward(description),
                                           std::move(arguments), description.impl_info_str());
    }
};

class LayerNorm final : public OnednnProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "layernorm"; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key,
                                                         Device& device) const override {
        if (axis(key, "pad") != 0) {
            // It accepts the stride, takes the rows for dense and leaves the last ones unwritten.
            return fmt::format("oneDNN {} computes layer normalisation of padded rows wrongly",
                               onednn_version());
        }
        return OnednnProvider::unsupported(key, device);
    }

   protected:
    [[nodiscard]] std::unique_ptr<Prepared> make(const Case& key, const dnnl::engine& engine,
                                                 std::span<const BufferSet> sets) const override {
        using dnnl::normalization_flags;
        const memory::desc rows = rows_desc(key);
        const dnnl::layer_normalization_forward::primitive_desc description(
            engine, dnnl::prop_kind::forward_inference, rows, rows, epsilon,
            normalization_flags::use_scale | normalization_flags::use_shift);
        // oneDNN takes scale and shift in fp32 only: they are widened here, outside the window.
        const memory::desc vector({axis(key, "cols")}, memory::data_type::f32,
                                  memory::format_tag::a);
        dnnl::stream stream(engine);
        const auto widened = [&](const Buffer& from) {
            const memory::desc stored({axis(key, "cols")},
                                      type_of(input_dtype(key.problem.precision)),
                                      memory::format_tag::a);
            memory source(stored, engine, from.data()), target(vector, engine);
            dnnl::reorder(source, target).execute(stream, source, target);
            stream.wait();
            return target;
        };
        std::vector<Primitive::Arguments> arguments;
        for (const BufferSet& set : sets) {
            arguments.push_back({{DNNL_ARG_SRC, memory(rows, engine, set[0].data())},
                                 {DNNL_ARG_SCALE, widened(set[1])},
                                 {DNNL_ARG_SHIFT, widened(set[2])},
                                 {DNNL_ARG_DST, memory(rows, engine, set[3].data())}});
        }
        return std::make_unique<Primitive>(engine, dnnl::layer_normalization_forward(description),
                                           std::move(arguments), description.impl_info_str());
    }
};

class RmsNorm final : public OnednnProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "rmsnorm"; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return fmt::format("oneDNN {} has no RMSNorm (it came with 3.7)", onednn_version());
    }

   protected:
    [[nodiscard]] std::unique_ptr<Prepared> make(const Case& key, const dnnl::engine&,
                                                 std::span<const BufferSet>) const override {
        throw Unsupported(fmt::format("oneDNN has no {}", key.problem.op));
    }
};

class Reorder final : public OnednnProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "copy"; }

   protected:
    [[nodiscard]] std::unique_ptr<Prepared> make(const Case& key, const dnnl::engine& engine,
                                                 std::span<const BufferSet> sets) const override {
        const memory::desc vector({axis(key, "n")}, type_of(input_dtype(key.problem.precision)),
                                  memory::format_tag::a);
        const dnnl::reorder::primitive_desc description(engine, vector, engine, vector);
        std::vector<Primitive::Arguments> arguments;
        for (const BufferSet& set : sets) {
            arguments.push_back({{DNNL_ARG_FROM, memory(vector, engine, set[0].data())},
                                 {DNNL_ARG_TO, memory(vector, engine, set[1].data())}});
        }
        return std::make_unique<Primitive>(engine, dnnl::reorder(description), std::move(arguments),
                                           description.impl_info_str());
    }
};

}  // namespace

std::string onednn_version() {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

Providers onednn_providers() {
    Providers providers;
    providers.push_back(std::make_unique<Matmul>());
    providers.push_back(std::make_unique<Softmax>());
    providers.push_back(std::make_unique<RmsNorm>());
    providers.push_back(std::make_unique<LayerNorm>());
    providers.push_back(std::make_unique<Reorder>());
    return providers;
}

}  // namespace etalon
