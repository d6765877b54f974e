#include "task/linear.h"

namespace surefoot {

namespace {

constexpr std::int64_t kFarFromOverflow = std::int64_t{1} << 62;

bool add_scaled(std::int64_t& to, std::int64_t factor, std::int64_t value) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(factor, value, &product) &&
           !__builtin_add_overflow(to, product, &to);
}

}  // namespace

std::optional<LinearSum> as_linear_sum(const Pool& pool, NodeId root, std::size_t max_nodes) {
    LinearSum sum;
    std::vector<std::pair<NodeId, std::int64_t>> open{{root, 1}};
    for (std::size_t visited = 0; !open.empty(); ++visited) {
        if (visited > max_nodes) return std::nullopt;
        const auto [id, factor] = open.back();
        open.pop_back();
        const Node& node = pool[id];
        if (node.type != Type::integer || factor < -kFarFromOverflow || factor > kFarFromOverflow)
            return std::nullopt;
        switch (node.op) {
            case Op::constant:
                if (!add_scaled(sum.constant, factor, node.bits)) return std::nullopt;
                break;
            case Op::variable:
                if (node.a >= pool.layout().num_variables()) return std::nullopt;
                if (!add_scaled(sum.factors[node.a], factor, 1)) return std::nullopt;
                break;
            case Op::negate: open.emplace_back(node.a, -factor); break;
            case Op::add:
            case Op::subtract:
                open.emplace_back(node.a, factor);
                open.emplace_back(node.b, node.op == Op::add ? factor : -factor);
                break;
            case Op::multiply: {
                const bool left_is_constant = pool[node.a].op == Op::constant;
                const NodeId by = left_is_constant ? node.a : node.b;
                std::int64_t product = 0;
                if (pool[by].op != Op::constant ||
                    __builtin_mul_overflow(factor, pool[by].bits, &product))
                    return std::nullopt;
                open.emplace_back(left_is_constant ? node.b : node.a, product);
                break;
            }
            default: return std::nullopt;
        }
    }
    return sum;
}

}  // namespace surefoot
