/*
  Compares every oracle with the truth on random small tasks.

      oracles_million [--seed S] [--begin A] [--end B] [--together T]
                      [--break verdict|certificate|deviations]

  Makes the tasks A .. B - 1 of a seed; which task has which number depends on the seed and on T
  only, so that a range can be split over processes (at multiples of T). T tasks at a time stand
  side by side and share their oracles: making an oracle takes longer than asking it about six
  states.

  Prints what was counted as a JSON object; exits with 1 if anything was wrong, after naming the
  first few on stderr.
*/
#include <malloc.h>

#include <cstdlib>

#include "interview.h"

namespace surefoot::tests {

namespace {

struct Options {
    std::uint64_t seed = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 1000;
    std::uint64_t together = 50;
    Broken broken = Broken::nothing;
};

// What tasks that stand side by side have in common.
struct Shape {
    std::size_t actions;
    std::size_t silent;
};

// None to four actions, or many; in a quarter of the cases some of them are silent.
Shape random_shape(Random& random) {
    constexpr std::uint64_t kFew = 4;
    std::size_t actions = 1 + random.below(kFew);
    const std::uint64_t chance = random.below(16UL);
    if (chance == 0) actions = 0;
    if (chance == 1) actions = kFew + 1 + random.below(8UL);
    const bool has_silent = actions > 0 && random.below(4UL) == 0;
    return {actions, has_silent ? 1 + random.below(actions) : 0};
}

// One to six states; loops, dead ends, states that are goal and fail.
ExplicitTask random_task(const Shape& shape, Random& random) {
    constexpr std::size_t kMaxStates = 6;
    ExplicitTask task;
    const std::size_t states = 1 + random.below(kMaxStates);
    const std::uint64_t applicable_in_8 = 4 + random.below(5UL);
    const std::uint64_t fail_in_16 = 1 + random.below(shape.actions > 4 ? 10UL : 5UL);
    task.num_silent = shape.silent;
    task.table.assign(states, std::vector<Outcomes>(shape.actions));
    for (std::size_t s = 0; s < states; ++s) {
        task.fail.push_back(random.below(16UL) < fail_in_16);
        task.goal.push_back(random.below(8UL) == 0);
        for (Outcomes& outcomes : task.table[s]) {
            if (random.below(8UL) >= applicable_in_8) continue;
            const std::size_t draws = 1 + random.below(3UL);
            for (std::size_t i = 0; i < draws; ++i) {
                const auto outcome = static_cast<std::uint32_t>(random.below(states));
                if (std::find(outcomes.begin(), outcomes.end(), outcome) == outcomes.end())
                    outcomes.push_back(outcome);
            }
        }
    }
    return task;
}

void decide_at_random(Rules& rules, Random& random) {
    for (Rules::State& state : rules.states) {
        if (!state.is_terminal) state.decision = random.below(state.offers.size());
    }
}

class Examination {
public:
    Examination(const Options& options, Tally& tally) : options_(options), tally_(tally) {}

    // Tasks `begin` .. end - 1 side by side.
    void examine(std::uint64_t begin, std::uint64_t end) {
        Random random(options_.seed, begin);
        make_subjects(end - begin, random);
        std::vector<const ExplicitTask*> tasks;
        for (const Subject& subject : subjects_) tasks.push_back(&subject.task);
        const SideBySide task(tasks);
        TablePolicy policy = table_policy(subjects_);
        const auto any_order = [&] { return kOrders[random.below(3UL)]; };
        const auto ask_about = [&](const char* name, Order order,
                                   std::optional<std::uint64_t> radius) {
            ask(task, {name, {order, random.below(100UL), &policy}, radius}, random);
        };
        for (const char* name : kOracles) {
            if (std::string(name) != "ipi") ask_about(name, any_order(), {});
        }
        for (Order order : kOrders) ask_about("ipi", order, {});
        for (const char* name : kOraclesWithRadius)
            ask_about(name, any_order(), random.below(Truth::kMaxRadius + 1));
        ask_about("deviations", Order::learn, {});
    }

private:
    void make_subjects(std::uint64_t count, Random& random) {
        const Shape shape = random_shape(random);
        subjects_.clear();
        questions_.clear();
        for (std::uint32_t part = 0; part < count; ++part) {
            ExplicitTask task = random_task(shape, random);
            task.part = part;
            Rules rules(task);
            decide_at_random(rules, random);
            const Truth truth(rules);
            compare_with_definition(task, rules, truth, random);
            for (std::uint32_t s = 0; s < task.size(); ++s) questions_.push_back({part, s});
            subjects_.push_back({std::move(task), std::move(rules), truth});
            ++tally_.tasks;
        }
    }

    // The truth is computed in two ways, which must agree, and on a part of the tasks in a third.
    void compare_with_definition(const ExplicitTask& task, const Rules& rules, const Truth& truth,
                                 Random& random) {
        constexpr std::uint64_t kManyPolicies = 300;
        bool agrees = true;
        for (std::size_t s = 0; s < rules.size(); ++s) {
            for (std::uint64_t radius = 0; radius <= Truth::kMaxRadius; ++radius)
                agrees &= truth.is_safe(s, radius) == (truth.deviations[s] <= radius);
        }
        if (random.below(64UL) == 0 && ByDefinition::num_policies(rules) <= kManyPolicies) {
            const ByDefinition definition(rules);
            agrees &= definition.safe() == truth.safe;
            agrees &= definition.deviations() == truth.deviations;
        }
        if (agrees) return;
        std::fprintf(stderr, "the truth is not sure: %s\n", task.text().c_str());
        ++tally_.broken_promises;
    }

    void ask(const Task& task, const OracleOptions& options, Random& random) {
        for (std::size_t i = questions_.size(); i > 1; --i)
            std::swap(questions_[i - 1], questions_[random.below(i)]);
        const std::uint64_t disturbed_in = random.below(4UL) == 0 ? 4 : 0;
        Interview interview(task, subjects_, options, tally_, options_.broken);
        interview.repeats_in = 8;
        interview.ask_all(questions_, random, disturbed_in);
    }

    const Options& options_;
    Tally& tally_;
    std::vector<Subject> subjects_;
    std::vector<Question> questions_;
};

bool read(const std::string& name, const std::string& value, Options& options) {
    const std::uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--seed") {
        options.seed = number;
    } else if (name == "--begin") {
        options.begin = number;
    } else if (name == "--end") {
        options.end = number;
    } else if (name == "--together" && number > 0) {
        options.together = number;
    } else if (name == "--break" && value == "verdict") {
        options.broken = Broken::verdict;
    } else if (name == "--break" && value == "certificate") {
        options.broken = Broken::certificate;
    } else if (name == "--break" && value == "deviations") {
        options.broken = Broken::deviations;
    } else {
        return false;
    }
    return true;
}

}  // namespace

}  // namespace surefoot::tests

int main(int count, char** arguments) {
    using namespace surefoot::tests;
    Options options;
    for (int i = 1; i < count; i += 2) {
        if (i + 1 < count && read(arguments[i], arguments[i + 1], options)) continue;
        std::fprintf(stderr, "unknown option %s\n", arguments[i]);
        return 2;
    }
    // Millions of oracles and certificates come and go: give no memory back in between.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 1 << 26);
    mallopt(M_MXFAST, 0);
    Tally tally;
    Examination examination(options, tally);
    for (std::uint64_t task = options.begin; task < options.end; task += options.together)
        examination.examine(task, std::min(task + options.together, options.end));
    std::printf("%s\n", tally.to_json().c_str());
    return tally.is_fine() ? 0 : 1;
}
