/*
  A task as boxes see it.

  BoxTask computes with boxes of states what a Stepper computes with states: which edges are enabled
  (surely, perhaps, not at all), where an outcome leads, and where it came from. Everything is an
  over-approximation: a step of a state in a box is always among the steps of the box.

  Constraints are linear bounds that every reachable state satisfies: sums that no outcome of any
  edge changes, as they are at the start. They narrow boxes. Who makes a BoxTask has found them.
*/
#pragma once

#include <span>

#include "base/random.h"
#include "task/compiled_task.h"
#include "verify/formula.h"

namespace surefoot {

struct BoxOutcome {
    struct Value {
        std::uint32_t variable = 0;
        std::optional<LinearBound> sum;  // the value is that sum plus `constant`
        std::int64_t constant = 0;
        NodeId node = kNoNode;
    };

    std::vector<NodeId> probabilities;
    bool is_plain = true;       // the values are all there is to it
    std::vector<Value> values;  // if it is plain
    std::vector<AssignmentSpec> assignments;
};

struct BoxEdge {
    ActionId action;
    Formulas::Id guard;
    Formulas::Id not_guard;
    bool has_chances;  // some outcomes, perhaps all, may be impossible
    std::vector<BoxOutcome> outcomes;
};

class BoxTask {
public:
    // `starts` are packed states; none: those of the start condition. Constraints that might
    // overflow are left out.
    BoxTask(const CompiledTask& task, std::span<const Word> starts,
            const std::vector<LinearBound>& constraints);

    const CompiledTask& task() const { return task_; }
    const Layout& layout() const { return task_.layout(); }
    Formulas& formulas() { return formulas_; }
    const std::vector<BoxEdge>& edges() const { return edges_; }
    const std::vector<LinearBound>& constraints() const { return constraints_; }
    const Box& bounds() const { return bounds_; }
    const std::vector<Box>& starts() const { return starts_; }
    bool has_reals() const { return has_reals_; }
    // Whether the start condition may be an error in some state.
    bool may_raise_at_start() const { return may_raise_at_start_; }

    // Narrow the box by the constraints; false if nothing is left.
    bool tighten(Box& box) const;

    Truth is_fail(const Box& box, bool& raises);
    Truth is_goal(const Box& box, bool& raises);
    std::optional<Formulas::Id> fail() const { return fail_; }
    std::optional<Formulas::Id> goal() const { return goal_; }

    // Whether the outcome is possible where its edge is enabled.
    Truth is_possible(const BoxOutcome& outcome, const Box& box, bool& raises);
    // Everywhere the outcome may lead from the box; nothing if that is nowhere. `raises`: something
    // there may be an error of the model.
    std::optional<Box> image(const BoxOutcome& outcome, const Box& from, bool& raises);
    // Narrow `from` to where the outcome may lead into `to`; false if that is nowhere.
    bool preimage(const BoxOutcome& outcome, const Box& to, Box& from);

    // A start state in the box, if one is found.
    std::optional<std::vector<Word>> start_in(const Box& box);
    // Whether there is surely no start state in the box. Then it is cut from the start boxes.
    bool rule_out_start(const Box& box);

    // A state in the box that the constraints admit, if one is found. None is much more likely
    // than others.
    std::optional<std::vector<Word>> draw_state(Box box, Random& random) const;

    Box box_of(const Word* state) const;
    std::vector<Word> state_of(const Box& point) const;

private:
    void add_edges();
    BoxOutcome outcome_of(const OutcomeSpec& spec) const;
    void find_starts(std::span<const Word> given);
    void add_starts(Box box, std::size_t& work);
    std::optional<std::vector<Word>> search_start(const Box& box, std::size_t& work);
    bool narrow_to_starts(Box& box);
    bool image_of_group(std::span<const AssignmentSpec> group, const Box& from, Box& to,
                        bool& raises);

    const CompiledTask& task_;
    Formulas formulas_;
    std::vector<BoxEdge> edges_;
    std::optional<Formulas::Id> fail_;
    std::optional<Formulas::Id> goal_;
    std::optional<Formulas::Id> start_;
    std::vector<LinearBound> constraints_;
    std::vector<Box> starts_;
    Box bounds_;
    bool has_reals_ = false;
    bool has_given_starts_ = false;
    bool may_raise_at_start_ = false;
};

}  // namespace surefoot
