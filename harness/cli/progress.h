// Progress of a sweep on stderr: a bar with ETA on a terminal, one plain line a case in a log.
#pragma once

#include <string>

#include "harness/sweep/sweep.h"

namespace etalon::cli {

class Progress {
   public:
    explicit Progress(bool quiet);
    void show(const SweepEvent& event);
    void end();

   private:
    void line(const SweepEvent& event) const;
    void bar(const SweepEvent& event) const;
    bool quiet_;
    bool terminal_;
};

// "12.34 µs ±0.3 %, 1755 MHz", or the status and its reason.
[[nodiscard]] std::string outcome(const Measurement& m);

}  // namespace etalon::cli
