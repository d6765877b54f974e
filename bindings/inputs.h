/*
  How Python says what a policy is fed, and which action each of its outputs is.
*/
#pragma once

#include <tuple>
#include <vector>

#include "base/ids.h"
#include "policy/inputs.h"

namespace surefoot {

// (variable, constant, mean, scale); variable -1: the constant
using InputTuple = std::tuple<std::int64_t, double, double, double>;

inline std::vector<InputSpec> input_specs(const std::vector<InputTuple>& inputs) {
    std::vector<InputSpec> specs;
    for (const auto& [variable, constant, mean, scale] : inputs)
        specs.push_back({variable, constant, mean, scale});
    return specs;
}

inline std::vector<ActionId> action_ids(const std::vector<std::uint32_t>& numbers) {
    std::vector<ActionId> actions;
    for (std::uint32_t number : numbers) actions.push_back(ActionId{number});
    return actions;
}

}  // namespace surefoot
