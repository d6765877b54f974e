/*
  What the binding files share: the module's parts and the way from a budget's tick to Python.
*/
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>

#include "base/budget.h"
#include "search/explore.h"
#include "task/task.h"

namespace surefoot {

namespace nb = nanobind;
using namespace nb::literals;

void bind_task(nb::module_& module);
void bind_python_task(nb::module_& module);
void bind_policy(nb::module_& module);
void bind_search(nb::module_& module);
void bind_environments(nb::module_& module);
void bind_fuzz(nb::module_& module);
void bind_fault(nb::module_& module);
void bind_oracle(nb::module_& module);
void bind_verify(nb::module_& module);
void bind_box(nb::module_& module);
void bind_network_bounds(nb::module_& module);

// A budget that listens to Ctrl-C and reports to `progress` (a callable with states, expanded,
// depth, bytes, seconds; or None). A Python error raised there stops the search; call
// raise_pending() when it has returned.
class PythonBudget {
public:
    PythonBudget(double max_seconds, std::uint64_t max_bytes, std::uint64_t max_states,
                 nb::object progress);
    Budget& budget() { return budget_; }
    void raise_pending();

private:
    bool tick(const Progress& progress);

    nb::object progress_;
    std::unique_ptr<nb::python_error> error_;
    Budget budget_;
};

const char* name_of(StopReason reason);

inline nb::bytes to_bytes(const Word* words, std::size_t count) {
    return nb::bytes(reinterpret_cast<const char*>(words), count * sizeof(Word));
}

inline nb::bytes to_bytes(const std::vector<Word>& words) {
    return to_bytes(words.data(), words.size());
}

// Properties that many results have: packed states as bytes, actions as numbers, and why something
// stopped before its time, by name.
template <typename Result>
nb::bytes states_of(const Result& result) {
    return to_bytes(result.states);
}

inline std::vector<std::uint32_t> numbers_of(const std::vector<ActionId>& actions) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(actions.size());
    for (ActionId action : actions) numbers.push_back(index(action));
    return numbers;
}

template <typename Result>
const char* stopped_of(const Result& result) {
    return name_of(result.stopped);
}
inline const nb::sig kStoppedWords(
    "def stopped(self) -> typing.Literal['', 'seconds', 'memory', 'states', 'interrupted', "
    "'model-error']");
inline constexpr const char* kStopped =
    "What ran out, or why it ended early; empty if nothing did.";

// The words of one or more packed states. Throws if they are not states of the task.
inline std::vector<Word> to_words(const Task& task, const nb::bytes& bytes) {
    const std::size_t width = task.words();
    const bool has_right_size = bytes.size() % (width * sizeof(Word)) == 0;
    std::vector<Word> words(has_right_size ? bytes.size() / sizeof(Word) : 0);
    if (!words.empty()) std::memcpy(words.data(), bytes.c_str(), words.size() * sizeof(Word));
    bool are_states = has_right_size;
    for (std::size_t at = 0; at < words.size(); at += width)
        are_states &= task.is_state(words.data() + at);
    if (!are_states) throw std::invalid_argument("not a packed state of this task");
    return words;
}

// The start states that are given, one after the other; `words` must stay.
inline StartSource listed(const std::vector<Word>& words, std::size_t width) {
    return [&words, width](const std::function<bool(const Word*)>& visit) {
        for (std::size_t at = 0; at < words.size(); at += width) {
            if (!visit(words.data() + at)) break;
        }
        return StopReason::none;
    };
}

// The words of exactly one packed state.
inline std::vector<Word> to_state(const Task& task, const nb::bytes& bytes) {
    if (bytes.size() != task.words() * sizeof(Word))
        throw std::invalid_argument("not a packed state of this task");
    return to_words(task, bytes);
}

}  // namespace surefoot
