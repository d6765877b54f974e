#include "search/environments.h"

#include <algorithm>
#include <stdexcept>

namespace surefoot {

namespace {

constexpr int kSilent = 100'000;  // silent actions in a row; a run that takes more ends nowhere
constexpr int kTries = 1000;      // to draw a start state in which there is something to decide

}  // namespace

Environments::Environments(const CompiledTask& task, Spec spec)
    : spec_(std::move(spec)),
      width_(task.words()),
      first_silent_(task.first_silent()),
      inputs_(task.layout(), spec_.inputs),
      stepper_(task.stepper()),
      output_of_(task.num_actions(), static_cast<std::uint32_t>(spec_.outputs.size())),
      steps_(spec_.count),
      results_(spec_.count) {
    if (spec_.starts.empty() || spec_.count == 0)
        throw std::invalid_argument("there is no start state, or nothing to begin there");
    for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
        if (index(spec_.outputs[i]) >= output_of_.size())
            throw std::invalid_argument("an output is no action");
        output_of_[index(spec_.outputs[i])] = static_cast<std::uint32_t>(i);
    }
    if (spec_.guidance != nullptr) {
        if (spec_.guidance->words() != width_)
            throw std::invalid_argument("the guidance is for other states");
        guide_.emplace(*spec_.guidance);
    }
    for (Rows* rows : {&now_, &next_}) {
        rows->states.resize(spec_.count * width_);
        rows->inputs.resize(spec_.count * inputs_.size());
        rows->masks.resize(spec_.count * spec_.outputs.size());
        rows->distances.resize(spec_.count);
    }
}

void Environments::reset(std::uint64_t seed) {
    random_.clear();
    for (std::size_t i = 0; i < spec_.count; ++i) random_.emplace_back(seed, i);
    try {
        for (std::size_t i = 0; i < spec_.count; ++i) begin(i);
    } catch (...) {
        random_.clear();
        throw;
    }
    next_ = now_;
    std::fill(results_.begin(), results_.end(), std::uint8_t{0});
}

void Environments::step(const std::int32_t* actions) {
    check_actions(actions);
    try {
        step_all(actions);
    } catch (...) {
        random_.clear();  // some runs have taken the step and some have not
        throw;
    }
}

void Environments::check_actions(const std::int32_t* actions) const {
    if (random_.empty()) throw std::invalid_argument("reset comes first");
    for (std::size_t i = 0; i < spec_.count; ++i) {
        const auto output = static_cast<std::size_t>(actions[i]);
        if (actions[i] < 0 || output >= spec_.outputs.size() ||
            !now_.masks[i * spec_.outputs.size() + output])
            throw std::invalid_argument("an action is not applicable");
    }
}

void Environments::step_all(const std::int32_t* actions) {
    for (std::size_t i = 0; i < spec_.count; ++i) {
        const RunEnd result = step_one(i, actions[i]);
        results_[i] = static_cast<std::uint8_t>(result);
        fill(next_, i, result != RunEnd::none && result != RunEnd::cut);
    }
    now_ = next_;
    for (std::size_t i = 0; i < spec_.count; ++i) {
        if (results_[i] != 0) begin(i);
    }
}

RunEnd Environments::step_one(std::size_t i, std::int32_t action) {
    std::copy_n(state(now_, i), width_, state(next_, i));
    take(i, spec_.outputs[static_cast<std::size_t>(action)], state(next_, i));
    return arrive(i, state(next_, i));
}

void Environments::begin(std::size_t i) {
    const std::uint64_t count = spec_.starts.size() / width_;
    for (int tried = 0; tried < kTries; ++tried) {
        const Word* const start = spec_.starts.data() + random_[i].below(count) * width_;
        std::copy_n(start, width_, state(now_, i));
        steps_[i] = 0;
        if (arrive(i, state(now_, i)) != RunEnd::none) continue;
        fill(now_, i, false);
        return;
    }
    throw std::invalid_argument("runs end where they begin");
}

// Take silent actions until there is something to decide, or nothing more to do.
RunEnd Environments::arrive(std::size_t i, Word* state) {
    for (int silent = 0;; ++silent) {
        const StateKind kind = stepper_->look(state, applicable_);
        if (kind != StateKind::open) return kind == StateKind::fail ? RunEnd::fail : RunEnd::goal;
        if (applicable_.empty()) return RunEnd::dead_end;
        const bool is_forced = index(applicable_.front()) >= first_silent_;
        if (steps_[i] >= spec_.max_steps && !is_forced) return RunEnd::cut;
        if (!is_forced) return RunEnd::none;
        if (silent == kSilent) return RunEnd::dead_end;
        take(i, applicable_[random_[i].below(applicable_.size())], state);
    }
}

void Environments::take(std::size_t i, ActionId action, Word* state) {
    stepper_->outcomes(state, action, expansion_);
    const std::uint64_t count = expansion_.words.size() / width_;
    if (count == 0) throw std::invalid_argument("an action is not applicable");
    const std::uint64_t drawn = count == 1 ? 0 : random_[i].below(count);
    std::copy_n(expansion_.words.data() + drawn * width_, width_, state);
    ++steps_[i];
}

// Write the row of run `i`, whose applicable actions are those just asked for.
void Environments::fill(Rows& rows, std::size_t i, bool is_over) {
    const Word* const at = state(rows, i);
    inputs_.read(at, rows.inputs.data() + i * inputs_.size());
    if (guide_) rows.distances[i] = guide_->distance(at);
    std::uint8_t* const mask = rows.masks.data() + i * spec_.outputs.size();
    std::fill_n(mask, spec_.outputs.size(), std::uint8_t{0});
    if (is_over) return;
    bool has_choice = false;
    for (ActionId action : applicable_) {
        const std::uint32_t output = output_of_[index(action)];
        if (output == spec_.outputs.size()) continue;
        mask[output] = 1;
        has_choice = true;
    }
    if (!has_choice) throw std::invalid_argument("no applicable action is an output");
}

}  // namespace surefoot
