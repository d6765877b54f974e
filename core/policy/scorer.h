/*
  What gives every action a score.

  Scorer maps inputs to scores, one per output; it knows neither states nor actions. It is immutable
  and may be used by many threads; each brings a ScorerMemory to compute in. The same inputs give
  the same bits on every machine (as far as the mathematical library does): sums have a fixed order.
*/
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace surefoot {

struct ScorerMemory {
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<std::uint32_t> numbers;
    std::vector<char> flags;
};

class Scorer {
public:
    virtual ~Scorer() = default;
    virtual std::size_t num_inputs() const = 0;
    virtual std::size_t num_outputs() const = 0;

    virtual void scores(const double* inputs, double* scores, ScorerMemory& memory) const = 0;
};

}  // namespace surefoot
