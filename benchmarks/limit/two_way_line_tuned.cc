/*
  The limit: breadth-first exploration of one model, two-way line 15_10 (deterministic), written by
  hand for that model alone. It reads no file and is no part of Surefoot; it says how fast a general
  engine could possibly be on this task on one core.

  A state is one 64-bit word. StateSet is an open-addressing table of such words beside a dense
  array of the same words in the order they were found, which is also the queue. Everything that
  position and speed decide is looked up in kRules, a table made at compile time. Memory for
  max_states is set aside at the start, and the time for that is counted.

  What is used of this one model, and what a general engine does not know:
    - a step changes the word by a number that position and speed determine;
    - in a crash all three moves have the same outcome, which is looked up once (three pairs);
    - `move` at speed 0 leads back to the same state, which is not looked up (one pair);
    - the packages are never lost, so the truck is never too full, and 0 is never a state;
    - `move` is always applicable, so there are no dead ends (checked at compile time).

  Counts follow docs/semantics.md: goal and fail states are stored and counted, not expanded. The
  search stops as soon as a new state would be number max_states + 1. `pairs` and `outcomes` are
  those of the states that were expanded to the end; `fail`, `goal`, `depth` are of all that are
  stored.
  Actions are tried in the order of the model's list: pick_up, drop, acc, dec, move.

  Build:  g++ -std=c++20 -O3 -march=native -o two_way_line two_way_line.cc
          (-DPACKAGES=3 for a smaller model: 3 packages at location 0, goal 3 at location 9)
  Run:    ./two_way_line MAX_STATES
*/

#ifdef __AVX512F__
#include <immintrin.h>
#endif
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "two_way_line.h"

namespace {

using namespace two_way_line;

// What position, speed and crash allow. Differences are added to the word (modulo 2^64).
struct Rule {
    std::array<State, 3> moves{};  // differences for acc, dec, move, as far as they are looked up
    State pick_up = 0;             // difference for pick_up; drop is its negative
    State load_mask = 0;           // the load at the position, or 0 if the truck is not at rest
    State truck_mask = 0;          // the load of the truck, or 0 if the truck is not at rest
    std::uint32_t num_moves = 0;
    std::uint32_t num_pairs = 0;  // applicable ones of acc, dec and move
};

constexpr Rule rule_at(int position, int speed) {
    Rule rule;
    if (position + speed < 0 || position + speed >= kLocations) {
        rule.moves[0] = kCrashed;
        rule.num_moves = 1;
        rule.num_pairs = 3;
        return rule;
    }
    auto add = [&](int change) {
        const State after = pack(position + speed, speed + change);
        rule.moves[rule.num_moves++] = after - pack(position, speed);
    };
    if (speed < kTopSpeed) add(+1);
    if (speed > -kTopSpeed) add(-1);
    if (speed != 0) add(0);
    rule.num_pairs = rule.num_moves + (speed == 0 ? 1 : 0);
    if (speed == 0) {
        rule.pick_up = kOnTruck - (State{1} << load_shift(position));
        rule.load_mask = State{15} << load_shift(position);
        rule.truck_mask = kTruckMask;
    }
    return rule;
}

// Crashed states keep the empty rule: nothing is applicable there.
constexpr std::array<Rule, kRuleMask + 1> make_rules() {
    std::array<Rule, kRuleMask + 1> rules{};
    for (int position = 0; position < kLocations; ++position)
        for (int speed = -kTopSpeed; speed <= kTopSpeed; ++speed)
            rules[pack(position, speed)] = rule_at(position, speed);
    return rules;
}

constexpr auto kRules = make_rules();

constexpr bool some_move_is_always_applicable() {
    for (int position = 0; position < kLocations; ++position)
        for (int speed = -kTopSpeed; speed <= kTopSpeed; ++speed)
            if (kRules[pack(position, speed)].num_pairs == 0) return false;
    return true;
}
static_assert(some_move_is_always_applicable(), "dead ends would have to be counted");

// Zeroed memory that costs nothing until it is touched, in large pages where the system has them.
State* zeroed_words(std::size_t count) {
    void* memory = mmap(nullptr, count * sizeof(State), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, count * sizeof(State), MADV_HUGEPAGE);
    return static_cast<State*>(memory);
}

// Of a table line of eight words: bit k says that word k is the state, or that it is free.
struct LineMatch {
    unsigned here;
    unsigned free;
};

inline LineMatch match_line(const State* line, State state) {
#ifdef __AVX512F__
    const __m512i words = _mm512_load_si512(line);
    const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(state));
    return {_mm512_cmpeq_epi64_mask(words, wanted), _mm512_testn_epi64_mask(words, words)};
#else
    LineMatch match{0, 0};
    for (unsigned k = 0; k < 8; ++k) {
        match.here |= static_cast<unsigned>(line[k] == state) << k;
        match.free |= static_cast<unsigned>(line[k] == 0) << k;
    }
    return match;
#endif
}

// The states found so far; at most half of the slots are ever taken. Memory is the process's own.
class StateSet {
public:
    explicit StateSet(std::size_t max_states)
        : slots_(std::bit_ceil(2 * max_states + 8)),
          shift_(64 - std::countr_zero(slots_)),
          table_(zeroed_words(slots_)),
          found_(zeroed_words(max_states + 1)) {}

