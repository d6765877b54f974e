/*
  How Python says what a policy is fed, and which action each of its outputs is.
*/
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "policy/inputs.h"

namespace surefoot {

// (variable, constant, mean, scale, one_hot); variable -1: the constant; one_hot: pairs of a
// variable and the value that it must have
using InputTuple = std::tuple<std::int64_t, double, double, double,
                              std::vector<std::pair<std::uint32_t, std::int64_t>>>;

inline std::vector<InputSpec> input_specs(const std::vector<InputTuple>& inputs) {
    std::vector<InputSpec> specs;
    for (const auto& [variable, constant, mean, scale, one_hot] : inputs)
        specs.push_back({variable, constant, mean, scale, one_hot});
    return specs;
}

inline std::vector<ActionId> action_ids(const std::vector<std::uint32_t>& numbers) {
    std::vector<ActionId> actions;
    for (std::uint32_t number : numbers) actions.push_back(ActionId{number});
    return actions;
}

}  // namespace surefoot
