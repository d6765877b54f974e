/*
  What a policy does in the states of a box.

  BoxSteps looks at one box at a time: which actions are applicable (surely, perhaps, not at all),
  which of them the policy may take somewhere in the box (candidates), and where these lead to
  (images). A box is decided if the policy takes the same action in all of its states. If it is not,
  split() says where to cut it. Single states are stepped as everywhere else.
*/
#pragma once

#include "policy/scored_policy.h"
#include "task/forced_task.h"
#include "verify/box_scores.h"
#include "verify/box_task.h"

namespace surefoot {

// Where an outcome leads from the part `source` of a box.
struct BoxImage {
    std::uint32_t edge;
    std::uint32_t outcome;
    Box source;
    Box image;
};

class BoxSteps {
public:
    BoxSteps(BoxTask& task, const ScoredPolicy& policy, BoxScores& scores);

    // Look at a box in which none but `edges` may be enabled, and which neither fails nor is all
    // goal. `raises`: conditions looked at before may be errors there.
    void look(const Box& box, std::span<const std::uint32_t> edges, bool raises = false);

    // Of the box at hand. An unsure box may be an error somewhere, or its decision is not known at
    // all; then images may be missing.
    bool is_unsure() const { return raises_ || may_be_undecided_; }
    bool has_goal() const { return is_goal_ != Truth::no; }
    bool is_decided() const;
    // Whether all candidates are surely applicable.
    bool is_applicable() const;
    // Whether nothing but silent actions is applicable.
    bool is_forced() const { return is_forced_; }
    const std::vector<ActionId>& candidates() const { return candidates_; }
    bool is_candidate(ActionId action) const;
    Truth status(ActionId action) const { return status_[index(action)]; }
    bool may_be_enabled(std::uint32_t edge) const;
    // Whether exact sums could decide otherwise somewhere in the (decided) box.
    bool could_differ();
    // Where the candidates lead to; false if an error of the model may happen on the way.
    bool find_images();
    const std::vector<BoxImage>& images() const { return images_; }
    // Where to split the box, which is more than one state.
    Cut split();

    // Put what follows a state that neither fails nor is a goal into outcomes(); return the
    // action, if there is one. Throws ModelError and PolicyError.
    std::optional<ActionId> decide(const Word* state);
    const WordBuffer& outcomes() const { return outcomes_.words; }
    StateKind kind(const Word* state) { return stepper_->kind(state); }

    // A cut of the widest variable.
    Cut split_anywhere(const Box& box) const;
    bool is_state(const Box& box) const;

private:
    void find_applicable();
    Truth has_outcome(const BoxEdge& edge, Truth is_enabled);
    bool leaves_nothing_out(std::uint32_t action);
    void find_candidates();
    void add_best(std::uint32_t sure);
    bool is_beaten(std::uint32_t action, std::uint32_t output);
    void add_best_of_all();
    bool add_images(std::size_t position);
    std::optional<Cut> split_by_scores();

    BoxTask& task_;
    const ScoredPolicy& policy_;
    std::unique_ptr<Decider> decider_;
    BoxScores& scores_;
    std::size_t num_variables_;
    std::uint32_t first_silent_;
    ForcedTask forced_task_;
    std::unique_ptr<Stepper> stepper_;

    const Box* box_ = nullptr;
    std::span<const std::uint32_t> edges_;
    Truth is_goal_ = Truth::no;
    std::vector<Truth> truths_;  // of the guards of edges_
    std::vector<Truth> status_;  // by action
    std::vector<ActionId> candidates_;
    std::vector<BoxImage> images_;
    bool raises_ = false;
    bool may_be_undecided_ = false;
    bool is_forced_ = false;
    bool is_alone_ = false;  // one action, which is taken without scores
    bool has_scores_ = false;
    std::vector<ActionId> applicable_;
    Expansion outcomes_;
};

}  // namespace surefoot
