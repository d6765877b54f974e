/*
  What the bindings of oracles and of fault analysis share: who is using an oracle, and the names of
  verdicts.
*/
#pragma once

#include <stdexcept>

#include "bindings.h"
#include "oracle/task_oracle.h"

namespace surefoot {

inline const char* name_of(Verdict verdict) {
    static const char* const names[] = {"unknown", "safe", "unsafe"};
    return names[static_cast<int>(verdict)];
}

inline const nb::sig kVerdictWords(
    "def verdict(self) -> typing.Literal['unknown', 'safe', 'unsafe']");

// An oracle answers one question at a time, on one thread; its policy must not ask it.
class Busy {
public:
    explicit Busy(TaskOracle& oracle) : oracle_(oracle) {
        if (!oracle.begin_question()) throw std::runtime_error("the oracle is busy");
    }
    ~Busy() { oracle_.end_question(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    TaskOracle& oracle_;
};

}  // namespace surefoot
