#include "harness/history/detect.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "harness/history/noise_model.h"
#include "harness/history/pieces.h"
#include "harness/history/segmentation.h"

namespace etalon::history {
namespace {

// Price of one change in units of −2·log likelihood, σ known: calibrated so that one steady series
// of 200 values in a hundred gets a point (gate_accuracy).
constexpr double base_penalty = 10.8;
// A drift has one place more than a step, and is rarer.
constexpr double drift_surcharge = 9.0;

// Residuals about the running median of seven: steps of level pass through it.
std::vector<double> local_residuals(std::span<const double> values) {
    constexpr std::size_t half = 3;
    std::vector<double> residuals(values.size());
    std::vector<double> window;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t from = i > half ? i - half : 0;
        const std::size_t to = std::min(values.size(), i + half + 1);
        window.assign(values.begin() + static_cast<std::ptrdiff_t>(from),
                      values.begin() + static_cast<std::ptrdiff_t>(to));
        const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
        std::nth_element(window.begin(), middle, window.end());
        residuals[i] = values[i] - *middle;
    }
    return residuals;
}

struct Model {
    NoiseModel noise;
    double penalty = 0;
    std::vector<std::size_t> changes;
    double criterion = 0;
    bool may_drift = false;
};

class Detector {
   public:
    Detector(std::span<const double> values, const DetectOptions& options)
        : values_(values), options_(options), least_step_(std::log1p(options.least_effect)) {}

    Detection run() {
        Model model = best_model();
        prune(model);
        // A step explains three quarters of what a drift does: where none paid, no drift does.
        const bool line = calm_by_line(model);
        model.may_drift = line || !model.changes.empty();
        return describe(model);
    }

   private:
    // σ drawn towards what is usual, by the mean of the logs: a class that is ten times too wide or
    // too narrow is forgotten after a few weeks. Never 0: equal values are not infinitely sure.
    [[nodiscard]] double with_prior(double sigma, double degrees) const {
        constexpr double floor_of_least_step = 0.1;
        const double own = std::max(sigma, floor_of_least_step * least_step_);
        const double weight = options_.prior_weight;
        if (!(options_.prior_sigma > 0) || !(weight > 0)) return own;
        // A class far narrower than the case itself must not make its noise look like news.
        const double usual = std::max(options_.prior_sigma, 0.5 * own);
        return std::exp((weight * std::log(usual) + degrees * std::log(own)) / (weight + degrees));
    }

    // The z² that Student's t with so many degrees of freedom exceeds as rarely as a normal does
    // the base penalty.
    [[nodiscard]] double penalty_at(double degrees) const {
        const boost::math::normal_distribution<double> normal;
        const double tail =
            boost::math::cdf(boost::math::complement(normal, std::sqrt(base_penalty)));
        const boost::math::students_t_distribution<double> t(std::max(2.0, degrees));
        const double z = boost::math::quantile(boost::math::complement(t, tail));
        return z * z;
    }

    // By index. A change of long ago was looked at on the nights after it, and by now has many
    // values on both sides: it pays more, so that a recent one can be seen early at the same rate
    // of false points.
    [[nodiscard]] std::vector<double> penalties_of(double penalty) const {
        constexpr double recent = 30;
        std::vector<double> all(values_.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto age = static_cast<double>(values_.size() - i);
            all[i] = penalty * (1 + 4 * std::log(std::max(1.0, age / recent)) / base_penalty);
        }
        return all;
    }

    // −2·log of how much likelier a stray value is under the normal than under a broad rest, for
    // the share of values that stray; below the penalty, so that one value buys no level.
    [[nodiscard]] double cap_at(std::span<const double> innovations, double sigma,
                                double penalty) const {
        const auto strays = static_cast<double>(
            std::count_if(innovations.begin(), innovations.end(),
                          [&](double e) { return std::fabs(e) > 3.5 * sigma; }));
        const double share = (strays + 1) / (static_cast<double>(innovations.size()) + 100);
        return std::clamp(3 * std::log((1 - share) / share), 4.0, 18.0) * penalty / base_penalty;
    }

    [[nodiscard]] std::vector<double> innovations_of(const Model& model) const {
        std::vector<double> all(values_.size());
        for (const Range& range : ranges_of(model.changes, values_.size())) {
            const auto piece = range.of(values_);
            innovations(piece, {}, fit_level(piece, model.noise), model.noise,
                        std::span(all).subspan(range.begin, range.size()));
        }
        return all;
    }

