#include "task/program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace surefoot {

enum class MachineOp : std::uint8_t {
    load,          // a: variable
    load_scratch,  // a: position
    load_cell,     // a: index register; b: first variable; c: length
    load_scratch_cell,
    copy,
    jump,
    jump_if_false,
    jump_if_true,
    int_to_real,
    logical_not,
    logical_and,
    logical_or,
    implies,
    select,
    int_equal,
    int_not_equal,
    int_less,
    int_less_equal,
    int_greater,
    int_greater_equal,
    real_equal,
    real_not_equal,
    real_less,
    real_less_equal,
    real_greater,
    real_greater_equal,
    int_add,
    int_subtract,
    int_multiply,
    int_negate,
    int_absolute,
    checked_add,
    checked_subtract,
    checked_multiply,
    checked_negate,
    checked_absolute,
    int_modulo,
    int_minimum,
    int_maximum,
    int_power,
    int_sign,
    real_add,
    real_subtract,
    real_multiply,
    real_divide,
    real_negate,
    real_absolute,
    real_minimum,
    real_maximum,
    real_power,
    real_logarithm,
    real_floor,
    real_ceil,
    real_truncate,
    real_sign,
    raise,          // a: the error
    begin_guarded,  // c: where to go on in case of an error
    end_guarded,
};

namespace {

constexpr std::size_t kMaxInstructions = 20'000'000;

MachineOp after(MachineOp first, Op op, Op first_op) {
    return static_cast<MachineOp>(static_cast<int>(first) + static_cast<int>(op) -
                                  static_cast<int>(first_op));
}

MachineOp integer_op(Op op, bool checked) {
    switch (op) {
        case Op::add: return checked ? MachineOp::checked_add : MachineOp::int_add;
        case Op::subtract: return checked ? MachineOp::checked_subtract : MachineOp::int_subtract;
        case Op::multiply: return checked ? MachineOp::checked_multiply : MachineOp::int_multiply;
        case Op::negate: return checked ? MachineOp::checked_negate : MachineOp::int_negate;
        case Op::absolute: return checked ? MachineOp::checked_absolute : MachineOp::int_absolute;
        case Op::modulo: return MachineOp::int_modulo;
        case Op::minimum: return MachineOp::int_minimum;
        case Op::maximum: return MachineOp::int_maximum;
        case Op::power: return MachineOp::int_power;
        case Op::sign: return MachineOp::int_sign;
        case Op::floor:
        case Op::ceil:
        case Op::truncate: return MachineOp::copy;
        default: throw std::invalid_argument("operator not defined on integers");
    }
}

MachineOp real_op(Op op) {
    switch (op) {
        case Op::add: return MachineOp::real_add;
        case Op::subtract: return MachineOp::real_subtract;
        case Op::multiply: return MachineOp::real_multiply;
        case Op::divide: return MachineOp::real_divide;
        case Op::negate: return MachineOp::real_negate;
        case Op::absolute: return MachineOp::real_absolute;
        case Op::minimum: return MachineOp::real_minimum;
        case Op::maximum: return MachineOp::real_maximum;
        case Op::power: return MachineOp::real_power;
        case Op::logarithm: return MachineOp::real_logarithm;
        case Op::floor: return MachineOp::real_floor;
        case Op::ceil: return MachineOp::real_ceil;
        case Op::truncate: return MachineOp::real_truncate;
        case Op::sign: return MachineOp::real_sign;
        default: throw std::invalid_argument("operator not defined on reals");
    }
}

MachineOp machine_op(const Pool& pool, NodeId id) {
    const Node& node = pool[id];
    switch (node.op) {
        case Op::to_real: return MachineOp::int_to_real;
        case Op::logical_not: return MachineOp::logical_not;
        case Op::logical_and: return MachineOp::logical_and;
        case Op::logical_or: return MachineOp::logical_or;
        case Op::implies: return MachineOp::implies;
        case Op::ite: return MachineOp::select;
        default: break;
    }
    const bool is_real = pool[node.a].type == Type::real;
    if (Op::equal <= node.op && node.op <= Op::greater_equal) {
        return after(is_real ? MachineOp::real_equal : MachineOp::int_equal, node.op, Op::equal);
    }
    return is_real ? real_op(node.op) : integer_op(node.op, pool.range(id).raises_here);
}

}  // namespace

