#include "task/task.h"

#include <algorithm>
#include <numeric>

namespace surefoot {

namespace {

constexpr std::size_t kFewStates = 16;

// Mark every state that equals an earlier one, by sorting positions.
std::vector<bool> later_equals(const Word* states, std::size_t count, std::size_t width) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const auto compare = [&](std::uint32_t a, std::uint32_t b) {
        return std::lexicographical_compare_three_way(states + a * width, states + (a + 1) * width,
                                                      states + b * width, states + (b + 1) * width);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return compare(a, b) < 0; });
    std::vector<bool> marked(count, false);
    for (std::size_t i = 1; i < count; ++i) marked[order[i]] = compare(order[i - 1], order[i]) == 0;
    return marked;
}

bool is_among(const Word* state, const Word* states, std::size_t count, std::size_t width) {
    for (std::size_t i = 0; i < count; ++i) {
        if (std::equal(state, state + width, states + i * width)) return true;
    }
    return false;
}

}  // namespace

void remove_duplicates(WordBuffer& words, std::size_t begin, std::size_t width) {
    Word* const states = words.data() + begin;
    const std::size_t count = (words.size() - begin) / width;
    if (count < 2) return;
    std::vector<bool> marked;
    if (count > kFewStates) marked = later_equals(states, count, width);
    std::size_t kept = 1;
    for (std::size_t i = 1; i < count; ++i) {
        const Word* state = states + i * width;
        if (count > kFewStates ? marked[i] : is_among(state, states, kept, width)) continue;
        if (kept != i) std::copy(state, state + width, states + kept * width);
        ++kept;
    }
    words.shrink(begin + kept * width);
}

}  // namespace surefoot
