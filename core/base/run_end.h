/*
  How a run ended: the same names for simulated, fuzzed and learned-from runs, here and in
  surefoot.records.RunEnd. That everything reachable was seen and none of it fails is a claim about
  a policy, not an end: such a run is cut, with a reason.
*/
#pragma once

#include <cstdint>

namespace surefoot {

enum class RunEnd : std::uint8_t {
    none,  // it goes on
    fail,
    goal,
    dead_end,
    cycle,
    inapplicable,
    cut,
};

inline const char* name_of(RunEnd end) {
    switch (end) {
        case RunEnd::none: return "";
        case RunEnd::fail: return "fail";
        case RunEnd::goal: return "goal";
        case RunEnd::dead_end: return "dead_end";
        case RunEnd::cycle: return "cycle";
        case RunEnd::inapplicable: return "inapplicable";
        case RunEnd::cut: return "cut";
    }
    return "";
}

}  // namespace surefoot
