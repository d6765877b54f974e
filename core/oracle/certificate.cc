#include "oracle/certificate.h"

#include <stdexcept>

namespace surefoot {

namespace {

class Certifier {
public:
    Certifier(const Oracle& oracle, const View& view, Budget& budget)
        : oracle_(oracle),
          view_(view),
          budget_(budget),
          stepper_(view.task.stepper()),
          width_(view.task.words()),
          nodes_(width_) {}

    Certificate certify(const Word* root, std::optional<ActionId> first) {
        Known known = oracle_.known(root);
        if (known.verdict == Verdict::unknown) return {};
        if (first) known = {known.verdict, *first, known.rank, root};
        certificate_.claim = known.verdict;
        add(known);
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            const Word* const node = nodes_[StateId{i}];
            follow(node, known_[i].action);
            certificate_.stopped = nodes_.size() > budget_.max_states()
                                       ? StopReason::states
                                       : budget_.poll({nodes_.size(), i, 0, bytes(), 0});
            if (certificate_.stopped != StopReason::none) return certificate_;
        }
        write(root);
        return std::move(certificate_);
    }

private:
    bool is_safe() const { return certificate_.claim == Verdict::safe; }

    void add(const Known& known) {
        if (known.verdict != certificate_.claim)
            throw std::logic_error("an oracle's answer has no certificate");
        const bool is_terminal = is_safe() && known.action == Known::kNoAction;
        if (is_terminal || !nodes_.insert(known.state).is_new) return;
        known_.push_back(known);
    }

    // Add what the evidence about this node refers to.
    void follow(const Word* node, ActionId action) {
        if (is_safe()) {
            stepper_->outcomes(node, action, expansion_);
            for (const Choice& choice : expansion_.choices) {
                for (std::uint32_t i = choice.begin; i < choice.end; ++i) add(known(i));
            }
            return;
        }
        expansion_.clear();
        stepper_->expand(node, expansion_);
        for (const Choice& choice : expansion_.choices) add(least(choice));
    }

    Known known(std::uint32_t outcome) const {
        return oracle_.known(expansion_.words.data() + outcome * width_);
    }

    Known least(const Choice& choice) const {
        Known best;
        for (std::uint32_t i = choice.begin; i < choice.end; ++i) {
            const Known one = known(i);
            if (one.verdict != Verdict::unsafe) continue;
            if (best.verdict == Verdict::unknown || one.rank < best.rank) best = one;
        }
        return best;
    }

    // Nodes become states and entries; the root's state comes first. Without pairs nodes are
    // states.
    void write(const Word* root) {
        const std::size_t width = view_.pairs == nullptr ? width_ : width_ - 1;
        std::optional<StateStore> of_pairs;
        if (view_.pairs != nullptr) of_pairs.emplace(width);
        StateStore& states = of_pairs ? *of_pairs : nodes_;
        states.insert(root);
        for (std::uint32_t i = 0; i < known_.size(); ++i) {
            const Word* const node = nodes_[StateId{i}];
            const Known& known = known_[i];
            certificate_.entry_states.push_back(of_pairs ? index(states.insert(node).id) : i);
            if (view_.pairs != nullptr) certificate_.entries_left.push_back(node[width_ - 1]);
            certificate_.entry_values.push_back(is_safe() ? action(node, known.action)
                                                          : static_cast<std::int64_t>(known.rank));
        }
        for (std::uint32_t i = 0; i < states.size(); ++i) {
            const Word* const state = states[StateId{i}];
            certificate_.states.insert(certificate_.states.end(), state, state + width);
            if (view_.decisions != nullptr) certificate_.decisions.push_back(decision(state));
        }
    }

    std::int64_t action(const Word* node, ActionId action) {
        if (view_.pairs != nullptr) {
            if (action == RadiusTask::kPolicyAction) return decision(node);
            return static_cast<std::int64_t>(index(action)) - 1;
        }
        return view_.forced == action ? Certificate::kNothing : index(action);
    }

    // The policy's decision; kNothing where there is nothing to decide.
    std::int64_t decision(const Word* state) {
        if (!decider_) decider_ = view_.decisions->task().stepper();
        if (decider_->kind(state) != StateKind::open) return Certificate::kNothing;
        decider_->applicable(state, applicable_);
        if (applicable_.empty()) return Certificate::kNothing;
        const ActionId action = view_.decisions->decision(state, applicable_);
        return view_.decisions->is_forced(action) ? Certificate::kNothing : index(action);
    }

    std::uint64_t bytes() const { return nodes_.peak_bytes() + known_.capacity() * sizeof(Known); }

    const Oracle& oracle_;
    const View& view_;
    Budget& budget_;
    std::unique_ptr<Stepper> stepper_;
    std::unique_ptr<Stepper> decider_;
    std::size_t width_;
    StateStore nodes_;
    std::vector<Known> known_;  // by node
    Expansion expansion_;
    std::vector<ActionId> applicable_;
    Certificate certificate_;
};

}  // namespace

Certificate certify(const Oracle& oracle, const View& view, const Word* root, Budget& budget,
                    std::optional<ActionId> first) {
    return Certifier(oracle, view, budget).certify(root, first);
}

}  // namespace surefoot