std::int32_t Constants::register_of(std::int64_t bits) {
    const auto [place, is_new] =
        registers_.try_emplace(bits, -1 - static_cast<std::int32_t>(values_.size()));
    if (is_new) values_.push_back(bits);
    return place->second;
}

Registers::Registers(const Constants& constants, std::size_t count)
    : num_constants_(constants.values().size()), cells_(num_constants_ + count) {
    std::reverse_copy(constants.values().begin(), constants.values().end(), cells_.begin());
}

// Turns expressions into code with a stack of its own: expressions may be deeper than the thread's
// stack. A register stays valid only in the branch that computed it, so leaving a branch forgets
// what was computed there.
class Emitter {
public:
    Emitter(const Pool& pool, Constants& constants, Program& program)
        : pool_(pool), constants_(constants), program_(program) {}

    void emit(NodeId root) {
        items_.push_back({root, Stage::enter, 0, 0});
        while (!items_.empty()) {
            const Item item = items_.back();
            items_.pop_back();
            step(item);
            if (program_.code_.size() > kMaxInstructions)
                throw std::length_error("expression too large");
        }
        program_.results_.push_back(register_of(root));
        program_.num_registers_ = static_cast<std::size_t>(next_register_);
    }

private:
    enum class Stage : std::uint8_t {
        enter,
        operands_done,
        condition_done,
        first_done,
        second_done,
        guarded_done
    };

    struct Item {
        NodeId node;
        Stage stage;
        std::uint32_t jump;    // the instruction to patch
        std::size_t computed;  // how much was computed when the branch was entered
    };

    void step(const Item& item) {
        switch (item.stage) {
            case Stage::enter: return enter(item.node);
            case Stage::operands_done: return finish(item.node);
            case Stage::condition_done: return open_branch(item.node);
            case Stage::first_done: return close_first_branch(item);
            case Stage::second_done: return close_second_branch(item);
            case Stage::guarded_done: return close_guarded(item);
        }
    }

    bool is_lazy(NodeId id) const {
        const Node& node = pool_[id];
        switch (node.op) {
            case Op::logical_and:
            case Op::logical_or:
            case Op::implies: return pool_.range(node.b).raises;
            case Op::ite: return pool_.range(node.b).raises || pool_.range(node.c).raises;
            default: return false;
        }
    }

    void enter(NodeId id) {
        const Node& node = pool_[id];
        if (node.op == Op::constant || registers_.contains(id)) return;
        if (node.op == Op::guarded) {
            const std::uint32_t begin = append(MachineOp::begin_guarded, 0, 0, 0, 0);
            items_.push_back({id, Stage::guarded_done, begin, computed_.size()});
            items_.push_back({node.a, Stage::enter, 0, 0});
            return;
        }
        if (is_lazy(id)) {
            items_.push_back({id, Stage::condition_done, 0, 0});
            items_.push_back({node.a, Stage::enter, 0, 0});
            return;
        }
        items_.push_back({id, Stage::operands_done, 0, 0});
        const NodeId operands[] = {node.a, node.b, node.c};
        for (int i = operand_count(node.op); i-- > 0;) {
            items_.push_back({operands[i], Stage::enter, 0, 0});
        }
    }

    void finish(NodeId id) {
        if (registers_.contains(id)) return;
        const Node& node = pool_[id];
        const std::int32_t to = next_register_++;
        if (node.op == Op::variable) {
            emit_load(to, node);
        } else if (node.op == Op::cell) {
            emit_cell(to, node);
        } else if (node.op == Op::raise) {
            append(MachineOp::raise, to, static_cast<std::int32_t>(node.bits), 0, 0);
        } else {
            const int operands = operand_count(node.op);
            append(machine_op(pool_, id), to, register_of(node.a),
                   operands > 1 ? register_of(node.b) : 0, operands > 2 ? register_of(node.c) : 0);
        }
        remember(id, to);
    }

