#include "task/compiled_task.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace surefoot {

namespace {

constexpr std::size_t kFail = 0;
constexpr std::size_t kGoal = 1;
constexpr std::size_t kFirstEdge = 2;

std::string shown(const Layout& layout, const EffectError& error) {
    if (!error.has_value) return {};
    const bool is_real =
        layout.variable(static_cast<std::size_t>(error.variable)).type == Type::real;
    if (!is_real) return std::to_string(error.bits);
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, as_real(error.bits)).ptr;
    return {text, end};
}

void check_nodes(const Pool& pool, const TaskSpec& spec) {
    const auto check = [&](NodeId node) {
        if (node != kNoNode && node >= pool.size()) throw std::invalid_argument("no such node");
    };
    for (NodeId node : {spec.fail, spec.goal, spec.start, spec.distance}) {
        check(node);
        if (node == kNoNode) continue;
        const auto variables = pool.variables_of(node);
        const bool reads_scratch =
            !variables.empty() && variables.back() >= pool.layout().num_variables();
        if (reads_scratch) throw std::invalid_argument("a condition reads a scratch variable");
    }
    for (const EdgeSpec& edge : spec.edges) {
        if (edge.action >= spec.num_actions) throw std::invalid_argument("no such action");
        check(edge.guard);
        check(edge.cost);
        for (const OutcomeSpec& outcome : edge.outcomes) {
            for (NodeId node : outcome.probabilities) check(node);
            if (!(outcome.weight >= 0) || std::isinf(outcome.weight))
                throw std::invalid_argument("a weight is negative or not finite");
            for (const AssignmentSpec& a : outcome.assignments) {
                for (NodeId node : {a.position, a.value, a.lower, a.upper}) check(node);
                const bool is_interval = a.value == kNoNode;
                if (is_interval && (a.lower == kNoNode || a.upper == kNoNode))
                    throw std::invalid_argument("no value");
                if (a.length > 0 && a.position == kNoNode)
                    throw std::invalid_argument("no array index");
                const std::size_t end =
                    std::size_t{a.variable} + std::max<std::size_t>(a.length, 1);
                if (end > pool.layout().num_all()) throw std::invalid_argument("no such variable");
            }
        }
    }
}

}  // namespace

CompiledTask::CompiledTask(const TaskSpec& spec)
    : layout_(spec.variables),
      pool_(layout_),
      num_actions_(spec.num_actions),
      first_silent_(spec.first_silent),
      scratch_start_(spec.scratch_start),
      edge_specs_(spec.edges),
      has_fail_(spec.fail != kNoNode),
      has_goal_(spec.goal != kNoNode),
      fail_(spec.fail),
      goal_(spec.goal),
      start_(spec.start) {
    if (scratch_start_.size() != layout_.num_scratch())
        throw std::invalid_argument("scratch values");
    for (const Node& node : spec.nodes) pool_.add(node);
    check_nodes(pool_, spec);
    add_edges(spec);
    start_program_ = condition(spec.start);
    goal_program_ = condition(spec.goal);
    distance_program_ = condition(spec.distance);
}

std::optional<Program> CompiledTask::condition(NodeId node) {
    if (node == kNoNode) return std::nullopt;
    Program program(pool_, std::span(&node, 1), constants_);
    num_registers_ = std::max(num_registers_, program.num_registers());
    return program;
}

// Edges in the order of their actions: the choices of a state then come out by ascending action.
void CompiledTask::add_edges(const TaskSpec& spec) {
    std::vector<std::size_t> order(spec.edges.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return spec.edges[a].action < spec.edges[b].action;
    });
    std::vector<NodeId> conditions{spec.fail, spec.goal};
    for (std::size_t number : order) {
        const EdgeSpec& from = spec.edges[number];
        Edge edge{
            ActionId{from.action}, static_cast<std::int64_t>(number), {}, condition(from.cost)};
        for (const OutcomeSpec& outcome : from.outcomes) {
            std::optional<Program> probabilities;
            if (!outcome.probabilities.empty()) {
                probabilities.emplace(pool_, outcome.probabilities, constants_);
                num_registers_ = std::max(num_registers_, probabilities->num_registers());
            }
            edge.outcomes.push_back({std::move(probabilities),
                                     Effect(pool_, outcome.assignments, constants_, edits_),
                                     outcome.weight});
            num_registers_ = std::max(num_registers_, edge.outcomes.back().effect.num_registers());
        }
        edges_.push_back(std::move(edge));
        conditions.push_back(from.guard);
    }
    index_ = std::make_unique<GuardIndex>(pool_, conditions, constants_);
    num_registers_ = std::max(num_registers_, index_->max_registers());
    for (std::size_t e = 0; e < edges_.size(); ++e)
        summarise(edges_[e], index_->residual(kFirstEdge + e));
}

