#include "fuzz/mix.h"

#include "base/hash.h"

namespace surefoot {

namespace {

constexpr double kFade = 0.8;     // how much of what was found still counts a round later
constexpr double kNewRun = 0.01;  // what a new run is worth beside a new state on a failing one

}  // namespace

Mix::Mix(std::size_t strategies, std::size_t width) : width_(width), records_(strategies) {}

std::vector<std::uint32_t> Mix::plan() const {
    const std::uint64_t in_turn = has_learned_ ? records_.size() : kRoundRuns;
    std::vector<std::uint32_t> plan;
    for (std::uint64_t i = 0; i < in_turn && i < kRoundRuns; ++i)
        plan.push_back(static_cast<std::uint32_t>(i % records_.size()));
    std::vector<double> given(records_.size(), 1);
    while (plan.size() < kRoundRuns) {  // to where a further run is due most (D'Hondt)
        std::size_t next = 0;
        for (std::size_t i = 1; i < records_.size(); ++i) {
            if (promise(i) * given[next] > promise(next) * given[i]) next = i;
        }
        given[next] += 1;
        plan.push_back(static_cast<std::uint32_t>(next));
    }
    return plan;
}

void Mix::learn(const std::vector<FuzzRun>& runs, std::uint64_t begin, std::uint64_t end) {
    has_learned_ = true;
    for (Record& record : records_) {
        record.found *= kFade;
        record.runs *= kFade;
    }
    for (std::uint64_t number = begin; number < end; ++number) {
        const FuzzRun& run = runs[number];
        if (!run.is_done) continue;
        records_[run.strategy].found += gain(run);
        records_[run.strategy].runs += 1;
    }
}

double Mix::gain(const FuzzRun& run) {
    double found = paths_.insert(run.path_hash).second ? kNewRun : 0;
    if (run.end != RunEnd::fail) return found;
    for (std::size_t at = 0; at < run.states.size(); at += width_)
        found += states_.insert(hash_words(run.states.data() + at, width_)).second ? 1 : 0;
    return found;
}

// What a run can be expected to find; more than nothing where nothing was found.
double Mix::promise(std::size_t strategy) const {
    const Record& record = records_[strategy];
    return (record.found + kNewRun) / (record.runs + 1);
}

}  // namespace surefoot
