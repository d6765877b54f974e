#include "task/guidance.h"

namespace surefoot {

Guidance::Guidance(const CompiledTask& task, const std::vector<Node>& nodes, NodeId root)
    : layout_(task.layout()) {
    Pool pool(layout_);
    for (const Node& node : nodes) pool.add(node);
    if (root >= pool.size() || pool[root].type != Type::real)
        throw std::invalid_argument("no such real expression");
    const auto variables = pool.variables_of(root);
    if (!variables.empty() && variables.back() >= layout_.num_variables())
        throw std::invalid_argument("a distance reads a scratch variable");
    program_ = Program(pool, std::span(&root, 1), constants_);
}

Guide::Guide(const Guidance& guidance)
    : guidance_(guidance), registers_(guidance.constants_, guidance.program_.num_registers()) {}

double Guide::distance(const Word* state) {
    const Program& program = guidance_.program_;
    const EvalError error = program.run(state, nullptr, registers_.base());
    if (error != EvalError::none)
        throw ModelError(name_of(error), -1, -1, {}, {state, state + guidance_.words()});
    return as_real(registers_.base()[program.result(0)]);
}

}  // namespace surefoot
