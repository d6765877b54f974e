/*
  The start states as a diagram, for counting them without listing them.

  StartDiagram has one layer of nodes per variable, in their order. A node stands for all partial
  assignments with the same future: the same sums of linear conjuncts that are not complete yet, and
  the same values of variables that a later check still reads, whichever of them has which value
  where that makes no difference (in a permutation). Its edges are the values that its variable may
  take. Counting is one pass backwards, and the k-th start state, in the order of
  StartEnumerator::enumerate, is found by one walk down.
*/
#pragma once

#include <map>
#include <optional>

#include "task/starts.h"

namespace surefoot {

class StartDiagram {
public:
    using Count = unsigned __int128;

    // None if the diagram would be too large, the count does not fit, the start condition needs a
    // final check or leaves a real variable free. `stopped` says if the budget ended first.
    static std::optional<StartDiagram> make(const StartEnumerator& starts, Budget& budget,
                                            StopReason& stopped);

    Count total() const { return layers_.front().counts.front(); }

    // `count` states, each drawn uniformly and independently; empty if there are none.
    StartEnumerator::Sample sample(std::size_t count, Random& random, Budget& budget) const;

    // Write the start state number `k`, which is below total().
    void write(Count k, Word* state) const;

private:
    struct Edge {
        std::int64_t value;
        std::uint32_t child;
    };

    struct Layer {
        std::vector<std::uint32_t> first_edge;  // by node; one more than there are nodes
        std::vector<Edge> edges;
        std::vector<Count> counts;  // by node
    };

    using Key = std::vector<std::int64_t>;

    explicit StartDiagram(const StartEnumerator& starts);

    void find_alike();
    bool build(Budget& budget, StopReason& stopped);
    bool grow_layer(std::size_t depth, Budget& budget, StopReason& stopped);
    bool count();
    Key key_of(std::size_t depth, const StartEnumerator::Walk& walk) const;
    void restore(std::size_t depth, const Key& key, StartEnumerator::Walk& walk) const;
    bool fits(std::size_t depth, const StartEnumerator::Walk& walk) const;

    const StartEnumerator& starts_;
    std::vector<std::vector<std::size_t>> open_;      // by depth: linear conjuncts begun before it
    std::vector<std::vector<std::uint32_t>> needed_;  // by depth: variables before it, read later
    std::vector<std::vector<std::vector<std::size_t>>>
        alike_;                  // by depth: places in needed_ whose values may be exchanged
    std::vector<Layer> layers_;  // one more than variables
    std::vector<Key> keys_;      // of the layer at hand
    std::size_t num_edges_ = 0;
};

}  // namespace surefoot