    std::size_t size() const { return size_; }
    State operator[](std::size_t id) const { return found_[id]; }

    void prefetch(State state) const { __builtin_prefetch(&table_[home(state)]); }

    bool contains(State state) const { return table_[slot_of(state)] == state; }

    // Adds the state if it is new and says whether it was. Whether it is, nobody can predict:
    // so both stores are made in any case, and only the size depends on the answer. The caller
    // sees to it that size() is at most max_states.
    bool insert(State state) {
        const std::size_t slot = slot_of(state);
        const bool is_new = table_[slot] == 0;
        table_[slot] = state;
        found_[size_] = state;
        size_ += is_new;
        return is_new;
    }

private:
    // The first word of the line where the search for a state begins.
    std::size_t home(State state) const {
        return (state * 0x9E3779B97F4A7C15u >> shift_) & ~std::size_t{7};
    }

    // Where the state is, or else the free word it belongs in. Nothing is ever removed, so a free
    // word ends the search; at half load one line nearly always does.
    std::size_t slot_of(State state) const {
        for (std::size_t line = home(state);; line = (line + 8) & (slots_ - 1)) {
            const LineMatch match = match_line(&table_[line], state);
            const unsigned hit = match.here != 0 ? match.here : match.free;
            if (hit != 0) [[likely]]
                return line + static_cast<std::size_t>(std::countr_zero(hit));
        }
    }

    std::size_t slots_;
    int shift_;
    State* table_;
    State* found_;
    std::size_t size_ = 0;
};

class Explorer {
public:
    explicit Explorer(std::size_t max_states) : max_states_(max_states), states_(max_states) {}

    Counts run() {
        store(kStart);
        std::size_t next = 0;
        for (std::size_t layer_end = 1; next < states_.size(); layer_end = states_.size()) {
            while (next < layer_end) {
                const std::size_t end = std::min(next + kBatch, layer_end);
                counts_.complete = expand(next, end);
                if (!counts_.complete) break;
                next = end;
            }
            if (states_.size() > layer_end) ++counts_.depth;
            if (!counts_.complete) break;
        }
        return counts_;
    }

    std::size_t num_states() const { return states_.size(); }

private:
    static constexpr std::size_t kBatch = 32;
    static constexpr std::size_t kMaxOutcomes = 5;

    // Writes the outcomes to look up behind `out`, adds the pairs, and returns the new end. Stores
    // first and moves the end afterwards, so that there is nothing to mispredict.
    static State* outcomes_of(State state, State* out, std::uint64_t& pairs) {
        if (is_goal(state)) return out;
        const Rule& rule = kRules[state & kRuleMask];
        const bool can_pick_up = (state & rule.load_mask) != 0;
        const bool can_drop = (state & rule.truck_mask) != 0;
        *out = state + rule.pick_up;
        out += can_pick_up;
        *out = state - rule.pick_up;
        out += can_drop;
        out[0] = state + rule.moves[0];
        out[1] = state + rule.moves[1];
        out[2] = state + rule.moves[2];
        pairs += can_pick_up + can_drop + rule.num_pairs;
        return out + rule.num_moves;
    }

    void store(State state) {
        const bool is_new = states_.insert(state);
        counts_.fail += is_new & is_fail(state);
        counts_.goal += is_new & is_goal(state);
    }

    // Expands the states of a batch together, so that table lines arrive while others are worked
    // on. The order of discovery is that of one state after the other.
    bool expand(std::size_t begin, std::size_t end) {
        std::array<State, kBatch * kMaxOutcomes + kMaxOutcomes> outcomes;
        std::uint64_t pairs = 0;
        State* out = outcomes.data();
        for (std::size_t id = begin; id < end; ++id) {
            State* const first = out;
            out = outcomes_of(states_[id], out, pairs);
            for (const State* it = first; it != out; ++it) states_.prefetch(*it);
        }
        const std::size_t num_outcomes = static_cast<std::size_t>(out - outcomes.data());
        if (states_.size() + num_outcomes > max_states_) return expand_one_by_one(begin, end);
        for (const State* it = outcomes.data(); it != out; ++it) store(*it);
        counts_.pairs += pairs;
        return true;
    }

    // The same close to the limit. Returns false if a state found no room.
    bool expand_one_by_one(std::size_t begin, std::size_t end) {
        for (std::size_t id = begin; id < end; ++id) {
            std::array<State, 2 * kMaxOutcomes> outcomes;
            std::uint64_t pairs = 0;
            State* const out = outcomes_of(states_[id], outcomes.data(), pairs);
            for (const State* outcome = outcomes.data(); outcome != out; ++outcome) {
                if (states_.size() == max_states_ && !states_.contains(*outcome)) return false;
                store(*outcome);
            }
            counts_.pairs += pairs;
        }
        return true;
    }

    std::size_t max_states_;
    StateSet states_;
    Counts counts_;
};

}  // namespace

int main(int argc, char** argv) { return explore_and_print<Explorer>(argc, argv); }
