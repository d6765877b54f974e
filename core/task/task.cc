#include "task/task.h"

#include <algorithm>
#include <numeric>

namespace surefoot {

namespace {

constexpr std::size_t kFewStates = 16;

// For every state the position of the first that equals it, by sorting positions.
std::vector<std::uint32_t> first_equals(const Word* states, std::size_t count, std::size_t width) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const auto compare = [&](std::uint32_t a, std::uint32_t b) {
        return std::lexicographical_compare_three_way(states + a * width, states + (a + 1) * width,
                                                      states + b * width, states + (b + 1) * width);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return compare(a, b) < 0; });
    std::vector<std::uint32_t> first = order;
    for (std::size_t i = 0; i < count; ++i) {
        const bool is_new = i == 0 || compare(order[i - 1], order[i]) != 0;
        first[order[i]] = is_new ? order[i] : first[order[i - 1]];
    }
    return first;
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
    std::vector<std::uint32_t> first;
    if (count > kFewStates) first = first_equals(states, count, width);
    std::size_t kept = 1;
    for (std::size_t i = 1; i < count; ++i) {
        const Word* state = states + i * width;
        if (count > kFewStates ? first[i] != i : is_among(state, states, kept, width)) continue;
        if (kept != i) std::copy(state, state + width, states + kept * width);
        ++kept;
    }
    words.shrink(begin + kept * width);
}

void Stepper::expand_weighted(const Word*, WeightedExpansion&) {
    throw std::logic_error("the task has no weights");
}

void merge_duplicates(WeightedExpansion& expansion, std::size_t begin, std::size_t width) {
    Word* const states = expansion.words.data() + begin * width;
    double* const weights = expansion.weights.data() + begin;
    const std::size_t count = expansion.words.size() / width - begin;
    if (count < 2) return;
    const std::vector<std::uint32_t> first = first_equals(states, count, width);
    std::vector<std::size_t> place(count);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (first[i] != i) {
            weights[place[first[i]]] += weights[i];
            continue;
        }
        if (kept != i) std::copy_n(states + i * width, width, states + kept * width);
        weights[kept] = weights[i];
        place[i] = kept++;
    }
    expansion.words.shrink((begin + kept) * width);
    expansion.weights.resize(begin + kept);
}

void expand_uniformly(Stepper& stepper, const Word* state, WeightedExpansion& expansion) {
    expansion.clear();
    stepper.expand(state, expansion);
    expansion.costs.assign(expansion.choices.size(), 1.0);
    expansion.weights.assign(expansion.choices.empty() ? 0 : expansion.choices.back().end, 1.0);
}

}  // namespace surefoot