    [[nodiscard]] Model model_at(double rho, double local_sigma) const {
        const auto n = static_cast<double>(values_.size());
        Model model;
        // How much the residuals hang together is known roughly only.
        const double doubt = rho > 0 ? 1.06 : 1;
        model.noise.rho = rho;
        model.noise.sigma = with_prior(local_sigma, n - 1);
        model.penalty = penalty_at(n - 2 + options_.prior_weight) * doubt;
        model.noise.cap = 0.7 * model.penalty;
        for (int pass = 0; pass < 2; ++pass) {
            model.changes = segment(values_, model.noise, penalties_of(model.penalty));
            const std::vector<double> e = innovations_of(model);
            const double degrees = std::max(1.0, n - 1 - static_cast<double>(model.changes.size()));
            model.noise.sigma = with_prior(robust_scale(e) * std::sqrt(n / degrees), degrees);
            model.penalty = penalty_at(degrees + options_.prior_weight) * doubt;
            model.noise.cap = cap_at(e, model.noise.sigma, model.penalty);
        }
        constexpr double usual_rho = 0.25;
        model.criterion = 2 * n * std::log(model.noise.sigma) + std::pow(rho / usual_rho, 2);
        const std::vector<double> penalties = penalties_of(model.penalty);
        for (const std::size_t at : model.changes) model.criterion += penalties[at];
        return model;
    }

    [[nodiscard]] Model best_model() const {
        // What the running median of seven takes from the scale of white noise.
        constexpr double taken = 0.86;
        const double local_sigma = robust_scale(local_residuals(values_)) / taken;
        Model best;
        best.criterion = std::numeric_limits<double>::infinity();
        for (const double rho : {0.0, 0.15, 0.3, 0.45, 0.6}) {
            Model model = model_at(rho, local_sigma);
            // One hump: once it grows worse it stays so.
            if (!(model.criterion < best.criterion) && rho > 0.2) break;
            if (model.criterion < best.criterion) best = std::move(model);
        }
        return best;
    }

    // Drops, one by one, the change that is worth the least while it is not worth its price or is
    // under the least effect: now with exact fits, and after the noise has been settled.
    void prune(Model& model) const {
        const std::vector<double> penalties = penalties_of(model.penalty);
        while (!model.changes.empty()) {
            const std::vector<Range> ranges = ranges_of(model.changes, values_.size());
            std::size_t worst = 0;
            double least_worth = std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i + 1 < ranges.size(); ++i) {
                const Fit a = fit_level(ranges[i].of(values_), model.noise);
                const Fit b = fit_level(ranges[i + 1].of(values_), model.noise);
                const Range both{ranges[i].begin, ranges[i + 1].end};
                const Fit joined = fit_level(both.of(values_), model.noise);
                double worth = (joined.cost - a.cost - b.cost) / penalties[ranges[i + 1].begin];
                if (std::fabs(b.level - a.level) < least_step_) worth = std::min(worth, 0.0);
                if (worth < least_worth) {
                    least_worth = worth;
                    worst = i;
                }
            }
            if (least_worth >= 1) return;
            model.changes.erase(model.changes.begin() + static_cast<std::ptrdiff_t>(worst));
        }
    }

    // A trend over the whole series is no noise: where a line leaves so much less that the F test
    // of its slope passes the penalty of a drift, its residuals are the noise.
    [[nodiscard]] bool calm_by_line(Model& model) const {
        const auto n = static_cast<double>(values_.size());
        const double degrees = n - 2;
        NoiseModel noise = model.noise;
        std::vector<double> e(values_.size());
        for (int pass = 0; pass < 3; ++pass) {
            const Piece line = straight(values_, noise);
            for (std::size_t i = 0; i < e.size(); ++i) e[i] = line.shape_at(i);
            const std::vector<double> shape = e;
            innovations(values_, shape, line.fit, noise, e);
            noise.sigma = with_prior(robust_scale(e) * std::sqrt(n / degrees), degrees);
        }
        const double price = drift_penalty(penalty_at(degrees + options_.prior_weight));
        const double f = degrees * (std::pow(model.noise.sigma / noise.sigma, 2) - 1);
        // Where there are steps, the line must leave less than they do.
        const bool better = model.changes.empty()
                                ? f > price
                                : 2 * n * std::log(noise.sigma) + price < model.criterion;
        if (!better) return false;
        model.changes.clear();
        model.noise = noise;
        return true;
    }

    [[nodiscard]] static double drift_penalty(double penalty) {
        return penalty * (1 + drift_surcharge / base_penalty);
    }

