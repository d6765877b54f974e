/*
  Asks one oracle about the states of small tasks and compares with the truth.

  Interview asks in the order given, on one oracle object, and looks at everything that an answer
  promises: the verdict, the certificate (also of states that were not asked yet), that the reason
  of an unknown verdict is the one that was caused, that what was decided stays decided, and costs
  nothing when it is asked again. A question may be disturbed: it is first asked with a budget that
  ends early, or in the middle of an error of the model.

  A certificate proves more than its claim. Of states that another certificate of the same interview
  proved already, and of terminal ones, only one in `repeats_in` is asked for its own. So many are
  asked again in the end.

  Tally counts. Broken falsifies what the oracle said, to show that somebody would notice.
*/
#pragma once

#include <cstdio>
#include <string>

#include "base/random.h"
#include "certificate_check.h"
#include "oracle/task_oracle.h"

namespace surefoot::tests {

struct Tally {
    std::uint64_t tasks = 0;
    std::uint64_t interviews = 0;
    std::uint64_t questions = 0;
    std::uint64_t certificates = 0;
    std::uint64_t safe = 0;  // answers to questions that were not disturbed
    std::uint64_t unsafe = 0;
    std::uint64_t disturbed = 0;  // questions
    std::uint64_t unknown = 0;    // answers to them
    std::uint64_t errors = 0;     // of the model, among them
    std::uint64_t false_verdicts = 0;
    std::uint64_t rejected_certificates = 0;
    std::uint64_t broken_promises = 0;  // everything else

    bool is_fine() const { return false_verdicts + rejected_certificates + broken_promises == 0; }
    std::string to_json() const;
};

inline std::string Tally::to_json() const {
    std::string text;
    const auto add = [&](const char* name, std::uint64_t count) {
        text +=
            std::string(text.empty() ? "{" : ", ") + '"' + name + "\": " + std::to_string(count);
    };
    add("tasks", tasks);
    add("interviews", interviews);
    add("questions", questions);
    add("certificates", certificates);
    add("safe", safe);
    add("unsafe", unsafe);
    add("disturbed", disturbed);
    add("unknown", unknown);
    add("errors", errors);
    add("false_verdicts", false_verdicts);
    add("rejected_certificates", rejected_certificates);
    add("broken_promises", broken_promises);
    return text + "}";
}

enum class Broken { nothing, verdict, certificate, deviations };

// Part `i` of the task that the oracle runs on.
struct Subject {
    ExplicitTask task;
    Rules rules;
    Truth truth;
};

struct Question {
    std::uint32_t part;
    std::uint32_t state;
};

inline std::string describe(const OracleOptions& options) {
    static const char* const kNames[] = {"app", "learn", "rand"};
    std::string text = options.name + " order " + kNames[static_cast<int>(options.ordering.order)];
    text += " seed " + std::to_string(options.ordering.seed);
    if (options.radius) text += " radius " + std::to_string(*options.radius);
    return text;
}

// Decides only where there is something to decide: whoever asks elsewhere gets an error.
inline TablePolicy table_policy(const std::vector<Subject>& subjects) {
    std::vector<Word> states;
    std::vector<ActionId> actions;
    for (const Subject& subject : subjects) {
        for (std::size_t s = 0; s < subject.rules.size(); ++s) {
            const Rules::State& state = subject.rules.states[s];
            if (state.is_terminal || state.is_forced) continue;
            Word words[ExplicitTask::kWords];
            subject.task.pack(s, words);
            states.insert(states.end(), words, words + ExplicitTask::kWords);
            const auto action = state.offers[state.decision].action;
            actions.push_back(ActionId{static_cast<std::uint32_t>(action)});
        }
    }
    return TablePolicy(states, ExplicitTask::kWords, actions);
}

constexpr const char* kOracles[] = {"lazy_attractor",
                                    "ipi",
                                    "npi",
                                    "tarjan_safe",
                                    "lrtdp",
                                    "lao_star",
                                    "tarjan_safe_printed",
                                    "value_iteration",
                                    "propagate_unsafe"};
constexpr const char* kOraclesWithRadius[] = {"lazy_attractor", "tarjan_safe", "lrtdp", "lao_star",
                                              "value_iteration"};
constexpr Order kOrders[] = {Order::app, Order::learn, Order::rand};

class Interview {
public:
    std::uint64_t repeats_in = 1;

    Interview(const Task& task, const std::vector<Subject>& subjects, const OracleOptions& options,
              Tally& tally, Broken broken = Broken::nothing)
        : subjects_(subjects),
          options_(options),
          counts_deviations_(options.name == "deviations"),
          tally_(tally),
          broken_(broken),
          oracle_(task, options),
          proved_(subjects.size(), 0) {
        ++tally.interviews;
    }

