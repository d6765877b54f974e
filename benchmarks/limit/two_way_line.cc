/*
  The limit: breadth-first exploration of one model, two-way line 15_10 (deterministic), written by
  hand for that model alone. It reads no file and is no part of Surefoot; it says what a program
  that knows its model can do for the same service that Surefoot gives: any number of states, not
  known in advance, each with a 32-bit id under which it can be had back, and the outcome of every
  applicable action looked up.

  A state is one 64-bit word. StateSet keeps the words in the order they were found, which is also
  the queue, and an open-addressing table of ids that doubles when it is half full. Everything that
  position and speed decide is looked up in kRules, a table made at compile time. States are
  expanded in batches, so that table and states arrive from memory while others are worked on.

  two_way_line_tuned.cc beside this file goes further: it sets aside memory for a known number of
  states, gives no ids and uses what is special about this one model.

  Counts follow docs/semantics.md: goal and fail states are stored and counted, not expanded. The
  search stops as soon as a new state would be number max_states + 1.
  Actions are tried in the order of the model's list: pick_up, drop, acc, dec, move.

  Build:  g++ -std=c++20 -O3 -o two_way_line two_way_line.cc
  Run:    ./two_way_line MAX_STATES
*/

#include "two_way_line.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace two_way_line;

// What position, speed and crash allow. Differences are added to the word (modulo 2^64).
struct Rule {
    std::array<State, 3> moves{};  // differences for acc, dec, move, as far as they are applicable
    State pick_up = 0;             // difference for pick_up; drop is its negative
    State load_mask = 0;           // the load at the position, or 0 if the truck is not at rest
    State truck_mask = 0;          // the load of the truck, or 0 if the truck is not at rest
    std::uint32_t num_moves = 0;
};

constexpr Rule rule_at(int position, int speed) {
    Rule rule;
    const bool crashes = position + speed < 0 || position + speed >= kLocations;
    auto add = [&](int change) {
        const State after = pack(position + speed, speed + change);
        rule.moves[rule.num_moves++] = crashes ? kCrashed : after - pack(position, speed);
    };
    if (crashes || speed < kTopSpeed) add(+1);
    if (crashes || speed > -kTopSpeed) add(-1);
    add(0);
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
            if (kRules[pack(position, speed)].num_moves == 0) return false;
    return true;
}
static_assert(some_move_is_always_applicable(), "dead ends would have to be counted");

// The states found so far, with ids counted up from 0.
class StateSet {
public:
    StateSet() : table_(kFirstSlots, kFree), shift_(64 - std::countr_zero(kFirstSlots)) {}

    std::size_t size() const { return found_.size(); }
    State operator[](std::size_t id) const { return found_[id]; }

    void prefetch_slot(State state) const { __builtin_prefetch(&table_[home(state)]); }
    void prefetch_state(State state) const {
        const std::uint32_t id = table_[home(state)];
        if (id != kFree) __builtin_prefetch(&found_[id]);
    }

    bool contains(State state) const { return table_[slot_of(state)] != kFree; }

    // Adds the state if it is new and says whether it was.
    bool insert(State state) {
        const std::size_t slot = slot_of(state);
        if (table_[slot] != kFree) return false;
        table_[slot] = static_cast<std::uint32_t>(found_.size());
        found_.push_back(state);
        if (found_.size() * 2 > table_.size()) grow();
        return true;
    }

private:
    static constexpr std::uint32_t kFree = 0xffffffffu;
    static constexpr std::size_t kFirstSlots = 1024;

    std::size_t home(State state) const { return state * 0x9E3779B97F4A7C15u >> shift_; }

    // Where the state is, or else the free slot it belongs in.
    std::size_t slot_of(State state) const {
        std::size_t slot = home(state);
        while (table_[slot] != kFree && found_[table_[slot]] != state)
            slot = (slot + 1) & (table_.size() - 1);
        return slot;
    }

    void grow() {
        table_.assign(table_.size() * 2, kFree);
        --shift_;
        for (std::uint32_t id = 0; id < found_.size(); ++id) {
            std::size_t slot = home(found_[id]);
            while (table_[slot] != kFree) slot = (slot + 1) & (table_.size() - 1);
            table_[slot] = id;
        }
    }

    std::vector<std::uint32_t> table_;
    int shift_;
    std::vector<State> found_;
};

class Explorer {
public:
    explicit Explorer(std::size_t max_states) : max_states_(max_states) {}

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

    // Writes the outcomes behind `out`, adds the pairs, and returns the new end. Stores first and
    // moves the end afterwards, so that there is nothing to mispredict.
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
        pairs += can_pick_up + can_drop + rule.num_moves;
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
            for (const State* it = first; it != out; ++it) states_.prefetch_slot(*it);
        }
        const std::size_t num_outcomes = static_cast<std::size_t>(out - outcomes.data());
        if (states_.size() + num_outcomes > max_states_) return expand_one_by_one(begin, end);
        for (const State* it = outcomes.data(); it != out; ++it) states_.prefetch_state(*it);
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