    void emit_load(std::int32_t to, const Node& node) {
        const std::size_t states = pool_.layout().num_variables();
        if (node.a < states) {
            append(MachineOp::load, to, static_cast<std::int32_t>(node.a), 0, 0);
        } else {
            append(MachineOp::load_scratch, to, static_cast<std::int32_t>(node.a - states), 0, 0);
        }
    }

    void emit_cell(std::int32_t to, const Node& node) {
        const std::size_t states = pool_.layout().num_variables();
        const bool is_scratch = node.b >= states;
        append(is_scratch ? MachineOp::load_scratch_cell : MachineOp::load_cell, to,
               register_of(node.a),
               static_cast<std::int32_t>(is_scratch ? node.b - states : node.b),
               static_cast<std::int32_t>(node.c));
    }

    // The condition (or left side) is there: jump over the first branch if it is not needed.
    void open_branch(NodeId id) {
        const Node& node = pool_[id];
        const std::int32_t condition = register_of(node.a);
        const std::int32_t to = next_register_++;
        targets_.push_back(to);
        if (node.op == Op::implies) {
            append(MachineOp::copy, to, constants_.register_of(1), 0, 0);
        } else if (node.op != Op::ite) {
            append(MachineOp::copy, to, condition, 0, 0);
        }
        const bool skips_if_true = node.op == Op::logical_or;
        const std::uint32_t jump = append(
            skips_if_true ? MachineOp::jump_if_true : MachineOp::jump_if_false, 0, condition, 0, 0);
        items_.push_back({id, Stage::first_done, jump, computed_.size()});
        items_.push_back({node.b, Stage::enter, 0, 0});
    }

    void close_first_branch(const Item& item) {
        const Node& node = pool_[item.node];
        append(MachineOp::copy, targets_.back(), register_of(node.b), 0, 0);
        forget_down_to(item.computed);
        if (node.op != Op::ite) {
            patch(item.jump);
            return close(item.node);
        }
        const std::uint32_t jump = append(MachineOp::jump, 0, 0, 0, 0);
        patch(item.jump);
        items_.push_back({item.node, Stage::second_done, jump, computed_.size()});
        items_.push_back({node.c, Stage::enter, 0, 0});
    }

    void close_second_branch(const Item& item) {
        append(MachineOp::copy, targets_.back(), register_of(pool_[item.node].c), 0, 0);
        forget_down_to(item.computed);
        patch(item.jump);
        close(item.node);
    }

    // An error leaves what was computed since begin_guarded half done: nothing of it is kept.
    void close_guarded(const Item& item) {
        const Node& node = pool_[item.node];
        const std::int32_t to = next_register_++;
        append(MachineOp::copy, to, register_of(node.a), 0, 0);
        append(MachineOp::end_guarded, 0, 0, 0, 0);
        const std::uint32_t jump = append(MachineOp::jump, 0, 0, 0, 0);
        patch(item.jump);
        append(MachineOp::copy, to, register_of(node.b), 0, 0);
        patch(jump);
        forget_down_to(item.computed);
        remember(item.node, to);
    }

    void close(NodeId id) {
        remember(id, targets_.back());
        targets_.pop_back();
    }

    std::uint32_t append(MachineOp op, std::int32_t to, std::int32_t a, std::int32_t b,
                         std::int32_t c) {
        program_.code_.push_back({op, to, a, b, c});
        return static_cast<std::uint32_t>(program_.code_.size() - 1);
    }

    void patch(std::uint32_t jump) {
        program_.code_[jump].c = static_cast<std::int32_t>(program_.code_.size());
    }

    void remember(NodeId id, std::int32_t at) {
        registers_[id] = at;
        computed_.push_back(id);
    }

    void forget_down_to(std::size_t size) {
        while (computed_.size() > size) {
            registers_.erase(computed_.back());
            computed_.pop_back();
        }
    }

    std::int32_t register_of(NodeId id) {
        if (pool_[id].op == Op::constant) return constants_.register_of(pool_[id].bits);
        return registers_.at(id);
    }

