#include "verify/layer_intervals.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace surefoot {

namespace {

// Mathematical libraries are a few units off at most; this is twice as much and more.
constexpr int kLibraryUnits = 32;

template <typename T>
constexpr T kUnit = std::numeric_limits<T>::epsilon() / 2;

template <typename T>
struct Weights {
    std::size_t inputs;
    std::size_t width;
    std::vector<T> rows;  // one for each input
    std::vector<T> biases;
};

template <typename T>
struct Ends {
    std::vector<T> low;
    std::vector<T> high;
};

// Sums of the neurons, and what their rounding errors are made of: the greatest absolute values of
// all products, and of all sums on the way, added up.
template <typename T>
struct Sums {
    std::vector<T> low;
    std::vector<T> high;
    std::vector<T> products;
    std::vector<T> partial;
};

template <typename T, std::size_t kBytes>
struct VectorOf {
    using Type [[gnu::vector_size(kBytes)]] = T;
};

template <typename T, std::size_t kBytes>
[[gnu::always_inline]] inline void sum_block(const Weights<T>& weights, const Ends<T>& inputs,
                                             std::size_t at, Sums<T>& sums) {
    using Vector = typename VectorOf<T, kBytes>::Type;
    Vector low;
    std::memcpy(&low, &weights.biases[at], kBytes);
    Vector high = low;
    Vector products{};
    Vector partial{};
    for (std::size_t i = 0; i < weights.inputs; ++i) {
        const T from = inputs.low[i];
        const T to = inputs.high[i];
        if (from == 0 && to == 0) continue;
        Vector row;
        std::memcpy(&row, &weights.rows[i * weights.width + at], kBytes);
        const Vector one = from * row;
        const Vector other = to * row;
        const Vector less = one < other ? one : other;
        const Vector more = one < other ? other : one;
        low += less;
        high += more;
        products += -less > more ? -less : more;
        partial += -low > high ? -low : high;
    }
    std::memcpy(&sums.low[at], &low, kBytes);
    std::memcpy(&sums.high[at], &high, kBytes);
    std::memcpy(&sums.products[at], &products, kBytes);
    std::memcpy(&sums.partial[at], &partial, kBytes);
}

template <typename T>
void sum_narrow(const Weights<T>& weights, const Ends<T>& inputs, Sums<T>& sums) {
    for (std::size_t at = 0; at < weights.width; at += 16 / sizeof(T))
        sum_block<T, 16>(weights, inputs, at, sums);
}

template <typename T>
using Kernel = void (*)(const Weights<T>& weights, const Ends<T>& inputs, Sums<T>& sums);

#if defined(__x86_64__) && defined(__GNUC__)
template <typename T>
[[gnu::target("avx2")]] void sum_wide(const Weights<T>& weights, const Ends<T>& inputs,
                                      Sums<T>& sums) {
    for (std::size_t at = 0; at < weights.width; at += 32 / sizeof(T))
        sum_block<T, 32>(weights, inputs, at, sums);
}

template <typename T>
Kernel<T> best_kernel() {
    return __builtin_cpu_supports("avx2") ? sum_wide<T> : sum_narrow<T>;
}
#else
template <typename T>
Kernel<T> best_kernel() {
    return sum_narrow<T>;
}
#endif

// Bounds of what a library computes that should be `value`, and of what it computes next to it.
template <typename T>
T above(T value) {
    return value + std::abs(value) * (kLibraryUnits * kUnit<T>)+kLibraryUnits *
                       std::numeric_limits<T>::denorm_min();
}

template <typename T>
T below(T value) {
    return -above(-value);
}

template <typename T>
class IntervalsIn : public LayerIntervals {
public:
    explicit IntervalsIn(const LayerSpec& spec)
        : activation_(spec.activation),
          outputs_(spec.outputs),
          slope_(static_cast<T>(spec.slope)),
          weights_(weights_of(spec)) {
        inputs_.low.resize(spec.inputs);
        inputs_.high.resize(spec.inputs);
        for (auto* part : {&sums_.low, &sums_.high, &sums_.products, &sums_.partial})
            part->resize(weights_.width);
    }

    Precision precision() const override {
        return {kUnit<T>, std::numeric_limits<T>::denorm_min(), kLibraryUnits * kUnit<T>};
    }

