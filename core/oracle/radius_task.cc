#include "oracle/radius_task.h"

namespace surefoot {

namespace {

class RadiusStepper : public Stepper {
public:
    explicit RadiusStepper(const RadiusTask& task)
        : task_(task), stepper_(task.task().stepper()), width_(task.task().words()) {}

    StateKind kind(const Word* pair) override { return stepper_->kind(pair); }
    bool is_fail(const Word* pair) override { return stepper_->is_fail(pair); }

    void expand(const Word* pair, Expansion& expansion) override {
        inner_.clear();
        stepper_->expand(pair, inner_);
        expansion.kind = inner_.kind;
        if (inner_.choices.empty()) return;
        applicable_.clear();
        for (const Choice& choice : inner_.choices) applicable_.push_back(choice.action);
        const ActionId decision = task_.decision(pair, applicable_);
        for (const Choice& choice : inner_.choices) {
            if (choice.action == decision) add(choice, RadiusTask::kPolicyAction, pair, expansion);
        }
        if (remaining(pair) == 0) return;
        for (const Choice& choice : inner_.choices) {
            if (choice.action != decision) add(choice, other(choice.action), pair, expansion);
        }
    }

    void next_choice(const Word* pair, ActionId from, Expansion& expansion) override {
        expansion.clear();
        stepper_->applicable(pair, applicable_);
        if (applicable_.empty()) return;
        const ActionId decision = task_.decision(pair, applicable_);
        if (from == RadiusTask::kPolicyAction) {
            step(pair, decision, RadiusTask::kPolicyAction, expansion);
        } else if (remaining(pair) > 0) {
            for (ActionId action : applicable_) {
                if (action == decision || other(action) < from) continue;
                return step(pair, action, other(action), expansion);
            }
        }
    }

    void applicable(const Word* pair, std::vector<ActionId>& actions) override {
        actions.clear();
        stepper_->applicable(pair, applicable_);
        if (applicable_.empty()) return;
        const ActionId decision = task_.decision(pair, applicable_);
        actions.push_back(RadiusTask::kPolicyAction);
        if (remaining(pair) == 0) return;
        for (ActionId action : applicable_) {
            if (action != decision) actions.push_back(other(action));
        }
    }

    void outcomes(const Word* pair, ActionId action, Expansion& expansion) override {
        expansion.clear();
        if (action != RadiusTask::kPolicyAction) {
            return step(pair, ActionId{index(action) - 1}, action, expansion);
        }
        stepper_->applicable(pair, applicable_);
        if (!applicable_.empty()) step(pair, task_.decision(pair, applicable_), action, expansion);
    }

    double distance_to_fail(const Word* pair) override { return stepper_->distance_to_fail(pair); }

    std::vector<std::int64_t> enabled_edges(const Word* pair) override {
        return stepper_->enabled_edges(pair);
    }

private:
    static ActionId other(ActionId action) { return ActionId{index(action) + 1}; }
    Word remaining(const Word* pair) const { return pair[width_]; }

    void step(const Word* pair, ActionId action, ActionId shown, Expansion& expansion) {
        stepper_->outcomes(pair, action, inner_);
        if (!inner_.choices.empty()) add(inner_.choices.front(), shown, pair, expansion);
    }

    void add(const Choice& choice, ActionId shown, const Word* pair, Expansion& expansion) {
        const Word left = remaining(pair) - (shown == RadiusTask::kPolicyAction ? 0 : 1);
        const auto begin = static_cast<std::uint32_t>(expansion.words.size() / (width_ + 1));
        for (std::uint32_t i = choice.begin; i < choice.end; ++i) {
            Word* const outcome = expansion.words.extend(width_ + 1);
            std::copy_n(inner_.words.data() + i * width_, width_, outcome);
            outcome[width_] = left;
        }
        const std::uint32_t end = begin + (choice.end - choice.begin);
        expansion.choices.push_back({shown, begin, end});
    }

    const RadiusTask& task_;
    std::unique_ptr<Stepper> stepper_;
    std::size_t width_;
    Expansion inner_;
    std::vector<ActionId> applicable_;
};

}  // namespace

std::unique_ptr<Stepper> RadiusTask::stepper() const {
    return std::make_unique<RadiusStepper>(*this);
}

ActionId RadiusTask::decision(const Word* state, const std::vector<ActionId>& applicable) const {
    if (is_forced(applicable.front())) return applicable.front();
    if (const auto known = decided_.find(state)) return decisions_[index(*known)];
    const ActionId decision = checked_decision(*decider_, state, task_.words(), applicable);
    decided_.insert(state);
    decisions_.push_back(decision);
    return decision;
}

}  // namespace surefoot
