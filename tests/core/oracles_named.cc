/*
  Tasks on which oracles, ours and published ones, have gone wrong or might.

      oracles_named [NAME]

  Runs every oracle on the case of that name, or on all. Each case says about each of its states
  what is true: the number of differences from the policy that a safe policy needs, or `-` if no
  number is enough though the state is safe, or `x` if it is unsafe. Each state is the first
  question once, the others follow; and each question is asked with budgets that end after 0, 1, 2,
  ... pieces of work, in the middle of errors, and then again.
*/
#include <cstring>
#include <thread>

#include "interview.h"

namespace surefoot::tests {

namespace {

struct Case {
    const char* name;
    ExplicitTask task;
    std::vector<int> decisions;  // actions by state; -1 where there is nothing to decide
    const char* truth;           // by state
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {
        // -- terminal states
        {"a dead end is safe", {{{}}, {}}, {-1}, "0"},
        {"a run may end in a dead end", {{{{1}}, {}}, {}}, {0, -1}, "00"},
        {"fail beats goal", {{{{1}}, {}}, {1}, {1}}, {0, -1}, "xx"},
        {"a dead end that fails is not safe", {{{{1}}, {}}, {1}}, {0, -1}, "xx"},
        {"fail states are not left", {{{{1}}, {{2}}, {}}, {1}, {2}}, {0, -1, -1}, "xx0"},
        {"goal states are not left", {{{{1}}, {{2}}, {}}, {2}, {1}}, {0, -1, -1}, "00x"},
        {"a loop through goal ends there", {{{{1}}, {{0}, {2}}, {}}, {2}, {1}}, {0, -1, -1}, "00x"},

        // -- actions and outcomes
        {"a loop avoids fail", {{{{0}, {1}}, {}}, {1}}, {0, -1}, "0x"},
        {"one bad outcome loses the action", {{{{1, 2}}, {}, {}}, {2}}, {0, -1, -1}, "x0x"},
        {"the last action is tried too", {{{{1}, {1}, {1}, {2}}, {}, {}}, {1}}, {0, -1, -1}, "1x0"},
        {"the tenth action is tried too, when nine were lost one by one",
         {{{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {11}},
           {{10}},
           {{10}},
           {{10}},
           {{10}},
           {{10}},
           {{10}},
           {{10}},
           {{10}},
           {{10}},
           {},
           {}},
          {10},
          {11}},
         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1},
         "1xxxxxxxxxx0"},
        {"ten actions are lost, some of them by the same state",
         {{{{1}, {2}, {1, 3}, {2, 3}, {1}, {3}, {2}, {3, 1}, {1, 2, 3}, {3, 2}},
           {{2}},
           {{3}},
           {{4, 0}},
           {}},
          {4}},
         {9, 0, 0, 0, -1},
         "xxxxx"},
        {"gaps between applicable actions",
         {{{{}, {1}, {}, {2}}, {}, {}}, {1}},
         {3, -1, -1},
         "0x0"},
        {"told twice that the action is lost, one action is lost",
         {{{{1, 2}, {4}}, {{3}}, {{3}}, {{5}}, {}, {}}, {5}, {4}},
         {0, 0, 0, 0, -1, -1},
         "1xxx0x"},
        {"a lost action that comes back by another way",
         {{{{1}, {2}}, {{2}}, {{3, 0}, {4}}, {}, {}}, {3}, {4}},
         {0, 0, 0, -1, -1},
         "111x0"},

        // -- the printed iPI goes on for ever if state 1 was asked before
        {"the first action leads to a state known to be unsafe",
         {{{{1}, {3}}, {{2}}, {}, {}}, {2}},
         {0, 0, -1, -1},
         "1xx0"},
        {"so do the first actions of a cycle",
         {{{{2}, {1}}, {{2}, {0}}, {{3}}, {}}, {3}},
         {1, 1, 0, -1},
         "00xx"},

        // -- TarjanSafe as printed calls 1 (and 2) safe: 2 depends on 0, so 1 does, and 0 is lost
        {"a low value is passed up through children",
         {{{{1, 3}}, {{2}}, {{0}}, {{4}}, {}}, {4}},
         {0, 0, 0, 0, -1},
         "xxxxx"},
        {"and through several",
         {{{{1, 4}}, {{2}}, {{3}}, {{0}}, {}}, {4}},
         {0, 0, 0, 0, -1},
         "xxxxx"},
        {"the low value of a dropped action does not count",
         {{{{1}}, {{0, 3}, {2}}, {{2}}, {}}, {3}},
         {0, 1, 0, -1},
         "000x"},
        {"found safe under an action that fails later",
         {{{{1, 2}, {3}}, {{0}}, {}, {}}, {2}, {3}},
         {0, 0, -1, -1},
         "11x0"},
        {"found safe under an action that fails later, with no other",
         {{{{1, 2, 3}}, {{0, 2}}, {{1}}, {}}, {3}},
         {0, 0, 0, -1},
         "xxxx"},
        {"a cycle inside a cycle that is lost",
         {{{{1}, {5}}, {{2}}, {{1}, {3}}, {{0, 4}}, {}, {}}, {4}},
         {0, 0, 1, 0, -1, -1},
         "1--xx0"},
        {"met again on a sibling's way",
         {{{{1, 2}}, {{3}}, {{3}, {1}}, {{0}, {4}}, {}}, {4}},
         {0, 0, 1, 0, -1},
         "0000x"},