    const Pool& pool_;
    Constants& constants_;
    Program& program_;
    std::vector<Item> items_;
    std::vector<std::int32_t> targets_;  // of the branches that are open
    std::unordered_map<NodeId, std::int32_t> registers_;
    std::vector<NodeId> computed_;
    std::int32_t next_register_ = 0;
};

Program::Program(const Pool& pool, std::span<const NodeId> roots, Constants& constants)
    : layout_(&pool.layout()) {
    Emitter emitter(pool, constants, *this);
    for (NodeId root : roots) emitter.emit(root);
}

namespace {

EvalError integer_power(std::int64_t base, std::int64_t exponent, std::int64_t& result) {
    if (exponent < 0) return EvalError::negative_exponent;
    result = 1;
    while (exponent > 0) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result))
            return EvalError::overflow;
        exponent >>= 1;
        // The last squaring is not needed and must not overflow on its own account.
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return EvalError::overflow;
    }
    return EvalError::none;
}

EvalError modulo(std::int64_t a, std::int64_t b, std::int64_t& result) {
    if (b == 0) return EvalError::division_by_zero;
    result = b == -1 ? 0 : a % b;
    if (result != 0 && (result < 0) != (b < 0)) result += b;
    return EvalError::none;
}

EvalError logarithm(double a, double b, double& result) {
    if (!(a > 0) || !(b > 0)) return EvalError::bad_log;
    if (b == 1) return EvalError::division_by_zero;
    result = std::log(a) / std::log(b);
    return EvalError::none;
}

EvalError to_integer(double value, std::int64_t& result) {
    if (!(value >= -0x1.0p63 && value < 0x1.0p63)) return EvalError::overflow;
    result = static_cast<std::int64_t>(value);
    return EvalError::none;
}

}  // namespace

