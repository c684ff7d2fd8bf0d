// The same work for many indices, on every core.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace etalon::history {

// Calls work(i) for i in [0, count); each call must write to places of its own and not throw.
inline void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < std::min(cores, count); ++i) others.emplace_back(run);
    run();
    for (std::thread& other : others) other.join();
}

}  // namespace etalon::history