        // -- several questions: 0 is left undecided, 3 looks at 1 and does not need it any more
        {"dependants that another question forgot",
         {{{{1}}, {{5}}, {{5}}, {{2, 1}, {4}}, {}, {}}, {5}},
         {0, 0, 0, 0, -1, -1},
         "xxx10x"},

        // -- differences from the policy
        {"the policy is safe", {{{{0}, {1}}, {}}, {1}}, {0, -1}, "0x"},
        {"one difference repairs it", {{{{1}, {0}}, {}}, {1}}, {0, -1}, "-x"},
        {"one difference that is taken once", {{{{1}, {2}}, {}, {}}, {1}, {2}}, {0, -1, -1}, "1x0"},
        {"differences add up along a run",
         {{{{4}, {1}}, {{4}, {2}}, {{4}, {3}}, {}, {}}, {4}, {3}},
         {0, 0, 0, -1, -1},
         "3210x"},
        {"differences do not add up over outcomes",
         {{{{1, 2}, {}}, {{4}, {3}}, {{4}, {3}}, {}, {}}, {4}, {3}},
         {0, 0, 0, -1, -1},
         "1110x"},
        {"a difference inside a cycle counts for ever",
         {{{{2}, {1}}, {{0}, {}}, {}}, {2}},
         {0, 0, -1},
         "--x"},
        {"a difference inside a cycle that can be left by another",
         {{{{2}, {1}}, {{0}, {3}}, {}, {}}, {2}, {3}},
         {0, 0, -1, -1},
         "21x0"},
        // The pair of state 0 and 1 left is on the stack when 0 is met with 0 left.
        {"the same state with fewer differences left",
         {{{{3}, {1}}, {{2}, {0}}, {{0}, {}}, {}}, {3}},
         {0, 0, 0, -1},
         "---x"},
        {"the same state with fewer differences left, and a way out",
         {{{{1}, {2}}, {{4}, {0}}, {{0}, {3}}, {}, {}}, {4}, {3}},
         {0, 0, 1, -1, -1},
         "1200x"},
        {"a difference followed by fail helps nobody",
         {{{{1}, {2}}, {{3}}, {{3}}, {}}, {3}},
         {0, 0, 0, -1},
         "xxxx"},
        {"nobody is safe without a difference, and one is enough",
         {{{{1}, {0}}, {{1, 0}, {0}}, {{0, 3}, {2, 3}}, {{2}, {1}}}, {0}, {1}},
         {-1, -1, 0, 0},
         "x0-1"},
        {"more differences than the radius is asked for",
         {{{{5}, {1}}, {{5}, {2}}, {{5}, {3}}, {{5}, {4}}, {{5}, {6}}, {}, {}}, {5}, {6}},
         {0, 0, 0, 0, 0, -1, -1},
         "54321x0"},

        // -- silent actions
        {"a forced step into fail", {{{{1}}, {}}, {1}, {}, 1}, {-1, -1}, "xx"},
        {"a forced step has the outcomes of all silent actions",
         {{{{}, {1}, {2}}, {}, {}}, {2}, {}, 2},
         {-1, -1, -1},
         "x0x"},
        {"equal outcomes of silent actions are one",
         {{{{}, {1, 2}, {2, 1}}, {}, {}}, {}, {}, 2},
         {-1, -1, -1},
         "000"},
        {"a silent action is not taken where there is another",
         {{{{1}, {2}}, {}, {}}, {2}, {}, 1},
         {0, -1, -1},
         "00x"},
        {"a forced step costs no difference",
         {{{{}, {1}}, {{3}, {2}}, {}, {}}, {3}, {2}, 1},
         {-1, 0, -1, -1},
         "xx0x"},
        {"no silent way out where a visible action fails",
         {{{{2}, {1}}, {}, {}}, {2}, {}, 1},
         {0, -1, -1},
         "x0x"},
        {"a forced loop is safe", {{{{1}}, {{0}}}, {}, {}, 1}, {-1, -1}, "00"},
        {"forced steps between differences",
         {{{{4}, {1}, {}}, {{}, {}, {2}}, {{4}, {3}, {}}, {}, {}}, {4}, {3}, 1},
         {0, -1, 0, -1, -1},
         "2110x"},

