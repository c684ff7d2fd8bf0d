// Shares found by simulation, and the lines they are checked by.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace etalon::accuracy {

// Calls work(i) for i in [0, count) on every core; each i must write to places of its own.
inline void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
        others.emplace_back(run);
    }
    run();
    for (std::thread& other : others) other.join();
}

// One figure against its goal, in per cent.
struct Check {
    std::string what;
    double share = 0;  // 0 to 1
    double goal = 0;
    bool at_most = false;  // else at least
    std::size_t trials = 0;
    [[nodiscard]] bool reached() const { return at_most ? share <= goal : share >= goal; }
};

inline std::string markdown(const std::vector<Check>& checks) {
    std::string text = "| what | measured | goal | trials | |\n|---|---|---|---|---|\n";
    for (const Check& check : checks) {
        text += fmt::format("| {} | {:.2f} % | {} {:.3g} % | {} | {} |\n", check.what,
                            100 * check.share, check.at_most ? "≤" : "≥", 100 * check.goal,
                            check.trials, check.reached() ? "reached" : "**missed**");
    }
    return text;
}

}  // namespace etalon::accuracy
