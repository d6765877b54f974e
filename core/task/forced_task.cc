#include "task/forced_task.h"

#include <algorithm>

namespace surefoot {

namespace {

class ForcedStepper : public Stepper {
public:
    ForcedStepper(std::unique_ptr<Stepper> stepper, ActionId forced, std::size_t width)
        : stepper_(std::move(stepper)), forced_(forced), width_(width) {}

    StateKind kind(const Word* state) override { return stepper_->kind(state); }
    bool is_fail(const Word* state) override { return stepper_->is_fail(state); }

    void expand(const Word* state, Expansion& expansion) override {
        const std::size_t begin = expansion.choices.size();
        stepper_->expand(state, expansion);
        if (expansion.choices.size() > begin) merge(expansion, begin);
    }

    void next_choice(const Word* state, ActionId from, Expansion& expansion) override {
        stepper_->next_choice(state, from, expansion);
        if (expansion.choices.empty() || expansion.choices.front().action < forced_) return;
        // Silent actions alone are left. From 0 on that means that there is nothing else.
        expansion.clear();
        if (from == ActionId{0}) expand(state, expansion);
    }

    void applicable(const Word* state, std::vector<ActionId>& actions) override {
        stepper_->applicable(state, actions);
        if (actions.empty()) return;
        const bool is_forced = actions.front() >= forced_;
        actions.erase(std::lower_bound(actions.begin(), actions.end(), forced_), actions.end());
        if (is_forced) actions.push_back(forced_);
    }

    void outcomes(const Word* state, ActionId action, Expansion& expansion) override {
        if (action < forced_) return stepper_->outcomes(state, action, expansion);
        expansion.clear();
        expand(state, expansion);
    }

    // Every silent edge stays a choice of its own: the environment picks one.
    void expand_weighted(const Word* state, WeightedExpansion& expansion) override {
        stepper_->expand_weighted(state, expansion);
        auto& choices = expansion.choices;
        if (choices.empty()) return;
        if (choices.front().action >= forced_) {
            for (Choice& choice : choices) choice.action = forced_;
            return;
        }
        while (choices.back().action >= forced_) choices.pop_back();
        expansion.costs.resize(choices.size());
        expansion.weights.resize(choices.back().end);
        expansion.words.shrink(choices.back().end * width_);
    }

    double distance_to_fail(const Word* state) override {
        return stepper_->distance_to_fail(state);
    }

    std::vector<std::int64_t> enabled_edges(const Word* state) override {
        return stepper_->enabled_edges(state);
    }

private:
    // Silent choices come last: drop them behind others, make them one if they are alone.
    void merge(Expansion& expansion, std::size_t begin) {
        auto& choices = expansion.choices;
        if (choices[begin].action >= forced_) {
            choices[begin].action = forced_;
            choices.resize(begin + 1);
            remove_duplicates(expansion.words, choices[begin].begin * width_, width_);
            choices[begin].end = static_cast<std::uint32_t>(expansion.words.size() / width_);
            return;
        }
        while (choices.back().action >= forced_) choices.pop_back();
        expansion.words.shrink(choices.back().end * width_);
    }

    std::unique_ptr<Stepper> stepper_;
    ActionId forced_;
    std::size_t width_;
};

}  // namespace

std::unique_ptr<Stepper> ForcedTask::stepper() const {
    return std::make_unique<ForcedStepper>(task_.stepper(), forced(), words());
}

}  // namespace surefoot