    // Disturbs one question in `disturbed_in`, none if that is 0. Others may come between the
    // disturbed question and the next time it is asked.
    void ask_all(std::vector<Question> questions, Random& random, std::uint64_t disturbed_in) {
        for (std::size_t at = 0; at < questions.size(); ++at) {
            if (disturbed_in > 0 && random.below(disturbed_in) == 0) {
                disturb(questions[at], random);
                if (at > 0) ask_again(questions[random.below(at)]);
                std::swap(questions[at], questions[at + random.below(questions.size() - at)]);
                look_at_unasked(questions[at]);
            }
            ask(questions[at]);
        }
        for (std::size_t at = 0; at < questions.size(); at += repeats_in) ask_again(questions[at]);
    }

    // With all the budget it takes.
    void ask(const Question& question) {
        const Answer answer = decide(question, full_);
        if (answer.verdict != expected(question) || answer.stopped != StopReason::none)
            return complain(tally_.false_verdicts, question, "false verdict");
        ++(answer.verdict == Verdict::safe ? tally_.safe : tally_.unsafe);
        if (counts_deviations_) look_at_deviations(question);
        const bool is_terminal = rules(question).is_terminal;
        const bool has_certificate =
            !counts_deviations_ || answer.verdict == Verdict::unsafe || is_terminal;
        const bool tells_nothing =
            !has_certificate || is_terminal || has(proved_[question.part], question.state);
        if (tells_nothing && tally_.questions % repeats_in != 0) return;
        look_at_certificate(question, has_certificate ? answer.verdict : Verdict::unknown);
    }

    // Of what was decided: costs nothing.
    void ask_again(const Question& question) {
        const Answer answer = decide(question, none_);
        if (answer.verdict != expected(question))
            return complain(tally_.false_verdicts, question, "false or forgotten, asked again");
        if (answer.expanded + answer.pairs + answer.outcomes > 0)
            complain(tally_.broken_promises, question, "was expanded again");
    }

    // Ask with a budget that is expected to end for this reason, if it ends.
    void interrupt(const Question& question, Budget budget, StopReason reason) {
        const Answer answer = decide(question, budget);
        if (answer.verdict == Verdict::unknown) {
            ++tally_.unknown;
            if (answer.stopped != reason || reason == StopReason::none)
                complain(tally_.broken_promises, question, "unknown for another reason");
        } else if (answer.verdict != expected(question)) {
            complain(tally_.false_verdicts, question, "false verdict when interrupted");
        } else if (answer.stopped != StopReason::none) {
            complain(tally_.broken_promises, question, "a reason to stop, and a verdict");
        }
    }

    // Ask while the model breaks down after so many steps.
    void break_down(const Question& question, std::uint32_t steps) {
        const ExplicitTask& task = subject(question).task;
        task.steps_until_error = steps;
        try {
            interrupt(question, full_, StopReason::none);
        } catch (const ModelError&) {
            ++tally_.errors;
        }
        task.steps_until_error = 0;
    }

    // Ask for a certificate with a budget that ends early: none, or one that says so, or a whole
    // one.
    void interrupt_certificate(const Question& question, std::uint32_t calls) {
        Budget budget = stopping_after(calls);
        const Certificate part = certificate(question, budget);
        if (part.stopped != StopReason::none && part.stopped != StopReason::seconds)
            complain(tally_.broken_promises, question, "certificate stopped for another reason");
        if (part.stopped == StopReason::none && part.claim != Verdict::unknown)
            check_certificate(question, expected(question), part);
    }

    // A budget whose time is over and that notices after so many calls of poll().
    static Budget stopping_after(std::uint32_t calls) {
        constexpr std::uint32_t kCallsPerLook = 256;
        Budget budget(-1, ~std::uint64_t{0}, ~std::uint64_t{0}, {});
        for (std::uint32_t call = calls + 1; call < kCallsPerLook; ++call) budget.poll({});
        return budget;
    }

private:
    const Subject& subject(const Question& question) const { return subjects_[question.part]; }
    const Rules::State& rules(const Question& question) const {
        return subject(question).rules.states[question.state];
    }

    void complain(std::uint64_t& count, const Question& question, const char* what) const {
        constexpr std::uint64_t kMany = 5;
        if (++count > kMany) return;
        std::fprintf(stderr, "%s, state %u: %s\n  %s\n  decisions {", describe(options_).c_str(),
                     question.state, what, subject(question).task.text().c_str());
        for (const auto& state : subject(question).rules.states)
            std::fprintf(stderr, " %zu", state.decision);
        std::fprintf(stderr, " }\n");
    }