        // -- families
        {"staircase of four steps",
         {{{{1}, {2}, {3}, {4}, {5}}, {{2, 6}}, {{3, 1}}, {{4, 2}}, {{5, 3}}, {}, {}}, {6}, {5}},
         {0, 0, 0, 0, 0, -1, -1},
         "1xxxx0x"},
        {"layers with two ways each, back to the start",
         {{{{1, 2}}, {{3, 4}}, {{3, 4}}, {{0, 5}}, {{0, 5}}, {{6}}, {}}, {6}},
         {0, 0, 0, 0, 0, 0, -1},
         "xxxxxxx"},
        {"layers with two ways each, back to the start, and a way out",
         {{{{1, 2}}, {{3, 4}}, {{3, 4}}, {{0, 5}}, {{0, 5}}, {{6}, {0}}, {}}, {6}},
         {0, 0, 0, 0, 0, 0, -1},
         "------x"},
    };
    return all;
}

Subject make_subject(const Case& one) {
    Rules rules(one.task);
    for (std::size_t s = 0; s < rules.size(); ++s) {
        Rules::State& state = rules.states[s];
        while (one.decisions[s] >= 0 && state.offers.at(state.decision).action != one.decisions[s])
            ++state.decision;
    }
    return {one.task, rules, Truth(rules)};
}

// Whether brute force, by fixed points and by definition, says what the case says.
bool is_as_written(const Case& one, const Subject& subject) {
    if (std::strlen(one.truth) != subject.rules.size()) return false;
    const ByDefinition definition(subject.rules);
    bool is_same = definition.safe() == subject.truth.safe &&
                   definition.deviations() == subject.truth.deviations;
    for (std::size_t s = 0; s < subject.rules.size(); ++s) {
        const bool has_number = one.truth[s] != '-' && one.truth[s] != 'x';
        const std::uint32_t number = has_number ? one.truth[s] - '0' : Truth::kNever;
        is_same &= subject.truth.deviations[s] == number;
        is_same &= has(subject.truth.safe, s) == (one.truth[s] != 'x');
    }
    return is_same;
}

std::vector<OracleOptions> all_oracles(const Policy& policy) {
    std::vector<OracleOptions> all;
    for (const char* name : kOracles) all.push_back({name, {Order::app, 1, &policy}, {}});
    for (Order order : {Order::learn, Order::rand}) all.push_back({"ipi", {order, 1, &policy}, {}});
    for (const char* name : kOraclesWithRadius) {
        for (std::uint64_t radius = 0; radius <= Truth::kMaxRadius; ++radius)
            all.push_back({name, {Order::app, 1, &policy}, radius});
    }
    all.push_back({"deviations", {Order::app, 0, &policy}, {}});
    return all;
}

// A budget that Ctrl-C ends at once.
Budget interrupted_budget() {
    static const Budget budget = [] {
        Budget begun(1e9, ~0ULL, ~0ULL, [](const Progress&) { return false; });
        begun.look_always();
        std::this_thread::sleep_for(std::chrono::milliseconds(110));
        return begun;
    }();
    return budget;
}

class NamedCase {
public:
    NamedCase(const Case& one, Tally& tally)
        : subjects_{make_subject(one)}, policy_(table_policy(subjects_)), tally_(tally) {
        ++tally.tasks;
        if (is_as_written(one, subjects_[0])) return;
        std::fprintf(stderr, "%s: brute force says otherwise\n", one.name);
        ++tally.broken_promises;
    }

    void run() {
        for (const OracleOptions& options : all_oracles(policy_)) {
            for (std::uint32_t state = 0; state < size(); ++state) {
                ask_beginning_with(state, options);
                disturb(state, options);
            }
        }
    }

private:
    std::uint32_t size() const { return static_cast<std::uint32_t>(subjects_[0].task.size()); }

    void ask_beginning_with(std::uint32_t first, const OracleOptions& options) {
        Interview interview(subjects_[0].task, subjects_, options, tally_);
        for (std::uint32_t i = 0; i < size(); ++i) interview.ask({0, (first + i) % size()});
        for (std::uint32_t i = 0; i < size(); ++i) {
            interview.ask_again({0, i});
            interview.interrupt_certificate({0, i}, i);
        }
    }

    // A time-out must not be taken for an answer, by this question or another.
    void disturb(std::uint32_t state, const OracleOptions& options) {
        constexpr std::uint32_t kMost = 16;
        const Question question{0, state};
        const auto interrupt = [&](const Budget& budget, StopReason reason) {
            disturb_and_ask(question, options, [&](Interview& interview) {
                interview.interrupt(question, budget, reason);
            });
        };
        for (std::uint32_t amount = 0; amount < kMost; ++amount) {
            interrupt(Interview::stopping_after(amount), StopReason::seconds);
            disturb_and_ask(question, options, [&](Interview& interview) {
                interview.break_down(question, amount + 1);
            });
        }
        for (std::uint64_t states = 0; states < size(); ++states)
            interrupt({1e9, ~0ULL, states, {}}, StopReason::states);
        interrupt({1e9, 0, ~0ULL, {}}, StopReason::memory);
        interrupt(interrupted_budget(), StopReason::interrupted);
    }

