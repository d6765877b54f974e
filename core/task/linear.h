/*
  Integer expressions as linear sums: constant + sum of factor * variable.
*/
#pragma once

#include <map>
#include <optional>

#include "task/expression.h"

namespace surefoot {

struct LinearSum {
    std::int64_t constant = 0;
    std::map<std::uint32_t, std::int64_t> factors;  // by variable
};

// Read an integer expression as a linear sum over state variables, if it is one, visits at most
// `max_nodes` nodes and no number overflows.
std::optional<LinearSum> as_linear_sum(const Pool& pool, NodeId root, std::size_t max_nodes);

}  // namespace surefoot
