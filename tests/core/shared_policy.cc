/*
  Threads that share one policy, under the thread sanitizer: each asks every engine that decides
  (evaluation, oracles with a radius, many decisions at once, faults, fuzzing, simulation,
  verification) and must get what one thread gets alone.
*/
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "explicit_task.h"
#include "fault/fault_analysis.h"
#include "fuzz/fuzz.h"
#include "oracle/task_oracle.h"
#include "policy/corrected.h"
#include "policy/network.h"
#include "policy/rules.h"
#include "policy/scored_policy.h"
#include "policy/shielded_policy.h"
#include "policy/trees.h"
#include "search/policy_search.h"
#include "search/simulate.h"
#include "task/compiled_task.h"
#include "verify/explicit.h"

namespace surefoot::tests {
namespace {

constexpr std::uint32_t kStates = 400;
constexpr std::uint32_t kActions = 3;
constexpr std::uint64_t kThreads = 6;
constexpr std::uint64_t kWorkers = 2;  // of engines that have some

using Digest = std::vector<std::uint64_t>;  // answers, one after the other

Budget endless() { return {600, ~std::uint64_t{0}, ~std::uint64_t{0}, nullptr}; }

std::uint32_t drawn(Random& random, std::uint32_t count) {
    return static_cast<std::uint32_t>(random.below(std::uint64_t{count}));
}

ExplicitTask random_task(Random& random) {
    Table table(kStates, std::vector<Outcomes>(kActions));
    for (auto& row : table) {
        for (Outcomes& outcomes : row) {
            for (std::uint32_t i = drawn(random, 4); i > 0; --i) {
                const std::uint32_t next = drawn(random, kStates);
                if (std::find(outcomes.begin(), outcomes.end(), next) == outcomes.end())
                    outcomes.push_back(next);
            }
        }
    }
    return {std::move(table), {1, 2, 3, 4, 5}, {6, 7, 8}};
}

// A task of one number below kStates: from where an action is applicable it goes to
// (factor * number + shift) % kStates, by one of two shifts.
class Builder {
public:
    explicit Builder(Random& random) : random_(random) {
        spec_.variables = {{Type::integer, 0, kStates - 1}};
        spec_.num_actions = spec_.first_silent = kActions;
        number_ = node(Op::variable, Type::integer, 0);
    }

    std::unique_ptr<CompiledTask> task() {
        for (std::uint32_t action = 0; action < kActions; ++action)
            spec_.edges.push_back({action, below(drawn(random_, kStates)), {outcome(), outcome()}});
        spec_.fail = below(5);
        return std::make_unique<CompiledTask>(spec_);
    }

private:
    NodeId node(Op op, Type type, NodeId a = kNoNode, NodeId b = kNoNode, std::int64_t bits = 0) {
        spec_.nodes.push_back({op, type, a, b, kNoNode, bits});
        return static_cast<NodeId>(spec_.nodes.size() - 1);
    }
    NodeId constant(std::int64_t value) {
        return node(Op::constant, Type::integer, kNoNode, kNoNode, value);
    }
    NodeId whole(Op op, NodeId a, std::int64_t value) {
        return node(op, Type::integer, a, constant(value));
    }
    NodeId below(std::int64_t bound) {
        const NodeId rest = whole(Op::modulo, whole(Op::multiply, number_, 7), kStates);
        return node(Op::less, Type::boolean, rest, constant(bound));
    }
    OutcomeSpec outcome() {
        const NodeId product = whole(Op::multiply, number_, 1 + drawn(random_, 9));
        const NodeId sum = whole(Op::add, product, drawn(random_, kStates));
        OutcomeSpec made;
        made.assignments.push_back({0, 0, kNoNode, whole(Op::modulo, sum, kStates)});
        return made;
    }

