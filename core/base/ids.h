/*
  Names for numbers.

  StateId numbers the states of one StateStore, ActionId the actions of one task. They are enums so
  that one cannot be passed for the other. Word is the unit of packed states.
*/
#pragma once

#include <cstdint>

namespace surefoot {

using Word = std::uint64_t;

enum class StateId : std::uint32_t {};
enum class ActionId : std::uint32_t {};

constexpr StateId kNoState{0xffffffffU};

constexpr std::uint32_t index(StateId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t index(ActionId id) { return static_cast<std::uint32_t>(id); }

}  // namespace surefoot
