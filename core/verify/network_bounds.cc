#include "verify/network_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace surefoot {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotYet = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kWidest = 1 << 16;       // errors of float sums are small up to here
constexpr std::size_t kMostNeurons = 1 << 20;  // and those of backward passes

bool are_finite(const std::vector<double>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

double rounded(double number, bool is_double) {
    return is_double ? number : static_cast<float>(number);
}

// one - other, rounded down unless it is exact (Knuth's error of a sum tells).
double difference_below(double one, double other) {
    const double difference = one - other;
    if (!std::isfinite(difference)) return -kInfinity;
    const double back = one - difference;
    const double error = (one - (difference + back)) + (back - other);
    return error < 0 ? std::nextafter(difference, -kInfinity) : difference;
}

}  // namespace

// -- making -------------------------------------------------------------------------------------

NetworkBounds::NetworkBounds(const std::vector<LayerSpec>& layers, bool is_double) {
    std::size_t neurons = layers.front().inputs;
    std::size_t widest = in_neuron_groups(neurons);
    for (const LayerSpec& spec : layers) {
        neurons += spec.outputs;
        widest = std::max(widest, in_neuron_groups(spec.outputs));
        products_ += static_cast<double>((spec.inputs + 8) * (spec.outputs + 8));
    }
    gamma_ = 4 * static_cast<double>(2 * neurons + 16) * std::numeric_limits<double>::epsilon();
    for (const LayerSpec& spec : layers) {
        const Layer& layer = layers_.emplace_back(layer_of(spec, is_double));
        is_supported_ &= are_finite(layer.weights) && are_finite(layer.biases) &&
                         std::isfinite(layer.activation.slope) && spec.inputs <= kWidest;
    }
    is_supported_ &= neurons <= kMostNeurons;
    for (auto* box : {&low_, &high_, &varying_low_, &varying_high_})
        box->resize(in_neuron_groups(num_inputs()));
    varying_.reserve(num_inputs());
    first_weights_.resize(layers_.front().weights.size());
    first_biases_.resize(layers_.front().biases.size());
    for (auto* numbers : {&coefficients_, &sums_}) numbers->resize(widest);
    numbers_.resize(widest);
    lower_.resize(num_outputs());
    upper_.resize(num_outputs());
}

NetworkBounds::Layer NetworkBounds::layer_of(const LayerSpec& spec, bool is_double) const {
    const std::size_t width = in_neuron_groups(spec.inputs);
    const std::vector<double> zeros(in_neuron_groups(spec.outputs));
    auto intervals = make_layer_intervals(spec, is_double);
    const ActivationOf activation{spec.activation, intervals->slope(), intervals->precision(),
                                  gamma_};
    Layer layer{spec.inputs, spec.outputs,
                width,       std::vector<double>(zeros.size() * width),
                zeros,       std::move(intervals),
                activation,  {zeros, zeros, zeros, zeros},
                zeros,       zeros,
                zeros,       {zeros, zeros, zeros, zeros}};
    for (std::size_t o = 0; o < spec.outputs; ++o) {
        layer.biases[o] = rounded(spec.biases[o], is_double);
        for (std::size_t i = 0; i < spec.inputs; ++i)
            layer.weights[o * width + i] = rounded(spec.weights[o * spec.inputs + i], is_double);
    }
    return layer;
}

bool NetworkBounds::is_piecewise_linear() const {
    return std::all_of(layers_.begin(), layers_.end(), [](const Layer& layer) {
        return layer.activation.activation != Activation::tanh &&
               layer.activation.activation != Activation::sigmoid;
    });
}

// -- bounds of neurons --------------------------------------------------------------------------

void NetworkBounds::set_box(const double* low, const double* high) {
    std::fill(lower_.begin(), lower_.end(), kNotYet);
    std::fill(upper_.begin(), upper_.end(), kNotYet);
    is_bounded_ = is_supported_ && take_inputs(low, high);
    for (std::size_t number = 0; is_bounded_ && number < layers_.size(); ++number)
        is_bounded_ = bound_layer(number);
}