    void disturb_and_ask(const Question& question, const OracleOptions& options, auto disturb) {
        for (std::uint32_t other = 0; other < size(); ++other) {
            ++tally_.disturbed;
            Interview interview(subjects_[0].task, subjects_, options, tally_);
            disturb(interview);
            interview.ask({0, other});
            interview.ask(question);
        }
    }

    std::vector<Subject> subjects_;
    TablePolicy policy_;
    Tally& tally_;
};

// Whether no such oracle can be made.
bool is_refused(const OracleOptions& options) {
    const ExplicitTask task({{{0}, {1}}, {}}, {1});
    try {
        TaskOracle oracle(task, options);
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

bool refuses_what_it_cannot_do() {
    FirstPolicy policy;
    bool is_fine = is_refused({"unheard_of", {}, {}}) && is_refused({"deviations", {}, {}});
    for (const char* name : kOracles) {
        const bool has_radius = std::count(std::begin(kOraclesWithRadius),
                                           std::end(kOraclesWithRadius), std::string(name)) > 0;
        is_fine &= is_refused({name, {}, 1});
        is_fine &= is_refused({name, {Order::learn, 0, nullptr}, {}});
        is_fine &= is_refused({name, {Order::app, 0, &policy}, 1}) != has_radius;
        is_fine &= !is_refused({name, {Order::app, 0, &policy}, {}});
    }
    return is_fine;
}

// Decides wrongly so many times, whoever asks, and then as the table says. For one thread.
class LatePolicy : public Policy {
public:
    LatePolicy(TablePolicy right, std::uint32_t mistakes)
        : right_(std::move(right)), mistakes_(mistakes) {}

    std::unique_ptr<Decider> decider() const override {
        return std::make_unique<LateDecider>(right_.decider(), mistakes_);
    }

private:
    class LateDecider : public Decider {
    public:
        LateDecider(std::unique_ptr<Decider> right, std::uint32_t& mistakes)
            : right_(std::move(right)), mistakes_(mistakes) {}

        ActionId decide(const Word* state, std::size_t words,
                        std::span<const ActionId> applicable) override {
            if (mistakes_ == 0) return right_->decide(state, words, applicable);
            --mistakes_;
            return ActionId{99};
        }

    private:
        std::unique_ptr<Decider> right_;
        std::uint32_t& mistakes_;
    };

    TablePolicy right_;
    mutable std::uint32_t mistakes_;
};

// A decision that is not applicable is an error, whoever asks for it, and leaves nothing behind.
bool survives_wrong_decisions(Tally& tally) {
    bool is_fine = true;
    for (const Case& one : cases()) {
        const std::vector<Subject> subjects{make_subject(one)};
        FirstPolicy any;
        for (OracleOptions options : all_oracles(any)) {
            LatePolicy policy(table_policy(subjects), 2);
            options.ordering.policy = &policy;
            Interview interview(subjects[0].task, subjects, options, tally);
            for (std::uint32_t i = 0; i < 2; ++i) {
                try {
                    interview.ask({0, 0});
                } catch (const PolicyError& error) {
                    is_fine &= error.action == 99;
                }
            }
            interview.ask({0, 0});
        }
    }
    return is_fine;
}

bool run_special(const char* name, Tally& tally) {
    ++tally.tasks;
    if (std::strcmp(name, "what an oracle cannot do is refused") == 0)
        return refuses_what_it_cannot_do();
    if (std::strcmp(name, "a wrong decision is an error and leaves nothing behind") == 0)
        return survives_wrong_decisions(tally);
    --tally.tasks;
    return true;
}

}  // namespace

}  // namespace surefoot::tests

int main(int count, char** arguments) {
    using namespace surefoot::tests;
    Tally tally;
    for (const char* name : {"what an oracle cannot do is refused",
                             "a wrong decision is an error and leaves nothing behind"}) {
        if (count > 1 && std::strcmp(arguments[1], name) != 0) continue;
        if (!run_special(name, tally)) ++tally.broken_promises;
    }
    for (const Case& one : cases()) {
        if (count > 1 && std::strcmp(arguments[1], one.name) != 0) continue;
        const bool was_fine = tally.is_fine();
        NamedCase(one, tally).run();
        if (was_fine && !tally.is_fine()) std::fprintf(stderr, "in: %s\n", one.name);
    }
    std::printf("%s\n", tally.to_json().c_str());
    return tally.tasks > 0 && tally.is_fine() ? 0 : 1;
}
