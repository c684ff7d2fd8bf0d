// Cases that moved on the same night in the same direction are one finding.
#pragma once

#include <string>
#include <vector>

#include "harness/history/line.h"

namespace etalon::history {

struct Member {
    std::size_t line = 0, point = 0;  // indices into the lines and their points
};

struct Cluster {
    std::size_t run = 0;          // index into NightValues::runs: the first night of the new level
    bool slower = true;           // else faster
    std::vector<Member> members;  // largest change first
    Estimate ratio;               // geometric mean over the members, new / old; one member: its own
    // What all members share, as far as it says less than everything: "gemm bf16 cublaslt cold,
    // 5 to 20 µs"; "" when they share nothing; the case id of a single member.
    std::string name;
    std::size_t alike = 0;      // lines measured that night that share it too, members included
    std::vector<Cause> causes;  // those that most members have
    // At least half of the vendor's lines on that GPU (and six) are members and no cause is known:
    // the machine changed, not the kernels.
    bool machine = false;
};

// Every point of the lines is in exactly one cluster. A point joins the night with the most points
// among those of its interval. Latest night first, then the largest cluster.
[[nodiscard]] std::vector<Cluster> clusters_of(const std::vector<Line>& lines);

// "under 5 µs", "5 to 20 µs", "20 to 200 µs", "over 200 µs".
[[nodiscard]] std::string size_class(double time_ns);

}  // namespace etalon::history
