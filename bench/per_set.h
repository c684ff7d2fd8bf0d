// A Prepared that calls a function with the arguments of the set: what a provider needs whose
// launch has nothing else to keep.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/op.h"

namespace etalon {

// `call(args, stream)` enqueues the work of one set.
template <typename Args, typename Call>
class PerSet final : public Prepared {
   public:
    PerSet(std::vector<Args> args, Call call, std::string description)
        : args_(std::move(args)), call_(std::move(call)), description_(std::move(description)) {}
    void launch(Stream stream, std::size_t set) override { call_(args_[set], stream); }
    [[nodiscard]] std::string describe() const override { return description_; }

   private:
    std::vector<Args> args_;
    Call call_;
    std::string description_;
};

template <typename Args, typename Call>
[[nodiscard]] std::unique_ptr<Prepared> per_set(std::vector<Args> args, Call call,
                                                std::string description) {
    return std::make_unique<PerSet<Args, Call>>(std::move(args), std::move(call),
                                                std::move(description));
}

// What op `copy` moves, for each set.
struct Transfer {
    void* to;
    const void* from;
    std::size_t bytes;
};
[[nodiscard]] inline std::vector<Transfer> transfers(std::span<const BufferSet> sets) {
    std::vector<Transfer> all;
    for (const BufferSet& set : sets) {
        all.push_back({set[1].data(), set[0].data(), set[0].bytes()});
    }
    return all;
}

}  // namespace etalon