bool NetworkBounds::take_inputs(const double* low, const double* high) {
    layers_.front().intervals->round(low, low_.data());
    layers_.front().intervals->round(high, high_.data());
    varying_.clear();
    for (std::size_t i = 0; i < num_inputs(); ++i) {
        if (!std::isfinite(low_[i]) || !std::isfinite(high_[i])) return false;
        if (low_[i] != high_[i]) varying_.push_back(i);
    }
    largest_ = 0;
    take_largest(low_, high_);
    fold_points();
    return true;
}

void NetworkBounds::fold_points() {
    const Layer& first = layers_.front();
    const std::size_t width = in_neuron_groups(varying_.size());
    std::fill(varying_low_.begin(), varying_low_.end(), 0);
    std::fill(varying_high_.begin(), varying_high_.end(), 0);
    for (std::size_t k = 0; k < varying_.size(); ++k) {
        varying_low_[k] = low_[varying_[k]];
        varying_high_[k] = high_[varying_[k]];
    }
    for (std::size_t o = 0; o < first.outputs; ++o) {
        const double* const row = &first.weights[o * first.width];
        double* const to = &first_weights_[o * width];
        std::fill_n(to, width, 0);
        first_biases_[o] = first.biases[o];
        for (std::size_t i = 0, k = 0; i < first.inputs; ++i) {
            if (k < varying_.size() && varying_[k] == i)
                to[k++] = row[i];
            else
                first_biases_[o] += row[i] * low_[i];
        }
    }
}

bool NetworkBounds::bound_layer(std::size_t number) {
    Layer& layer = layers_[number];
    const double* const low = number == 0 ? low_.data() : layers_[number - 1].low.data();
    const double* const high = number == 0 ? high_.data() : layers_[number - 1].high.data();
    if (!layer.intervals->sums(low, high, layer.sums)) return false;
    for (std::size_t o = 0; o < layer.outputs; ++o) {
        const double lost = layer.sums.rounding[o] + gamma_ * layer.sums.reach[o];
        layer.errors[o] = lost * (1 + gamma_) + std::numeric_limits<double>::min();
    }
    const bool is_linear_end =
        number + 1 == layers_.size() && layer.activation.activation == Activation::linear;
    if (number > 0 && !is_linear_end && !varying_.empty()) tighten(number);
    layer.intervals->activate(layer.sums, layer.low.data(), layer.high.data());
    if (!are_finite(layer.low) || !are_finite(layer.high)) return false;
    set_lines(layer.activation, layer.sums, layer.low, layer.high, layer.lines);
    take_largest(layer.sums.low, layer.sums.high);
    take_largest(layer.low, layer.high);
    return true;
}

// Backward passes for the neurons of a layer. Where the sign is known already, relu is exact.
void NetworkBounds::tighten(std::size_t number) {
    Layer& layer = layers_[number];
    SumBounds& sums = layer.sums;
    const bool has_corner = layer.activation.activation == Activation::relu ||
                            layer.activation.activation == Activation::leaky_relu;
    for (std::size_t o = 0; o < layer.outputs; ++o) {
        const bool is_stable = has_corner && (sums.low[o] >= 0 || sums.high[o] <= 0);
        if (is_stable || sums.low[o] == sums.high[o]) continue;
        const double low = least_sum(number, o, 1);
        const double high = -least_sum(number, o, -1);
        if (low > sums.low[o]) sums.low[o] = layer.intervals->round_up(low);
        if (high < sums.high[o]) sums.high[o] = layer.intervals->round_down(high);
    }
}

void NetworkBounds::take_largest(const std::vector<double>& low, const std::vector<double>& high) {
    for (std::size_t i = 0; i < low.size(); ++i)
        largest_ = std::max({largest_, std::abs(low[i]), std::abs(high[i])});
}

// -- backward passes ----------------------------------------------------------------------------

Rows NetworkBounds::rows_of(std::size_t number) const {
    const Layer& layer = layers_[number];
    if (number > 0)
        return {layer.weights.data(), layer.biases.data(), layer.errors.data(), layer.width};
    return {first_weights_.data(), first_biases_.data(), layer.errors.data(),
            in_neuron_groups(varying_.size())};
}

