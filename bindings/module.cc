#include "bindings.h"
#include "policy/policy.h"

namespace surefoot {

PythonBudget::PythonBudget(double max_seconds, std::uint64_t max_bytes, std::uint64_t max_states,
                           nb::object progress)
    : progress_(std::move(progress)),
      budget_(max_seconds, max_bytes, max_states,
              [this](const Progress& now) { return tick(now); }) {}

bool PythonBudget::tick(const Progress& progress) {
    nb::gil_scoped_acquire hold;
    try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress_.is_none()) {
            progress_(progress.states, progress.expanded, progress.depth, progress.bytes,
                      progress.seconds);
        }
        return true;
    } catch (nb::python_error& error) {
        error_ = std::make_unique<nb::python_error>(std::move(error));
        return false;
    }
}

void PythonBudget::raise_pending() {
    if (error_) throw nb::python_error(std::move(*error_));
}

const char* name_of(StopReason reason) {
    switch (reason) {
        case StopReason::seconds: return "seconds";
        case StopReason::memory: return "memory";
        case StopReason::states: return "states";
        case StopReason::interrupted: return "interrupted";
        case StopReason::model_error: return "model-error";
        case StopReason::none: break;
    }
    return "";
}

NB_MODULE(_core, module) {
    module.doc() = "The engine of Surefoot. Private: use the surefoot package.";
    // Objects that are still referred to when the interpreter exits are no concern of the user.
    nb::set_leak_warnings(false);
    static PyObject* const model_error =
        PyErr_NewException("surefoot._core.ModelError", PyExc_Exception, nullptr);
    module.attr("ModelError") = nb::handle(model_error);
    static PyObject* const policy_error =
        PyErr_NewException("surefoot._core.PolicyError", PyExc_Exception, nullptr);
    module.attr("PolicyError") = nb::handle(policy_error);
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const ModelError& error) {
            const nb::object details =
                nb::make_tuple(error.what(), error.edge, error.variable, error.value,
                               to_bytes(error.state.data(), error.state.size()));
            PyErr_SetObject(model_error, details.ptr());
        } catch (const PolicyError& error) {
            const nb::object details = nb::make_tuple(
                error.what(), error.action, to_bytes(error.state.data(), error.state.size()));
            PyErr_SetObject(policy_error, details.ptr());
        }
    });
    bind_task(module);
    bind_python_task(module);
    bind_policy(module);
    bind_search(module);
    bind_environments(module);
    bind_oracle(module);
    bind_fuzz(module);
    bind_fault(module);
    bind_verify(module);
    bind_box(module);
    bind_network_bounds(module);
}

}  // namespace surefoot