void CompiledTask::summarise(const Edge& edge, const Program* residual) {
    const auto begin = static_cast<std::uint32_t>(edit_ranges_.size());
    bool has_edits_only = true;
    for (const Outcome& outcome : edge.outcomes) {
        const auto edits = outcome.effect.edits();
        has_edits_only &= edits.has_value() && !outcome.probabilities;
        edit_ranges_.push_back(edits.value_or(EditRange{}));
    }
    const auto end = static_cast<std::uint32_t>(edit_ranges_.size());
    summaries_.push_back({edge.action, has_edits_only, begin, end, residual});
}

Workspace CompiledTask::workspace() const { return {constants_, num_registers_, scratch_start_}; }

std::int64_t CompiledTask::evaluate(const Program& program, const Word* state) const {
    Workspace memory = workspace();
    const EvalError error = program.run(state, memory.scratch.data(), memory.registers.base());
    if (error != EvalError::none) {
        throw ModelError(name_of(error), -1, -1, {}, std::vector<Word>(state, state + words()));
    }
    return memory.registers.base()[program.result(0)];
}

bool CompiledTask::is_start(const Word* state) const {
    return !start_program_ || evaluate(*start_program_, state) != 0;
}

bool CompiledTask::is_goal_condition(const Word* state) const {
    return goal_program_ && evaluate(*goal_program_, state) != 0;
}

double CompiledTask::distance_to_fail(const Word* state) const {
    if (!distance_program_) return std::numeric_limits<double>::infinity();
    return as_real(evaluate(*distance_program_, state));
}

class CompiledStepper : public Stepper {
public:
    explicit CompiledStepper(const CompiledTask& task)
        : task_(task),
          index_(*task.index_),
          memory_(task.workspace()),
          width_(task.words()),
          candidates_(index_.row_words()) {}

    StateKind kind(const Word* state) override {
        candidates_[0] = index_.find_first(state);
        return kind_of_candidates(state);
    }

    bool is_fail(const Word* state) override {
        candidates_[0] = index_.find_first(state);
        return holds_fail(state);
    }

    void expand(const Word* state, Expansion& expansion) override {
        first_choice_ = expansion.choices.size();
        index_.find(state, candidates_.data());
        expansion.kind = kind_of_candidates(state);
        if (expansion.kind != StateKind::open) return;
        for_each_enabled(state, [&](std::size_t edge) { add_outcomes(state, edge, expansion); });
        close_choice(expansion);
    }

    void next_choice(const Word* state, ActionId from, Expansion& expansion) override {
        expansion.clear();
        first_choice_ = 0;
        index_.find(state, candidates_.data());
        const auto is_done = [&](ActionId action) {
            return has_choice(expansion) && expansion.choices.back().action != action;
        };
        for_each_enabled(state, first_edge(from), is_done,
                         [&](std::size_t edge) { add_outcomes(state, edge, expansion); });
        close_choice(expansion);
    }

    void applicable(const Word* state, std::vector<ActionId>& actions) override {
        actions.clear();
        index_.find(state, candidates_.data());
        list_actions(state, actions);
    }

    StateKind look(const Word* state, std::vector<ActionId>& actions) override {
        actions.clear();
        index_.find(state, candidates_.data());
        const StateKind kind = kind_of_candidates(state);
        if (kind == StateKind::open) list_actions(state, actions);
        return kind;
    }

    void outcomes(const Word* state, ActionId action, Expansion& expansion) override {
        expansion.clear();
        first_choice_ = 0;
        index_.find(state, candidates_.data());
        for_each_enabled(
            state, first_edge(action), [&](ActionId other) { return other != action; },
            [&](std::size_t edge) { add_outcomes(state, edge, expansion); });
        close_choice(expansion);
    }

    void expand_weighted(const Word* state, WeightedExpansion& expansion) override {
        expansion.clear();
        index_.find(state, candidates_.data());
        expansion.kind = kind_of_candidates(state);
        if (expansion.kind != StateKind::open) return;
        for_each_enabled(
            state, [&](std::size_t edge) { add_weighted(state, task_.edges_[edge], expansion); });
    }

    double distance_to_fail(const Word* state) override {
        if (!task_.distance_program_) return std::numeric_limits<double>::infinity();
        const Program& program = *task_.distance_program_;
        return as_real(run(program, state, -1)[program.result(0)]);
    }