    Random& random_;
    TaskSpec spec_;
    NodeId number_;
};

double weight(Random& random) { return static_cast<double>(drawn(random, 2001)) / 1000.0 - 1; }

std::vector<double> weights(Random& random, std::size_t count) {
    std::vector<double> numbers(count);
    for (double& number : numbers) number = weight(random);
    return numbers;
}

std::shared_ptr<const Scorer> random_network(Random& random) {
    constexpr std::size_t kHidden = 16;
    return make_network(
        {{1, kHidden, weights(random, kHidden), weights(random, kHidden), Activation::tanh, 0},
         {kHidden, kActions, weights(random, kHidden * kActions), weights(random, kActions),
          Activation::linear, 0}},
        false);
}

// One tree for each output: a threshold and two values.
std::shared_ptr<const Scorer> random_trees(Random& random) {
    TreesSpec spec;
    spec.num_inputs = 1;
    spec.num_outputs = kActions;
    spec.base.assign(kActions, 0);
    spec.has_float_inputs = true;
    for (std::int32_t output = 0; output < static_cast<std::int32_t>(kActions); ++output) {
        const auto node = static_cast<std::int32_t>(spec.features.size());
        const auto value = static_cast<std::int32_t>(spec.values.size());
        spec.roots.push_back(node);
        spec.features.insert(spec.features.end(), {0, -1, -1});
        spec.thresholds.insert(spec.thresholds.end(), {weight(random), 0, 0});
        spec.left.insert(spec.left.end(), {node + 1, value, value + 1});
        spec.right.insert(spec.right.end(), {node + 2, output, output});
        spec.values.insert(spec.values.end(), {weight(random), weight(random)});
    }
    return std::make_shared<Trees>(spec);
}

std::shared_ptr<const Scorer> random_rules(Random& random) {
    RulesSpec spec;
    spec.num_inputs = 1;
    spec.base.assign(kActions, 0);
    for (std::uint32_t atom = 0; atom < kStates; ++atom) {
        spec.atoms.push_back({0, (atom - kStates / 2.0) / (kStates / 2.0)});
        spec.rules.push_back({true, {{atom, drawn(random, 2) == 0}}});
        spec.weights.push_back({atom, drawn(random, kActions), weight(random)});
    }
    return std::make_shared<Rules>(spec);
}

// Every engine, asked about one task and one policy by one thread.
class Examiner {
public:
    Examiner(const Task& task, const Policy& policy) : task_(task), policy_(policy) {
        for (std::uint32_t state = 0; state < kStates; state += 7) {
            states_.push_back(state);
            states_.resize(states_.size() + task.words() - 1);
        }
    }

    Digest answers() {
        evaluate();
        decide_all();
        for (std::uint64_t radius = 0; radius < 2; ++radius) ask_oracle(radius);
        simulate_all();
        verify();
        fuzz_and_find_faults();
        return std::move(digest_);
    }

private:
    void evaluate() {
        Budget budget = endless();
        PolicyGraph graph(task_, policy_);
        for (CanFail answer : can_fail(graph, states_, budget).answers)
            digest_.push_back(static_cast<std::uint64_t>(answer));
    }

    void decide_all() {
        Questions questions(task_.words());
        const auto stepper = task_.stepper();
        std::vector<ActionId> applicable;
        for (std::size_t at = 0; at < states_.size(); at += task_.words()) {
            stepper->applicable(states_.data() + at, applicable);
            if (!applicable.empty()) questions.add(states_.data() + at, applicable);
        }
        std::vector<ActionId> decisions(questions.size());
        policy_.decider()->decide_all(questions, decisions.data());
        for (ActionId decision : decisions) digest_.push_back(index(decision));
    }

    void ask_oracle(std::uint64_t radius) {
        for (const char* name : {"lazy_attractor", "tarjan_safe"}) {
            TaskOracle oracle(task_, {name, {Order::app, 0, &policy_}, radius});
            for (std::size_t at = 0; at < states_.size(); at += task_.words()) {
                Budget budget = endless();
                const Answer answer = oracle.decide(states_.data() + at, budget);
                digest_.push_back(static_cast<std::uint64_t>(answer.verdict));
            }
        }
    }

    void simulate_all() {
        for (std::size_t at = 0; at < states_.size(); at += task_.words()) {
            Budget budget = endless();
            Random random(1, at);
            const Run run = simulate(task_, states_.data() + at, policy_, 50, random, budget);
            digest_.insert(digest_.end(), run.actions.begin(), run.actions.end());
        }
    }

