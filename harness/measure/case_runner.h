// The cases of one problem from beginning to end: prepare, check, time in rounds, check again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/measure/prepared_case.h"
#include "harness/measure/rounds.h"

namespace etalon {

class Inputs;

class CaseRunner {
   public:
    CaseRunner(const Registry& registry, Device& device, const MeasureOptions& options);
    ~CaseRunner();

    // By case id, what providers said of cases under the same software on such a device: they are
    // prepared like that again.
    void remember(std::unordered_map<std::string, std::string> descriptions) {
        descriptions_ = std::move(descriptions);
    }

    // Wall time of all that was run so far.
    struct Spent {
        double prepare_ms = 0;  // inputs, references, choice of algorithms
        double check_ms = 0;
        double time_ms = 0;  // rounds, with the load and the rest between them
    };
    [[nodiscard]] const Spent& spent() const { return spent_; }

    struct Group {
        std::vector<Measurement> measurements;  // in order of the cases
        std::vector<Ratio> ratios;              // of each that was timed beside its baseline
    };
    // Measures cases of one problem side by side. Never throws for what a case itself did wrong:
    // that is a status with its reason, and the others are measured afresh, since a kernel that
    // went wrong may have written anywhere. Where the device is lost, only the cases that are
    // decided come back.
    [[nodiscard]] Group run(std::span<const Case> cases);
    // One alone. Throws a device Error where the device is lost to another cause.
    [[nodiscard]] Measurement run(const Case& key);

    // For those who time a case themselves. Throws Unsupported with the provider's reason. What is
    // prepared uses the tensors of its problem, so it must be gone before another problem's turn.
    [[nodiscard]] PreparedCase prepare(const Case& key);

    // Tensors of this problem, made if they are not there. Throws.
    [[nodiscard]] Inputs& inputs(const Problem& problem);

   private:
    struct Entry;
    struct Fault;
    [[nodiscard]] Measurement blank(const Case& key) const;
    // One try at all entries that are not decided; what went wrong, if anything did.
    [[nodiscard]] std::optional<Fault> attempt(std::span<Entry> entries);
    [[nodiscard]] std::optional<Fault> make_ready(std::span<Entry> entries);
    [[nodiscard]] std::string check(PreparedCase& prepared);
    [[nodiscard]] std::optional<Fault> check_again(std::span<Entry> entries);
    [[nodiscard]] std::vector<Ratio> ratios(std::span<const Entry> entries) const;

    const Registry& registry_;
    Device& device_;
    MeasureOptions options_;
    double reference_clock_mhz_;
    std::unordered_map<std::string, std::string> descriptions_;
    Spent spent_;
    std::unique_ptr<Inputs> inputs_;
};

}  // namespace etalon
