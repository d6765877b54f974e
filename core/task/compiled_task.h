/*
  The task of a declarative description, compiled.

  TaskSpec is what the Python side hands over: variables, expression nodes, edges, conditions.
  CompiledTask turns it once into a guard index, effects and programs; CompiledStepper runs them.
*/
#pragma once

#include <optional>

#include "task/effect.h"
#include "task/guard_index.h"
#include "task/task.h"

namespace surefoot {

struct OutcomeSpec {
    std::vector<NodeId>
        probabilities;  // those not known to be positive; the outcome is possible where all are
    std::vector<AssignmentSpec> assignments;
    double weight = 1;  // the constant factor of the probability; 0 only if too small to tell
};

struct EdgeSpec {
    std::uint32_t action = 0;
    NodeId guard = kNoNode;
    std::vector<OutcomeSpec> outcomes;
    NodeId cost = kNoNode;  // real; kNoNode: 1
};

struct TaskSpec {
    std::vector<VariableSpec> variables;
    std::vector<std::int64_t> scratch_start;  // initial values of the scratch variables
    std::vector<Node> nodes;
    std::uint32_t num_actions = 0;
    std::uint32_t first_silent = 0;
    std::vector<EdgeSpec> edges;
    NodeId fail = kNoNode;  // kNoNode: holds nowhere
    NodeId goal = kNoNode;
    NodeId start = kNoNode;
    NodeId distance = kNoNode;  // real
};

class CompiledTask : public Task {
public:
    // Throws std::invalid_argument on a malformed spec.
    explicit CompiledTask(const TaskSpec& spec);
    CompiledTask(const CompiledTask&) = delete;
    CompiledTask& operator=(const CompiledTask&) = delete;

    std::size_t words() const override { return layout_.words(); }
    std::size_t bits() const override { return layout_.bits(); }
    std::size_t num_actions() const override { return num_actions_; }
    std::size_t first_silent() const override { return first_silent_; }
    bool is_state(const Word* state) const override { return layout_.is_state(state); }
    std::unique_ptr<Stepper> stepper() const override;

    const Layout& layout() const { return layout_; }
    const Pool& pool() const { return pool_; }
    const GuardIndex& index() const { return *index_; }
    NodeId start() const { return start_; }
    // kNoNode: holds nowhere.
    NodeId fail() const { return fail_; }
    NodeId goal() const { return goal_; }
    // The edges as they were described.
    const std::vector<EdgeSpec>& edges() const { return edge_specs_; }
    const std::vector<std::int64_t>& scratch_start() const { return scratch_start_; }

    // Throw ModelError if the condition cannot be evaluated. Without start condition every state is
    // a start.
    bool is_start(const Word* state) const;
    bool is_goal_condition(const Word* state) const;
    // How far the state is from fail (0: it fails); infinite without fail condition.
    double distance_to_fail(const Word* state) const;

private:
    friend class CompiledStepper;

    struct Outcome {
        std::optional<Program> probabilities;
        Effect effect;
        double weight;
    };

    struct Edge {
        ActionId action;
        std::int64_t number;  // in the spec
        std::vector<Outcome> outcomes;
        std::optional<Program> cost;
    };

    // What most steps need of an edge, close together in memory.
    struct EdgeSummary {
        ActionId action;
        bool has_edits_only;  // then its outcomes are edit_ranges_[begin .. end - 1], all possible
        std::uint32_t begin;
        std::uint32_t end;
        const Program* residual;
    };

    Workspace workspace() const;
    std::int64_t evaluate(const Program& program, const Word* state) const;
    void add_edges(const TaskSpec& spec);
    void summarise(const Edge& edge, const Program* residual);
    std::optional<Program> condition(NodeId node);

    Layout layout_;
    Pool pool_;
    Constants constants_;
    std::uint32_t num_actions_;
    std::uint32_t first_silent_;
    std::vector<std::int64_t> scratch_start_;
    std::vector<EdgeSpec> edge_specs_;
    std::vector<Edge> edges_;
    EditTable edits_;
    std::vector<EdgeSummary> summaries_;  // by edge
    std::vector<EditRange> edit_ranges_;
    std::unique_ptr<GuardIndex> index_;  // conditions: fail, goal, then the edges
    bool has_fail_;
    bool has_goal_;
    NodeId fail_;
    NodeId goal_;
    NodeId start_;
    std::optional<Program> start_program_;
    std::optional<Program> goal_program_;
    std::optional<Program> distance_program_;
    std::size_t num_registers_ = 0;
};

}  // namespace surefoot