    Verdict expected(const Question& question) const {
        const Truth& truth = subject(question).truth;
        const bool is_safe = counts_deviations_ ? truth.deviations[question.state] != Truth::kNever
                                                : truth.is_safe(question.state, options_.radius);
        return is_safe ? Verdict::safe : Verdict::unsafe;
    }

    const Word* packed(const Question& question) {
        subject(question).task.pack(question.state, words_);
        return words_;
    }

    Answer decide(const Question& question, Budget& budget) {
        ++tally_.questions;
        Answer answer = oracle_.decide(packed(question), budget);
        if (broken_ == Broken::verdict && answer.verdict != Verdict::unknown)
            answer.verdict = answer.verdict == Verdict::safe ? Verdict::unsafe : Verdict::safe;
        return answer;
    }

    void look_at_deviations(const Question& question) {
        std::uint32_t number = oracle_.deviations(packed(question)).value_or(Truth::kNever);
        if (broken_ == Broken::deviations) ++number;
        if (number != subject(question).truth.deviations[question.state])
            complain(tally_.false_verdicts, question, "wrong number of deviations");
    }

    Certificate certificate(const Question& question, Budget& budget) {
        try {
            return oracle_.certificate(packed(question), budget);
        } catch (const std::logic_error& error) {
            complain(tally_.rejected_certificates, question, error.what());
            return {};
        }
    }

    void look_at_certificate(const Question& question, Verdict verdict) {
        Certificate found = certificate(question, full_);
        if (broken_ == Broken::certificate) falsify(found);
        if (found.claim == Verdict::unknown && verdict == Verdict::unknown) return;
        check_certificate(question, verdict, found);
    }

    void check_certificate(const Question& question, Verdict verdict, const Certificate& found) {
        ++tally_.certificates;
        const Claim claim{verdict, question.state, options_.radius, counts_deviations_};
        const Subject& subject = this->subject(question);
        const char* const problem = why_rejected(subject.task, subject.rules, claim, found);
        if (problem != nullptr) return complain(tally_.rejected_certificates, question, problem);
        remember(question.part, found);
    }

    static void falsify(Certificate& certificate) {
        if (!certificate.entry_states.empty()) {
            certificate.entry_states.pop_back();
            certificate.entry_values.pop_back();
            if (!certificate.entries_left.empty()) certificate.entries_left.pop_back();
        } else if (!certificate.states.empty()) {
            certificate.states.push_back(certificate.states.front());
        }
    }

    // Of whom the same is proved as of the state that was asked for.
    void remember(std::uint32_t part, const Certificate& certificate) {
        for (std::size_t i = 0; i < certificate.entry_states.size(); ++i) {
            const bool is_weaker = options_.radius && certificate.claim == Verdict::unsafe &&
                                   certificate.entries_left[i] < *options_.radius;
            const std::size_t at = certificate.entry_states[i] * ExplicitTask::kWords;
            if (!is_weaker) proved_[part] |= Bits{1} << certificate.states[at];
        }
    }

    // What was never asked may be known or not, but if it is then rightly.
    void look_at_unasked(const Question& question) {
        if (certificate(question, full_).claim == Verdict::unknown) return;
        look_at_certificate(question, expected(question));
    }

    void disturb(const Question& question, Random& random) {
        ++tally_.disturbed;
        const std::uint64_t how = random.below(4UL);
        const auto amount = static_cast<std::uint32_t>(random.below(8UL));
        const std::uint64_t bytes = oracle_.bytes();
        switch (how) {
            case 0: return interrupt(question, stopping_after(amount), StopReason::seconds);
            case 1: return interrupt(question, {1e9, bytes - 100, ~0ULL, {}}, StopReason::memory);
            case 2: return interrupt(question, {1e9, ~0ULL, amount / 2, {}}, StopReason::states);
            default: return break_down(question, 1 + amount);
        }
    }

    const std::vector<Subject>& subjects_;
    const OracleOptions& options_;
    bool counts_deviations_;
    Tally& tally_;
    Broken broken_;
    TaskOracle oracle_;
    Budget full_{1e9, ~0ULL, ~0ULL, {}};
    Budget none_{1e9, 0, 0, {}};  // enough for nothing but what is known
    std::vector<Bits> proved_;    // by part: states that a certificate proved something about
    Word words_[ExplicitTask::kWords] = {};
};

}  // namespace surefoot::tests
