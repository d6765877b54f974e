/*
  A run of a policy that fails, as searches hand it out: packed states and the actions between them.
*/
#pragma once

#include <vector>

#include "base/ids.h"

namespace surefoot {

struct FailingRun {
    std::vector<Word> states;  // one after the other, one more than actions
    std::vector<ActionId> actions;
};

}  // namespace surefoot