    // 95 % of the posterior of a border between two known levels, every place as likely before.
    void place(ChangePoint& point, const Piece& before, const Piece& after,
               const NoiseModel& noise) const {
        const std::size_t from = before.range.begin + 1, to = after.range.end;
        std::vector<double> cost;  // of the border at from, from + 1, ... (up to to − 1)
        double sum = 0;
        const auto loss = [&](std::size_t i, double level) {
            const double e = (values_[i] - level) / noise.sigma;
            return std::min(e * e, noise.cap);
        };
        // Autocorrelated residuals speak less than their number.
        const double weight = (1 - noise.rho) / (1 + noise.rho);
        for (std::size_t at = from; at < to; ++at) {
            sum += loss(at - 1, before.at(before.range.end - 1)) -
                   loss(at - 1, after.at(after.range.begin));
            cost.push_back(weight * sum);
        }
        const double least = *std::min_element(cost.begin(), cost.end());
        double total = 0;
        for (double& c : cost) total += c = std::exp(-0.5 * (c - least));
        std::size_t low = point.at - from, high = low;
        double inside = cost[low];
        while (inside < 0.95 * total) {
            const double left = low > 0 ? cost[low - 1] : -1;
            const double right = high + 1 < cost.size() ? cost[high + 1] : -1;
            if (left < 0 && right < 0) break;
            inside += left >= right ? cost[--low] : cost[++high];
        }
        point.earliest = from + low;
        point.latest = from + high;
    }

    [[nodiscard]] Detection describe(const Model& model) const {
        const NoiseModel& noise = model.noise;
        Detection found;
        found.decidable = true;
        found.rho = noise.rho;
        found.sigma = noise.sigma / std::sqrt(1 - noise.rho * noise.rho);
        const std::vector<Piece> pieces =
            pieces_of(values_, model.changes, noise, penalties_of(model.penalty),
                      model.may_drift ? drift_penalty(model.penalty)
                                      : std::numeric_limits<double>::infinity(),
                      2 * least_step_);
        const double degrees =
            std::max(1.0, static_cast<double>(values_.size()) - 1 -
                              static_cast<double>(pieces.size()) + options_.prior_weight);
        const boost::math::students_t_distribution<double> t(degrees);
        const double reach = boost::math::quantile(t, 0.975) * noise.sigma;
        const auto ratio = [&](double change, double variance) {
            const double half = reach * std::sqrt(variance);
            return Estimate{std::exp(change), std::exp(change - half), std::exp(change + half)};
        };
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Piece& piece = pieces[i];
            for (std::size_t at = piece.range.begin; at < piece.range.end; ++at) {
                found.fitted.push_back(piece.at(at));
            }
            if (piece.drifts) {
                const auto steps = static_cast<double>(piece.drift_last - piece.drift_first);
                found.drifts.push_back({piece.drift_first, piece.drift_last,
                                        Estimate{std::exp(piece.fit.rise), std::exp(piece.rise_lo),
                                                 std::exp(piece.rise_hi)},
                                        std::expm1(piece.fit.rise / steps)});
            }
            if (i == 0) continue;
            const Piece& before = pieces[i - 1];
            const std::size_t at = piece.range.begin;
            ChangePoint point{at, 0, 0,
                              ratio(piece.at(at) - before.at(at - 1),
                                    before.variance_at(at - 1) + piece.variance_at(at))};
            place(point, before, piece, noise);
            found.points.push_back(point);
        }
        const double scale = found.sigma * std::sqrt(model.penalty / base_penalty);
        for (std::size_t at = 0; at < values_.size(); ++at) {
            constexpr double apart = 3.5;
            if (std::fabs(values_[at] - found.fitted[at]) > apart * scale &&
                std::fabs(values_[at] - found.fitted[at]) > least_step_) {
                found.outliers.push_back(at);
            }
        }
        found.last_stands_apart =
            !found.outliers.empty() && found.outliers.back() + 1 == values_.size();
        return found;
    }

    std::span<const double> values_;
    DetectOptions options_;
    double least_step_;
};

}  // namespace

Detection detect(std::span<const double> log_times, const DetectOptions& options) {
    for (const double value : log_times) {
        if (!std::isfinite(value)) throw std::invalid_argument("detect: a value is not finite");
    }
    if (log_times.size() < least_values) {
        Detection found;
        found.fitted.assign(log_times.begin(), log_times.end());
        return found;
    }
    return Detector(log_times, options).run();
}

}  // namespace etalon::history
