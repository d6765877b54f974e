#include "task/expression.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "task/ranges.h"

namespace surefoot {

int operand_count(Op op) {
    switch (op) {
        case Op::constant:
        case Op::variable:
        case Op::raise: return 0;
        case Op::cell:
        case Op::to_real:
        case Op::logical_not:
        case Op::negate:
        case Op::absolute:
        case Op::floor:
        case Op::ceil:
        case Op::truncate:
        case Op::sign: return 1;
        case Op::ite: return 3;
        default: return 2;
    }
}

Op mirrored(Op op) {
    switch (op) {
        case Op::less: return Op::greater;
        case Op::less_equal: return Op::greater_equal;
        case Op::greater: return Op::less;
        case Op::greater_equal: return Op::less_equal;
        default: return op;
    }
}

NodeId Pool::add(const Node& node) {
    check(node);
    Range range = range_of(node);
    range.raises = range.raises_here;
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int i = 0; i < operand_count(node.op); ++i) range.raises |= ranges_[operands[i]].raises;
    if (node.op == Op::guarded) range.raises = false;
    nodes_.push_back(node);
    ranges_.push_back(range);
    return static_cast<NodeId>(nodes_.size() - 1);
}

void Pool::check(const Node& node) const {
    const NodeId operands[] = {node.a, node.b, node.c};
    for (int i = 0; i < operand_count(node.op); ++i) {
        if (operands[i] >= nodes_.size()) throw std::invalid_argument("operand after its user");
    }
    const std::size_t variables = layout_->num_all();
    if (node.op == Op::variable && node.a >= variables)
        throw std::invalid_argument("no such variable");
    if (node.op == Op::cell &&
        (node.c == 0 || node.b >= variables || node.c > variables - node.b)) {
        throw std::invalid_argument("no such array");
    }
    if (node.op == Op::guarded && nodes_[node.b].op != Op::constant)
        throw std::invalid_argument("fallback not constant");
    if (node.op > Op::guarded) throw std::invalid_argument("no such operator");
}

Range Pool::range_of(const Node& node) {
    const auto variable = [this](std::size_t v) {
        const VariableSpec& spec = layout_->variable(v);
        return spec.type == Type::real ? real_range(spec.real_lower, spec.real_upper)
                                       : integer_range(spec.lower, spec.upper);
    };
    const auto operand = [this](NodeId id) { return id == kNoNode ? Range{} : ranges_[id]; };
    switch (node.op) {
        case Op::variable: return variable(node.a);
        case Op::cell: {
            const auto [known, is_new] =
                cell_ranges_.try_emplace({node.b, node.c}, variable(node.b));
            for (std::uint32_t i = 1; is_new && i < node.c; ++i)
                known->second = hull(known->second, variable(node.b + i), node.type);
            Range range = known->second;
            const Range& at = ranges_[node.a];
            range.raises_here = at.lo < 0 || at.hi >= static_cast<std::int64_t>(node.c);
            return range;
        }
        case Op::constant:
        case Op::raise: return operation_range(node, node.type, {}, {}, {});
        default:
            return operation_range(node, nodes_[node.a].type, operand(node.a), operand(node.b),
                                   operand(node.c));
    }
}

std::vector<std::uint32_t> Pool::variables_of(NodeId root, std::size_t limit) const {
    std::vector<std::uint32_t> variables;
    std::vector<NodeId> open{root};
    std::vector<NodeId> seen;
    // Operands stand before their users, so taking the largest first meets every node once.
    while (!open.empty()) {
        std::pop_heap(open.begin(), open.end());
        const NodeId id = open.back();
        open.pop_back();
        if (!seen.empty() && seen.back() == id) continue;
        seen.push_back(id);
        const Node& node = nodes_[id];
        if (node.op == Op::variable) variables.push_back(node.a);
        if (node.op == Op::cell) {
            const std::size_t count = std::min<std::size_t>(node.c, limit + 1);
            for (std::uint32_t i = 0; i < count; ++i) variables.push_back(node.b + i);
        }
        const NodeId operands[] = {node.a, node.b, node.c};
        for (int i = 0; i < operand_count(node.op); ++i) {
            open.push_back(operands[i]);
            std::push_heap(open.begin(), open.end());
        }
    }
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    return variables;
}

std::vector<NodeId> Pool::conjuncts_of(NodeId root) const {
    std::vector<NodeId> conjuncts;
    std::vector<NodeId> open{root};
    std::unordered_set<NodeId> seen;
    while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        if (nodes_[id].op == Op::logical_and) {
            open.push_back(nodes_[id].b);
            open.push_back(nodes_[id].a);
        } else {
            conjuncts.push_back(id);
        }
    }
    return conjuncts;
}

}  // namespace surefoot