    void verify() {
        Budget budget = endless();
        ReachedStates reached(task_.words());
        const auto starts = [this](const auto& visit) {
            for (std::size_t at = 0; at < states_.size(); at += task_.words())
                visit(states_.data() + at);
            return StopReason::none;
        };
        const ExplicitResult result =
            verify_explicit(task_, policy_, starts, kWorkers, 5, budget, reached);
        digest_.push_back(reached.size());
        for (const FailingRun& run : result.runs)
            digest_.insert(digest_.end(), run.states.begin(), run.states.end());
    }

    void fuzz_and_find_faults() {
        Budget budget = endless();
        FuzzOptions options;
        options.max_steps = 50;
        options.strategies.front().lookahead = 3;
        options.workers = kWorkers;
        const FuzzResult result = fuzz(task_, policy_, states_, nullptr, options, budget);
        TaskOracle oracle(task_, {"lazy_attractor", {Order::app, 0, &policy_}, 1});
        const auto ask = [&oracle](const Word* state, std::uint64_t spent, Budget& limits) {
            const Answer answer = oracle.decide(state, limits, spent);
            return FoundVerdict{answer.verdict, answer.stopped};
        };
        FaultAnalysis analysis(task_, ask, 1);
        for (const FuzzRun& run : result.runs) {
            digest_.push_back(static_cast<std::uint64_t>(run.end));
            digest_.push_back(run.steps);
            if (run.end == RunEnd::fail) add_faults(analysis, run);
        }
    }

    void add_faults(FaultAnalysis& analysis, const FuzzRun& run) {
        Budget budget = endless();
        const FaultBudget limits{600, ~std::uint64_t{0}, ~std::uint64_t{0}, false};
        for (const Fault& fault :
             analysis.analyse(run.states, run.actions, false, limits, budget).faults) {
            digest_.push_back(fault.step);
            for (ActionId action : fault.alternatives) digest_.push_back(index(action));
        }
    }

    const Task& task_;
    const Policy& policy_;
    std::vector<Word> states_;
    Digest digest_;
};

std::uint64_t wrong_threads(const Task& task, const Policy& policy) {
    const Digest alone = Examiner(task, policy).answers();
    std::vector<Digest> answers(kThreads);
    std::vector<std::thread> threads;
    for (Digest& own : answers)
        threads.emplace_back([&] { own = Examiner(task, policy).answers(); });
    for (std::thread& thread : threads) thread.join();
    return static_cast<std::uint64_t>(std::count_if(answers.begin(), answers.end(),
                                                    [&](const auto& own) { return own != alone; }));
}

int test(std::uint64_t rounds) {
    std::uint64_t mistakes = 0;
    const Layout layout({{Type::integer, 0, kStates - 1}});
    const std::vector<InputSpec> inputs{{0, 0, kStates / 2.0, kStates / 2.0}};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        Random random(round, 0);
        const ExplicitTask explicit_task = random_task(random);
        const auto compiled_task = Builder(random).task();
        const auto network = random_network(random);
        const auto trees = random_trees(random);
        const std::vector<std::shared_ptr<const Scorer>> scorers{
            network, trees, std::make_shared<Corrected>(network, trees), random_rules(random)};
        for (const Task* task : {static_cast<const Task*>(&explicit_task),
                                 static_cast<const Task*>(compiled_task.get())}) {
            for (const auto& scorer : scorers) {
                const ScoredPolicy policy(layout, kActions, scorer, inputs,
                                          {ActionId{0}, ActionId{1}, ActionId{2}}, false);
                mistakes += wrong_threads(*task, policy);
                mistakes +=
                    wrong_threads(*task, ShieldedPolicy(policy, Decisions({}, task->words(), {})));
            }
            mistakes += wrong_threads(*task, RandomPolicy(round));
        }
    }
    std::printf("{\"rounds\": %llu, \"mistakes\": %llu}\n", static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(mistakes));
    return mistakes == 0 ? 0 : 1;
}

}  // namespace
}  // namespace surefoot::tests

int main(int argc, char** argv) {
    return surefoot::tests::test(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3);
}
