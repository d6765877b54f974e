#include "verify/activation_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace surefoot {

namespace {

struct Line {
    double slope;
    double offset;
};

struct Pair {
    Line low;
    Line high;
};

// A line that is moved, down for a sign of -1, by the `error` of what the activation computes and
// by what a backward pass loses. Slopes of 0 and 1 multiply without error.
Line moved(Line line, double sign, double error, double reach, double gamma) {
    const bool multiplies = line.slope != 0 && line.slope != 1;
    if (!multiplies && line.offset == 0 && error == 0) return line;
    const double lost = error * (1 + gamma) + gamma * std::abs(line.offset) +
                        (multiplies ? gamma * std::abs(line.slope) * reach : 0);
    line.offset += sign * (lost + std::numeric_limits<double>::min());
    return line;
}

// The activation is z where z >= 0 and slope * z else. The chord may have any slope near its own:
// a line that is not below this function at both ends is nowhere below it if slope <= 1.
Pair piecewise(double slope, double low, double high) {
    const Line identity{1, 0};
    const Line leak{slope, 0};
    if (low >= 0) return {identity, identity};
    if (high <= 0) return {leak, leak};
    double chord = (high - slope * low) / (high - low);
    if (!std::isfinite(chord)) chord = 1;
    const double at_low = (slope - chord) * low;
    const double at_high = (1 - chord) * high;
    const Line touching = high > -low ? identity : leak;
    if (slope <= 1) return {touching, {chord, std::max(at_low, at_high)}};
    return {{chord, std::min(at_low, at_high)}, touching};
}

// The slope of tanh and of the sigmoid function is least at an end.
double least_slope(Activation activation, double low, double high, double error) {
    constexpr double kMore = 1e-14;  // than what is lost here
    const bool is_tanh = activation == Activation::tanh;
    const double middle = is_tanh ? 0 : 0.5;
    const double steepest = is_tanh ? 1 : 0.25;
    const double off = std::max(std::abs(low - middle), std::abs(high - middle)) + error;
    return std::max(0.0, steepest - off * off - kMore);
}

struct Point {
    double sum;
    double value;
};

// Parallel lines through both ends.
Pair smooth(const ActivationOf& how, const Point& low, const Point& high) {
    const double slope = least_slope(how.activation, low.value, high.value, how.precision.library);
    return {{slope, low.value - slope * low.sum}, {slope, high.value - slope * high.sum}};
}

bool is_smooth(Activation activation) {
    return activation == Activation::tanh || activation == Activation::sigmoid;
}

double slope_below(const ActivationOf& how) {
    switch (how.activation) {
        case Activation::linear: return 1;
        case Activation::leaky_relu: return how.slope;
        default: return 0;
    }
}

// How far the computed activation is from the real one.
double activation_error(const ActivationOf& how, double low) {
    if (is_smooth(how.activation)) return how.precision.library;
    if (how.activation != Activation::leaky_relu || low >= 0) return 0;
    return how.precision.unit * std::abs(how.slope * low) + 2 * how.precision.smallest;
}

}  // namespace

void set_lines(const ActivationOf& how, const SumBounds& sums, const std::vector<double>& low,
               const std::vector<double>& high, Lines& lines) {
    const double slope = slope_below(how);
    for (std::size_t o = 0; o < low.size(); ++o) {
        const double from = sums.low[o];
        const double to = sums.high[o];
        const double reach = std::max(std::abs(from), std::abs(to));
        const double error = activation_error(how, from);
        const Pair pair = is_smooth(how.activation) ? smooth(how, {from, low[o]}, {to, high[o]})
                                                    : piecewise(slope, from, to);
        const Line below = moved(pair.low, -1, error, reach, how.gamma);
        const Line above = moved(pair.high, 1, error, reach, how.gamma);
        lines.low_slope[o] = below.slope;
        lines.low_offset[o] = below.offset;
        lines.high_slope[o] = above.slope;
        lines.high_offset[o] = above.offset;
    }
}

}  // namespace surefoot
