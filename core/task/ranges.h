/*
  Which values an operation can have, given those of its operands.

  Guarantee: every value that a run computes lies within the range. Reals are computed at the end
  points just as a run computes them; rounding is monotone, so nothing needs to be widened. Cost: a
  few operations. Lazy operators are no exception: who asks what may raise an error looks at which
  operands are evaluated.
*/
#pragma once

#include "task/expression.h"

namespace surefoot {

Range integer_range(std::int64_t lo, std::int64_t hi);
Range real_range(double lo, double hi);

// Everything between the two.
Range hull(const Range& a, const Range& b, Type type);

// Of every operator but `variable` and `cell`. `operand_type` is the type of the first operand;
// those that are not there may be anything.
Range operation_range(const Node& node, Type operand_type, const Range& a, const Range& b,
                      const Range& c);

}  // namespace surefoot