Neurons NetworkBounds::inputs_of(std::size_t number) const {
    if (number == 0)
        return {varying_low_.data(), varying_high_.data(), in_neuron_groups(varying_.size())};
    const Layer& below = layers_[number - 1];
    return {below.low.data(), below.high.data(), below.low.size()};
}

// A lower bound of sign times a sum of a layer above the first.
double NetworkBounds::least_sum(std::size_t number, std::size_t neuron, double sign) {
    const Layer& layer = layers_[number];
    const double* const row = &layer.weights[neuron * layer.width];
    for (std::size_t i = 0; i < layer.width; ++i) coefficients_[i] = sign * row[i];
    return least(number - 1, {sign * layer.biases[neuron], layer.errors[neuron]});
}

// A lower bound of the functional with these coefficients_ of the outputs of a layer: the best of
// what the inputs of every layer below give.
double NetworkBounds::least(std::size_t top, ConstantAndError functional) {
    const double slack = products_ * (1 + largest_) * std::numeric_limits<double>::denorm_min() +
                         std::numeric_limits<double>::min();
    double best = -kInfinity;
    for (std::size_t number = top + 1; number-- > 0;) {
        const Rows rows = rows_of(number);
        const std::size_t width = layers_[number].low.size();
        const auto step = kernel_.to_sums(coefficients_.data(), width, layers_[number].lines, rows);
        functional.constant += step.constant;
        functional.error += step.error;
        std::size_t count = 0;
        for (std::uint32_t o = 0; o < width; ++o) {
            numbers_[count] = o;
            count += coefficients_[o] != 0 ? 1 : 0;
        }
        kernel_.combine(coefficients_.data(), numbers_.data(), count, rows, sums_.data());
        coefficients_.swap(sums_);
        const auto [sum, reach] = kernel_.least(coefficients_.data(), inputs_of(number));
        const double error = (functional.error + gamma_ * reach) * (1 + gamma_);
        const double bound = (functional.constant + sum) - error - slack;
        if (std::isfinite(bound) && bound > best) best = bound;
    }
    return best;
}

double NetworkBounds::least_score(std::size_t output, double sign) {
    std::fill(coefficients_.begin(), coefficients_.end(), 0);
    coefficients_[output] = sign;
    return least(layers_.size() - 1, {0, 0});
}

double NetworkBounds::least_gap(std::size_t one, std::size_t other) {
    std::fill(coefficients_.begin(), coefficients_.end(), 0);
    coefficients_[one] = 1;
    coefficients_[other] = -1;
    return least(layers_.size() - 1, {0, 0});
}

// -- questions ----------------------------------------------------------------------------------

double NetworkBounds::lower(std::size_t output) {
    if (!is_bounded_) return -kInfinity;
    if (std::isnan(lower_[output])) {
        const Layer& last = layers_.back();
        const double bound = varying_.empty() ? -kInfinity : least_score(output, 1);
        lower_[output] =
            bound > last.low[output] ? last.intervals->round_up(bound) : last.low[output];
    }
    return lower_[output];
}

double NetworkBounds::upper(std::size_t output) {
    if (!is_bounded_) return kInfinity;
    if (std::isnan(upper_[output])) {
        const Layer& last = layers_.back();
        const double bound = varying_.empty() ? kInfinity : -least_score(output, -1);
        upper_[output] =
            bound < last.high[output] ? last.intervals->round_down(bound) : last.high[output];
    }
    return upper_[output];
}

double NetworkBounds::least_difference(std::size_t one, std::size_t other) {
    if (!is_bounded_) return -kInfinity;
    if (one == other) return 0;
    const Layer& last = layers_.back();
    const double plain = difference_below(last.low[one], last.high[other]);
    if (varying_.empty()) return plain;
    return std::max(plain, least_gap(one, other));
}

void NetworkBounds::influence(std::size_t one, std::size_t other, double* by_input) {
    std::fill_n(by_input, num_inputs(), 0);
    if (!is_bounded_) return;
    for (const auto& [more, less] : {std::pair{one, other}, std::pair{other, one}}) {
        least_gap(more, less);
        for (std::size_t k = 0; k < varying_.size(); ++k) {
            const std::size_t i = varying_[k];
            by_input[i] += std::abs(coefficients_[k]) * (high_[i] - low_[i]);
        }
    }
}

}  // namespace surefoot