    std::vector<std::int64_t> enabled_edges(const Word* state) override {
        std::vector<std::int64_t> numbers;
        index_.find(state, candidates_.data());
        for_each_enabled(state, [&](std::size_t edge) {
            if (has_outcome(state, task_.edges_[edge]))
                numbers.push_back(task_.edges_[edge].number);
        });
        std::sort(numbers.begin(), numbers.end());
        return numbers;
    }

private:
    using Edge = CompiledTask::Edge;

    bool passes(const Word* state, std::size_t condition, std::int64_t edge) {
        const Program* residual = index_.residual(condition);
        return residual == nullptr || run(*residual, state, edge)[residual->result(0)] != 0;
    }

    bool is_candidate(std::size_t condition) const {
        return ((candidates_[condition / 64] >> (condition % 64)) & 1) != 0;
    }

    bool holds_fail(const Word* state) {
        return task_.has_fail_ && is_candidate(kFail) && passes(state, kFail, -1);
    }

    StateKind kind_of_candidates(const Word* state) {
        if (holds_fail(state)) return StateKind::fail;
        if (task_.has_goal_ && is_candidate(kGoal) && passes(state, kGoal, -1))
            return StateKind::goal;
        return StateKind::open;
    }

    void list_actions(const Word* state, std::vector<ActionId>& actions) {
        for_each_enabled(state, [&](std::size_t edge) {
            const CompiledTask::EdgeSummary& summary = task_.summaries_[edge];
            const bool is_listed = !actions.empty() && actions.back() == summary.action;
            const bool is_possible =
                summary.has_edits_only || has_outcome(state, task_.edges_[edge]);
            if (is_possible && !is_listed) actions.push_back(summary.action);
        });
    }

    // The first edge of an action that is not below `action`; edges stand by action.
    std::size_t first_edge(ActionId action) const {
        if (action == ActionId{0}) return 0;
        const auto first = std::lower_bound(
            task_.summaries_.begin(), task_.summaries_.end(), action,
            [](const auto& summary, ActionId wanted) { return summary.action < wanted; });
        return static_cast<std::size_t>(first - task_.summaries_.begin());
    }

    template <typename Visit>
    void for_each_enabled(const Word* state, Visit visit) {
        for_each_enabled(state, 0, [](ActionId) { return false; }, visit);
    }

    // Visit the enabled edges from `first` on; those of an action that `is_done` are not evaluated,
    // nor is what comes behind them.
    template <typename IsDone, typename Visit>
    void for_each_enabled(const Word* state, std::size_t first, IsDone is_done, Visit visit) {
        const std::size_t end = kFirstEdge + task_.edges_.size();
        const std::size_t begin = kFirstEdge + first;
        Word mask = ~Word{0} << (begin % 64);
        for (std::size_t w = begin / 64; w < candidates_.size(); ++w) {
            Word bits = candidates_[w] & mask;
            mask = ~Word{0};
            for (; bits != 0; bits &= bits - 1) {
                const std::size_t condition =
                    w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                if (condition >= end) return;
                const std::size_t edge = condition - kFirstEdge;
                const CompiledTask::EdgeSummary& summary = task_.summaries_[edge];
                if (is_done(summary.action)) return;
                if (summary.residual == nullptr ||
                    passes(state, condition, task_.edges_[edge].number))
                    visit(edge);
            }
        }
    }

    bool is_possible(const Word* state, const Edge& edge, const CompiledTask::Outcome& outcome) {
        if (!outcome.probabilities) return true;
        const std::int64_t* registers = run(*outcome.probabilities, state, edge.number);
        bool is_positive = true;
        for (std::size_t i = 0; i < outcome.probabilities->num_results(); ++i) {
            const double probability = as_real(registers[outcome.probabilities->result(i)]);
            if (probability < 0) fail(state, edge.number, {"negative-probability"});
            is_positive &= probability > 0;
        }
        return is_positive;
    }

    bool has_outcome(const Word* state, const Edge& edge) {
        bool found = false;
        for (const auto& outcome : edge.outcomes) found |= is_possible(state, edge, outcome);
        return found;
    }

    void add_outcomes(const Word* state, std::size_t edge, Expansion& expansion) {
        const CompiledTask::EdgeSummary& summary = task_.summaries_[edge];
        const bool is_new_choice =
            !has_choice(expansion) || expansion.choices.back().action != summary.action;
        if (is_new_choice) close_choice(expansion);
        const std::size_t before = expansion.words.size();
        if (summary.has_edits_only) {
            add_edited(state, summary, expansion.words);
        } else {
            add_possible(state, task_.edges_[edge], expansion.words);
        }
        if (expansion.words.size() == before) return;
        const auto end = static_cast<std::uint32_t>(expansion.words.size() / width_);
        if (is_new_choice) {
            expansion.choices.push_back(
                {summary.action, static_cast<std::uint32_t>(before / width_), end});
        }
        expansion.choices.back().end = end;
    }

