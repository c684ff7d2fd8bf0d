// The tensors of one problem: rotated buffer sets with equal contents, and the reference in double.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/op.h"

namespace etalon {

class Inputs {
   public:
    // Allocates, fills from the seed, poisons the outputs and computes the reference. Throws
    // OutOfMemory, before anything is allocated, when it cannot fit.
    Inputs(const Op& op, const Problem& problem, Device& device, std::uint64_t seed);

    [[nodiscard]] const Problem& problem() const { return problem_; }
    [[nodiscard]] std::uint64_t seed() const { return seed_; }
    [[nodiscard]] std::span<const BufferSet> sets() const { return sets_; }

    void poison_outputs(std::size_t set);
    // Compares every output of `set` with the reference; empty when all are within the tolerance.
    [[nodiscard]] std::string judge(std::size_t set, const Tolerance& tolerance);
    // Largest relative error that judge() has seen.
    [[nodiscard]] double error() const { return error_; }
    void clear_error() { error_ = 0; }

   private:
    Problem problem_;
    Device& device_;
    std::uint64_t seed_;
    std::vector<TensorSpec> specs_;
    std::vector<BufferSet> sets_;
    std::vector<Buffer> references_;  // one for each output, in tensor order
    double error_ = 0;
};

}  // namespace etalon
