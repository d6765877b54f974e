#include "oracle/task_oracle.h"

#include "oracle/ipi.h"
#include "oracle/lao_star.h"
#include "oracle/lazy_attractor.h"
#include "oracle/lrtdp.h"
#include "oracle/npi.h"
#include "oracle/propagate_unsafe.h"
#include "oracle/tarjan_safe.h"
#include "oracle/tarjan_safe_printed.h"
#include "oracle/value_iteration.h"

namespace surefoot {

namespace {

std::unique_ptr<Oracle> make(const Task& task, const OracleOptions& options) {
    const std::string& name = options.name;
    const Graph::Ordering& ordering = options.ordering;
    if (name == "lazy_attractor")
        return std::make_unique<LazyAttractor>(task, options.radius.has_value());
    if (name == "tarjan_safe") return std::make_unique<TarjanSafe>(task, ordering);
    if (name == "lrtdp") return std::make_unique<Lrtdp>(task, ordering);
    if (name == "lao_star") return std::make_unique<LaoStar>(task, ordering);
    if (name == "value_iteration") return std::make_unique<ValueIteration>(task, ordering);
    if (options.radius) throw std::invalid_argument("this oracle knows no radius");
    if (name == "ipi") return std::make_unique<Ipi>(task, ordering);
    if (name == "npi") return std::make_unique<Npi>(task, ordering);
    if (name == "tarjan_safe_printed") return std::make_unique<TarjanSafePrinted>(task, ordering);
    if (name == "propagate_unsafe") return std::make_unique<PropagateUnsafe>(task, ordering);
    throw std::invalid_argument("there is no such oracle");
}

}  // namespace

TaskOracle::TaskOracle(const Task& task, const OracleOptions& options)
    : task_(task), view_(&task), radius_(options.radius) {
    const Policy* const policy = options.ordering.policy;
    const bool is_about_deviations = options.name == "deviations";
    const bool needs_policy =
        options.radius || is_about_deviations || options.ordering.order == Order::learn;
    if (needs_policy && policy == nullptr) throw std::invalid_argument("this needs a policy");
    if (task.first_silent() < task.num_actions()) {
        forced_ = std::make_unique<ForcedTask>(task);
        view_ = forced_.get();
    }
    if (radius_ || is_about_deviations) {
        const auto forced = forced_ ? std::optional(forced_->forced()) : std::nullopt;
        pairs_ = std::make_unique<RadiusTask>(*view_, *policy, forced);
    }
    if (is_about_deviations) {
        auto deviations = std::make_unique<Deviations>(*view_, *policy);
        deviations_ = deviations.get();
        oracle_ = std::move(deviations);
        return;
    }
    OracleOptions seen = options;
    if (radius_) {
        view_ = pairs_.get();
        // Pairs begin with the policy's decision, and the policy knows nothing of pairs.
        if (seen.ordering.order == Order::learn) seen.ordering.order = Order::app;
    }
    oracle_ = make(*view_, seen);
}

const Word* TaskOracle::viewed(const Word* state, std::uint64_t spent) {
    if (!radius_) return state;
    if (spent > *radius_) throw std::invalid_argument("more differences are spent than there are");
    pair_.assign(state, state + view_->words() - 1);
    pair_.push_back(*radius_ - spent);
    return pair_.data();
}

// The action of pairs that stands for one of the task.
ActionId TaskOracle::viewed(const Word* state, ActionId action) const {
    if (!radius_) return action;
    std::vector<ActionId> applicable;
    pairs_->task().stepper()->applicable(state, applicable);
    if (pairs_->decision(state, applicable) == action) return RadiusTask::kPolicyAction;
    return ActionId{index(action) + 1};
}

Answer TaskOracle::decide(const Word* state, Budget& budget, std::uint64_t spent) {
    return oracle_->decide(viewed(state, spent), budget);
}

Certificate TaskOracle::certificate(const Word* state, Budget& budget,
                                    std::optional<ActionId> first) {
    View view{*view_, std::nullopt, radius_ ? pairs_.get() : nullptr, pairs_.get()};
    if (forced_) view.forced = forced_->forced();
    if (first) first = viewed(state, *first);
    return certify(*oracle_, view, viewed(state, 0), budget, first);
}

std::optional<std::uint32_t> TaskOracle::deviations(const Word* state) const {
    if (deviations_ == nullptr) throw std::invalid_argument("this oracle counts no deviations");
    const std::uint32_t number = deviations_->deviations(state);
    return number == Deviations::kNone ? std::nullopt : std::optional(number);
}

}  // namespace surefoot
