#include "task/start_sampler.h"

namespace surefoot {

StartEnumerator::Sample StartSampler::sample(std::size_t count, std::uint64_t max_tries,
                                             Random& random, Budget& budget) {
    if (!starts_.is_finite()) return starts_.sample_by_rejection(count, max_tries, random, budget);
    StartEnumerator::Sample sample;
    const StartDiagram* const counted = diagram(budget, sample.stopped);
    if (sample.stopped != StopReason::none) return sample;
    if (counted == nullptr) return starts_.sample_by_listing(count, random, budget);
    return counted->sample(count, random, budget);
}

std::optional<StartDiagram::Count> StartSampler::count(Budget& budget) {
    if (!starts_.is_finite()) return std::nullopt;
    StopReason stopped = StopReason::none;
    const StartDiagram* const counted = diagram(budget, stopped);
    if (counted == nullptr) return std::nullopt;
    return counted->total();
}

const StartDiagram* StartSampler::diagram(Budget& budget, StopReason& stopped) {
    const std::lock_guard<std::mutex> one_at_a_time(mutex_);
    if (!is_built_) {
        auto made = StartDiagram::make(starts_, budget, stopped);
        if (stopped != StopReason::none) return nullptr;
        if (made) diagram_.emplace(std::move(*made));
        is_built_ = true;
    }
    return diagram_ ? &*diagram_ : nullptr;
}

}  // namespace surefoot