    void add_edited(const Word* state, const CompiledTask::EdgeSummary& summary,
                    WordBuffer& words) {
        for (std::uint32_t i = summary.begin; i < summary.end; ++i) {
            Word* const next = words.extend(width_);
            for (std::size_t w = 0; w < width_; ++w) next[w] = state[w];
            const EditTable::Failure failure =
                task_.edits_.apply(task_.edit_ranges_[i], state, next);
            if (failure.edit != nullptr) [[unlikely]] {
                const auto edge = static_cast<std::size_t>(&summary - task_.summaries_.data());
                fail(state, task_.edges_[edge].number, out_of_range(task_.layout_, failure));
            }
        }
    }

    void add_possible(const Word* state, const Edge& edge, WordBuffer& words) {
        for (const auto& outcome : edge.outcomes) {
            if (!is_possible(state, edge, outcome)) continue;
            const EffectError error = outcome.effect.apply(state, memory_, words);
            if (error.kind != nullptr) fail(state, edge.number, error);
        }
    }

    // One choice for one edge.
    void add_weighted(const Word* state, const Edge& edge, WeightedExpansion& expansion) {
        const auto begin = static_cast<std::uint32_t>(expansion.weights.size());
        for (const auto& outcome : edge.outcomes) {
            if (!is_possible(state, edge, outcome)) continue;
            const double weight = weight_of(outcome);
            const EffectError error = outcome.effect.apply(state, memory_, expansion.words);
            if (error.kind != nullptr) fail(state, edge.number, error);
            // The values of an interval are equally likely.
            const std::size_t end = expansion.words.size() / width_;
            const auto share = static_cast<double>(end - expansion.weights.size());
            expansion.weights.resize(end, weight / share);
        }
        if (expansion.weights.size() == begin) return;
        merge_duplicates(expansion, begin, width_);
        const auto end = static_cast<std::uint32_t>(expansion.weights.size());
        expansion.choices.push_back({edge.action, begin, end});
        expansion.costs.push_back(
            edge.cost ? as_real(run(*edge.cost, state, edge.number)[edge.cost->result(0)]) : 1.0);
    }

    // The weight of an outcome that is_possible has just looked at. What is possible stays so,
    // even where the product is too small for a double.
    double weight_of(const CompiledTask::Outcome& outcome) {
        const std::int64_t* const registers = memory_.registers.base();
        double weight = outcome.weight;
        const std::size_t factors =
            outcome.probabilities ? outcome.probabilities->num_results() : 0;
        for (std::size_t i = 0; i < factors; ++i)
            weight *= as_real(registers[outcome.probabilities->result(i)]);
        return std::max(weight, std::numeric_limits<double>::min());
    }

    bool has_choice(const Expansion& expansion) const {
        return expansion.choices.size() > first_choice_;
    }

    // The last choice has all its outcomes: make them a set.
    void close_choice(Expansion& expansion) {
        if (!has_choice(expansion)) return;
        Choice& choice = expansion.choices.back();
        if (choice.end - choice.begin < 2) return;
        remove_duplicates(expansion.words, choice.begin * task_.words(), task_.words());
        choice.end = static_cast<std::uint32_t>(expansion.words.size() / task_.words());
    }

    const std::int64_t* run(const Program& program, const Word* state, std::int64_t edge) {
        std::int64_t* const registers = memory_.registers.base();
        const EvalError error = program.run(state, memory_.scratch.data(), registers);
        if (error != EvalError::none) fail(state, edge, {name_of(error)});
        return registers;
    }

    [[noreturn]] void fail(const Word* state, std::int64_t edge, const EffectError& error) const {
        throw ModelError(error.kind, edge, error.variable, shown(task_.layout_, error),
                         std::vector<Word>(state, state + task_.words()));
    }

    const CompiledTask& task_;
    const GuardIndex& index_;
    Workspace memory_;
    std::size_t width_;
    std::vector<Word> candidates_;
    std::size_t first_choice_ = 0;  // of the state at hand in an expansion of several states
};

std::unique_ptr<Stepper> CompiledTask::stepper() const {
    return std::make_unique<CompiledStepper>(*this);
}

}  // namespace surefoot
