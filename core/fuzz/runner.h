/*
  One worker of the fuzzer: one run at a time, on nodes that it may share. See fuzz.h.

  Within a run every state is seen at most once and expanded at most once; the number of those seen
  and not yet expanded tells when the policy's graph from the start is exhausted.
*/
#pragma once

#include <functional>

#include "fuzz/fuzz.h"

namespace surefoot {

class Runner {
public:
    // Called after every piece of work, with the number of states expanded in it; anything but none
    // ends the run.
    using Poll = std::function<StopReason(const Progress&)>;

    Runner(const Task& task, const Policy& policy, const Layout* layout, const FuzzOptions& options,
           Poll poll);

    // Which states are known before does not matter.
    FuzzRun run(std::uint64_t number, std::uint32_t strategy, const Word* start,
                std::shared_ptr<GraphNodes> nodes);

    std::uint64_t bytes() const {
        return graph_.bytes() + (stamps_.capacity() + marks_.capacity()) * sizeof(std::uint32_t);
    }

private:
    // A state met in a lookahead, and from where.
    struct Seen {
        StateId id;
        std::uint32_t parent;
    };

    void begin(const Word* start);
    void follow(FuzzRun& run, Random& random);
    bool is_over(FuzzRun& run, StateId here) const;
    bool stops(FuzzRun& run, std::uint64_t expanded);
    void note_expanded(StateId id);
    void use(std::shared_ptr<GraphNodes> nodes);

    // Fill seen_ and return where to go on in there; none if nothing new can be reached, or the run
    // was stopped.
    std::optional<std::size_t> look_ahead(FuzzRun& run, StateId here, Random& random);
    bool expand_layer(FuzzRun& run, std::size_t begin, std::size_t end);
    void add_outcomes(std::size_t parent);
    std::size_t pick(std::size_t layer, Random& random);
    std::size_t pick_weighted(Random& random);
    bool sees_fail(std::size_t layer) const;
    std::size_t pick_fail(std::size_t layer, Random& random) const;
    bool has_unique_least(std::size_t layer);
    void append(std::size_t target);

    void perturb(FuzzRun& run, const Word* start, Random& random);
    std::vector<Word> reached_state(FuzzRun& run, const Word* start, Random& random);
    bool change_all(FuzzRun& run, std::vector<Word>& state, Random& random);
    bool change(FuzzRun& run, std::vector<Word>& state, Random& random);
    bool change_value(FuzzRun& run, std::vector<Word>& state, Random& random);
    bool take_action(FuzzRun& run, std::vector<Word>& state, Random& random);

    std::uint64_t path_hash() const;
    void write(FuzzRun& run);

    const Task& task_;
    const Layout* layout_;
    FuzzOptions options_;
    Strategy strategy_;  // of the run
    Poll poll_;
    PolicyGraph graph_;
    std::unique_ptr<Stepper> stepper_;
    std::uint32_t serial_ = 0;  // of the run: 2 * serial_: seen, and one more: expanded
    std::uint32_t lookahead_serial_ = 0;
    std::vector<std::uint32_t> stamps_;  // by state: in which run it was last seen
    std::vector<std::uint32_t> marks_;   // by state: in which lookahead it was last seen
    std::uint64_t open_ = 0;             // seen in this run and not expanded; fail states stay open
    std::vector<StateId> path_;
    std::vector<Seen> seen_;
    std::vector<StateId> layer_;
    std::vector<double> weights_;
    std::vector<ActionId> applicable_;
    Expansion expansion_;
};

}  // namespace surefoot