    double slope() const override { return slope_; }

    void round(const double* inputs, double* rounded) const override {
        for (std::size_t i = 0; i < weights_.inputs; ++i) rounded[i] = static_cast<T>(inputs[i]);
    }

    double round_up(double bound) const override {
        const T near = static_cast<T>(bound);
        return near < bound ? std::nextafter(near, std::numeric_limits<T>::infinity()) : near;
    }

    double round_down(double bound) const override { return -round_up(-bound); }

    bool sums(const double* low, const double* high, SumBounds& bounds) override {
        std::copy_n(low, weights_.inputs, inputs_.low.begin());
        std::copy_n(high, weights_.inputs, inputs_.high.begin());
        kernel_(weights_, inputs_, sums_);
        bool is_finite = true;
        for (std::size_t o = 0; o < outputs_; ++o) {
            bounds.low[o] = sums_.low[o];
            bounds.high[o] = sums_.high[o];
            is_finite &= std::isfinite(bounds.low[o]) && std::isfinite(bounds.high[o]);
            bound_errors(o, bounds);
        }
        return is_finite;
    }

    void activate(const SumBounds& sums, double* low, double* high) const override {
        for (std::size_t o = 0; o < outputs_; ++o) {
            T from = static_cast<T>(sums.low[o]);
            T to = static_cast<T>(sums.high[o]);
            activate_one(from, to);
            low[o] = from;
            high[o] = to;
        }
    }

private:
    static Weights<T> weights_of(const LayerSpec& spec) {
        const std::size_t width = in_neuron_groups(spec.outputs);
        Weights<T> weights{spec.inputs, width, std::vector<T>(spec.inputs * width),
                           std::vector<T>(width)};
        for (std::size_t o = 0; o < spec.outputs; ++o) {
            weights.biases[o] = static_cast<T>(spec.biases[o]);
            for (std::size_t i = 0; i < spec.inputs; ++i)
                weights.rows[i * width + o] = static_cast<T>(spec.weights[o * spec.inputs + i]);
        }
        return weights;
    }

    // A rounded result is off by a unit of itself at most; products may underflow besides, sums
    // cannot. The sums of such errors are sums of as many roundings, which `more` makes up for.
    void bound_errors(std::size_t o, SumBounds& bounds) const {
        const double count = static_cast<double>(weights_.inputs + 4);
        const double more = 1 + 4 * count * kUnit<T>;
        const double lost = count * std::numeric_limits<T>::denorm_min();
        const double products = sums_.products[o];
        bounds.rounding[o] = kUnit<T> * (products + double{sums_.partial[o]}) * more + 2 * lost;
        bounds.reach[o] = (std::abs(double{weights_.biases[o]}) + products) * more + 2 * lost;
    }

    void activate_one(T& from, T& to) const {
        switch (activation_) {
            case Activation::linear: break;
            case Activation::relu:
                from = from < 0 ? 0 : from;
                to = to < 0 ? 0 : to;
                break;
            case Activation::tanh:
                from = below(std::tanh(from));
                to = above(std::tanh(to));
                break;
            case Activation::sigmoid:
                from = 1 / (1 + above(std::exp(-from)));
                to = std::min(std::exp(-to), std::numeric_limits<T>::max());
                to = 1 / (1 + std::max(T{0}, below(to)));
                break;
            case Activation::leaky_relu: leak(from, to); break;
        }
    }

    // With a negative slope the least may be in the middle.
    void leak(T& from, T& to) const {
        const T one = from < 0 ? slope_ * from : from;
        const T other = to < 0 ? slope_ * to : to;
        const bool has_zero = from < 0 && to >= 0;
        from = std::min(one, other);
        to = std::max(one, other);
        if (has_zero) from = std::min(from, T{0});
    }

    Activation activation_;
    std::size_t outputs_;
    T slope_;
    Weights<T> weights_;
    Ends<T> inputs_;
    Sums<T> sums_;
    Kernel<T> kernel_ = best_kernel<T>();
};

}  // namespace

std::unique_ptr<LayerIntervals> make_layer_intervals(const LayerSpec& spec, bool is_double) {
    if (is_double) return std::make_unique<IntervalsIn<double>>(spec);
    return std::make_unique<IntervalsIn<float>>(spec);
}

}  // namespace surefoot