// One case per instruction; `continue` for those that cannot raise.
EvalError Program::run_from(Position& position, const Word* state, const std::int64_t* scratch,
                            std::int64_t* registers) const {
    EvalError error = EvalError::none;
    const Instruction* const code = code_.data();
    const auto size = static_cast<std::int32_t>(code_.size());
    for (std::int32_t at = position.at; at < size; ++at) {
        const Instruction& in = code[at];
        std::int64_t& to = registers[in.to];
        const auto a = [&] { return registers[in.a]; };
        const auto b = [&] { return registers[in.b]; };
        const auto ra = [&] { return as_real(registers[in.a]); };
        const auto rb = [&] { return as_real(registers[in.b]); };
        const auto put = [&](double value) {
            if (!std::isfinite(value)) error = EvalError::not_finite;
            to = as_bits(value);
        };
        switch (in.op) {
            case MachineOp::load:
                to = layout_->value(state, static_cast<std::size_t>(in.a));
                continue;
            case MachineOp::load_scratch: to = scratch[in.a]; continue;
            case MachineOp::load_cell:
            case MachineOp::load_scratch_cell: {
                const std::int64_t position = a();
                if (position < 0 || position >= in.c) return EvalError::index_out_of_bounds;
                to = in.op == MachineOp::load_cell
                         ? layout_->value(state, static_cast<std::size_t>(in.b + position))
                         : scratch[in.b + position];
                continue;
            }
            case MachineOp::copy: to = a(); continue;
            case MachineOp::jump: at = in.c - 1; continue;
            case MachineOp::jump_if_false:
                if (a() == 0) at = in.c - 1;
                continue;
            case MachineOp::jump_if_true:
                if (a() != 0) at = in.c - 1;
                continue;
            case MachineOp::int_to_real: to = as_bits(static_cast<double>(a())); continue;
            case MachineOp::logical_not: to = a() ^ 1; continue;
            case MachineOp::logical_and: to = a() & b(); continue;
            case MachineOp::logical_or: to = a() | b(); continue;
            case MachineOp::implies: to = (a() ^ 1) | b(); continue;
            case MachineOp::select: to = a() != 0 ? b() : registers[in.c]; continue;
            case MachineOp::int_equal: to = a() == b(); continue;
            case MachineOp::int_not_equal: to = a() != b(); continue;
            case MachineOp::int_less: to = a() < b(); continue;
            case MachineOp::int_less_equal: to = a() <= b(); continue;
            case MachineOp::int_greater: to = a() > b(); continue;
            case MachineOp::int_greater_equal: to = a() >= b(); continue;
            case MachineOp::real_equal: to = ra() == rb(); continue;
            case MachineOp::real_not_equal: to = ra() != rb(); continue;
            case MachineOp::real_less: to = ra() < rb(); continue;
            case MachineOp::real_less_equal: to = ra() <= rb(); continue;
            case MachineOp::real_greater: to = ra() > rb(); continue;
            case MachineOp::real_greater_equal: to = ra() >= rb(); continue;
            case MachineOp::int_add: to = a() + b(); continue;
            case MachineOp::int_subtract: to = a() - b(); continue;
            case MachineOp::int_multiply: to = a() * b(); continue;
            case MachineOp::int_negate: to = -a(); continue;
            case MachineOp::int_absolute: to = a() < 0 ? -a() : a(); continue;
            case MachineOp::checked_add:
                if (__builtin_add_overflow(a(), b(), &to)) return EvalError::overflow;
                continue;
            case MachineOp::checked_subtract:
                if (__builtin_sub_overflow(a(), b(), &to)) return EvalError::overflow;
                continue;
            case MachineOp::checked_multiply:
                if (__builtin_mul_overflow(a(), b(), &to)) return EvalError::overflow;
                continue;
            case MachineOp::checked_negate:
                if (__builtin_sub_overflow(std::int64_t{0}, a(), &to)) return EvalError::overflow;
                continue;
            case MachineOp::checked_absolute:
                if (a() == std::numeric_limits<std::int64_t>::min()) return EvalError::overflow;
                to = a() < 0 ? -a() : a();
                continue;
            case MachineOp::int_modulo: error = modulo(a(), b(), to); break;
            case MachineOp::int_minimum: to = std::min(a(), b()); continue;
            case MachineOp::int_maximum: to = std::max(a(), b()); continue;
            case MachineOp::int_power: error = integer_power(a(), b(), to); break;
            case MachineOp::int_sign: to = (a() > 0) - (a() < 0); continue;
            case MachineOp::real_add: put(ra() + rb()); break;
            case MachineOp::real_subtract: put(ra() - rb()); break;
            case MachineOp::real_multiply: put(ra() * rb()); break;
            case MachineOp::real_divide:
                if (rb() == 0) return EvalError::division_by_zero;
                put(ra() / rb());
                break;
            case MachineOp::real_negate: to = as_bits(-ra()); continue;
            case MachineOp::real_absolute: to = as_bits(std::fabs(ra())); continue;
            case MachineOp::real_minimum: to = as_bits(rb() < ra() ? rb() : ra()); continue;
            case MachineOp::real_maximum: to = as_bits(rb() > ra() ? rb() : ra()); continue;
            case MachineOp::real_power: put(std::pow(ra(), rb())); break;
            case MachineOp::real_logarithm: {
                double value = 0;
                error = logarithm(ra(), rb(), value);
                if (error == EvalError::none) put(value);
                break;
            }
            case MachineOp::real_floor: error = to_integer(std::floor(ra()), to); break;
            case MachineOp::real_ceil: error = to_integer(std::ceil(ra()), to); break;
            case MachineOp::real_truncate: error = to_integer(std::trunc(ra()), to); break;
            case MachineOp::real_sign: to = (ra() > 0) - (ra() < 0); continue;
            case MachineOp::raise: return static_cast<EvalError>(in.a);
            case MachineOp::begin_guarded: position.handler = in.c; continue;
            case MachineOp::end_guarded: position.handler = -1; continue;
        }
        if (error != EvalError::none) return error;
    }
    return EvalError::none;
}

EvalError Program::run(const Word* state, const std::int64_t* scratch,
                       std::int64_t* registers) const {
    Position position;
    while (true) {
        const EvalError error = run_from(position, state, scratch, registers);
        if (error == EvalError::none || position.handler < 0) return error;
        position = {position.handler, -1};
    }
}

}  // namespace surefoot
