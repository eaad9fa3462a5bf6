#include "core/analysis/update.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/certificate/check.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// Kinks further off do not blur the slope of a row, whatever the slack.
constexpr double nearest = 0.05;

double guess(std::size_t k) { return std::ldexp(1.0, 2 * static_cast<int>(k) - 16); }

/// Beside the names of Status.
constexpr std::string_view changed = "updated", retrain = "retrain";

/// Ways, times κ of the loss, over which its curvature bounds it closely enough.
constexpr double short_way = 0.125;

}  // namespace

std::string_view updated_status(const Model& m, const Options& options) {
  if (m.dual_point == nullptr || !(m.certificate.lower > 0)) return retrain;
  return m.certificate.relative_gap <= options.tolerance ? status_name(Status::optimal) : changed;
}

bool is_status(std::string_view name) { return status_from(name).has_value() || name == changed || name == retrain; }

void require_updatable(const Model& model, const Options& options, const Consumer& product) {
  require_ball(product, model, options);
  if (model.dual_point == nullptr)
    refuse_model(product, "its attribute ball is NULL, which says what its rows add up to",
                 "Train again: models of earlier versions lack it.");
  require_known_errors(model, product);
}

ModelUpdate::ModelUpdate(const Model& model, const Options& options, const Progress& progress)
    : model_(model), objective_(objective_of(model, options)), columns_(model) {
  require_updatable(model, options, update_product);
  const auto k = static_cast<std::size_t>(model.outputs());
  outputs_.resize(k);
  change_.resize(k * (static_cast<std::size_t>(model.terms()) + 1));
  for (Eigen::Index o = 0; o < model.outputs(); ++o)
    norms_.push_back(lp_norm(model.weights.row(o).data(), model.terms(), 2));
  if (model.dual_point->curvature == nullptr || !curves(*objective_.loss)) return;
  curved_.reserve(k);
  for (const CurvedPoint& point : *model.dual_point->curvature) {
    if (point.size() != curved_place(model, 0, objective_.constant_feature()).size()) {
      curved_.clear();
      return;
    }
    curved_.emplace_back(point, *objective_.loss, objective_.lambda, objective_.constant_feature(), progress);
  }
}

void ModelUpdate::add(const Row& x, std::int32_t label, double weight, bool removed) {
  add(x, label, 0.0, weight, removed);
}

void ModelUpdate::add(const Row& x, double target, double weight, bool removed) {
  require_target(*objective_.loss, target, 0);
  add(x, 0, target - model_.target_center.value_or(0), weight, removed);
}

void ModelUpdate::add(const Row& x, std::int32_t label, double target, double weight, bool removed) {
  const Row placed = columns_.place(x);
  if (!columns_.all())
    throw Error(ErrorKind::invalid_value, "a row has a feature that no row of the training had",
                "The weight of a new feature is unknown: train again with these rows.");
  const Row own = own_values_.of(placed, 0.5);
  const double c = model_.regression() ? weight : weight * objective_.weight_of_class(static_cast<std::size_t>(label));
  weight_.add(removed ? -weight : weight);
  weight_size_ += weight;
  (removed ? went_ : came_) += 1;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const auto at = static_cast<Eigen::Index>(o);
    const double b = model_.intercept(at) - model_.target_center.value_or(0);
    const double u = dot(own, model_.weights.row(at).data()) + b;
    const double y = model_.regression() ? target : objective_.target(label, static_cast<std::int32_t>(o));
    if (c > 0) take(outputs_[o], o, own, u, y, c, removed);
  }
}

/// a₀ of a row that goes: any number does. At a kink, where all slopes between its two sides are as good, the one in the
/// middle is at most half as far from what it was; a kink is at hand where a slack of F would let a score reach it.
double ModelUpdate::likely_dual(std::size_t o, double u, double y) const {
  if (objective_.loss->smooth()) return settled_dual(*objective_.loss, u, y);
  const double all = model_.dual_point->total_weight.value() * model_.dual_point->slack[o];
  const double h = std::max(std::min(all, nearest), kink_width * (std::fabs(u) + std::fabs(y)));
  if (h == 0) return settled_dual(*objective_.loss, u, y);
  return (objective_.loss->value(u - h, y) - objective_.loss->value(u + h, y)) / (2 * h);
}

/// ≥ how far φ is above its line of slope −a through u, h away to either side.
double ModelUpdate::above(const Gone& row, double h) const {
  const auto [u, y, a, c, reach, error, bend] = row;
  // φ'' grows by e^(κh) at most.
  const double kappa = objective_.loss->self_concordance();
  if (kappa * (h + error) < short_way)
    return bend * h / 2 * h * (1 + kappa * (h + 4 * error)) * (1 + 64 * epsilon) +
           h * (2 * error * bend + 16 * epsilon * std::fabs(a));
  const double value = objective_.loss->value(u, y), up = objective_.loss->value(u + h, y),
               down = objective_.loss->value(u - h, y);
  const double rounding = 2 * error * objective_.loss->steepest(u, y, h + error) +
                          16 * epsilon * (up + down + value + h * std::fabs(a) + std::fabs(u * a) + std::fabs(y * a));
  return std::max({0.0, up - value + h * a, down - value - h * a}) + rounding;
}

double ModelUpdate::excess(const Output& sums, std::size_t k) const {
  double sum = sums.excess[k];
  for (const Gone& row : sums.waiting) sum += row.c * above(row, row.reach / guess(k));
  return sum;
}

/// The least over μ of μF + Σ c max over a of (abs(a − a₀) r − μψ(a)), `all` being F: a convex function of μ, so that a walk from
/// a good guess ends at its best.
double ModelUpdate::least_unknown(const Output& sums, double all, double many) const {
  if (!(sums.gone > 0)) return 0;
  const auto at = [&](std::size_t k) { return guess(k) * (all + excess(sums, k) * (1 + many)); };
  double bent = 0;  // of μF + bent/(2μ), where φ curves evenly
  for (const Gone& row : sums.waiting) bent += row.c * row.bend * row.reach * row.reach;
  std::size_t k = guesses / 2;
  for (; bent > 0 && k > 0 && 2 * all * guess(k) * guess(k) > bent; --k) {
  }
  for (; bent > 0 && k + 1 < guesses && 2 * all * guess(k) * guess(k) < bent; ++k) {
  }
  double least = at(k);
  const std::size_t from = k;
  while (k + 1 < guesses) {
    const double next = at(k + 1);
    if (!(next <= least)) break;
    least = next, ++k;
  }
  for (k = from; k > 0; --k) {
    const double next = at(k - 1);
    if (!(next < least)) break;
    least = next;
  }
  return least;
}

void ModelUpdate::take(Output& sums, std::size_t o, const Row& x, double u, double y, double c, bool removed) {
  const double norm = margin::norm(x), reach = std::hypot(norm, objective_.constant_feature()) * (1 + 8 * epsilon);
  const double b = model_.intercept(static_cast<Eigen::Index>(o)) - model_.target_center.value_or(0);
  // As in RiskCheck.
  double error = epsilon * ((x.count + 4.0) * (norm * norms_[o]) + 2 * std::fabs(b)) + (x.count + 8.0) * tiny;
  if (model_.regression()) error += epsilon * objective_.loss->argument_size(u, y);
  const double value = objective_.loss->value(u, y), steep = objective_.loss->steepest(u, y, error);
  const double a = removed ? likely_dual(o, u, y) : objective_.loss->project(settled_dual(*objective_.loss, u, y), y);
  const double sign = removed ? -1.0 : 1.0;
  if (!curved_.empty()) curved_[o].add({x, u, error, y, c}, removed);
  sums.loss += sign * c * value;
  sums.loss_size += c * value;
  sums.loss_error += c * (error * steep + 8 * epsilon * (value + epsilon * std::fabs(y)));
  sums.mass += c * std::fabs(a) * reach;
  if (removed) {
    sums.gone += c;
    sums.waiting.push_back(
        {u, y, a, c, reach, error, objective_.loss->smooth() ? objective_.loss->second_derivative(u, y) : 0.0});
    if (sums.waiting.size() == most_waiting) {
      for (std::size_t k = 0; k < guesses; ++k) sums.excess[k] = excess(sums, k);
      sums.waiting.clear();
    }
  } else {
    const double conjugate = objective_.loss->conjugate(a, y);
    const double rounding =
        error * (steep + std::fabs(a)) +
        16 * epsilon * (value + objective_.loss->conjugate_size(a, y, conjugate) + std::fabs(a * u));
    sums.slack += c * (std::max(0.0, value + conjugate + a * u) + rounding);
  }
  const std::size_t d = static_cast<std::size_t>(model_.terms());
  ExactSum* const change = change_.data() + o * (d + 1);
  for (std::int32_t j = 0; a != 0 && j < x.count; ++j)
    change[x.indices != nullptr ? x.indices[j] : j].add(sign * c * a * x.value(j));
  change[d].add(sign * c * a);
}

std::vector<double> ModelUpdate::state() const {
  std::vector<double> s = {static_cast<double>(came_), static_cast<double>(went_), weight_.rounded(), weight_.lost(),
                           weight_size_};
  for (const Output& o : outputs_) {
    s.insert(s.end(), {o.loss, o.loss_size, o.loss_error, o.slack, o.mass, o.gone});
    for (std::size_t k = 0; k < guesses; ++k) s.push_back(excess(o, k));
  }
  for (const ExactSum& sum : change_) s.insert(s.end(), {sum.rounded(), sum.lost()});
  for (const CurvatureChange& change : curved_) {
    const std::vector<double> numbers = change.state();
    s.insert(s.end(), numbers.begin(), numbers.end());
  }
  return s;
}

bool ModelUpdate::merge(const std::vector<double>& s) {
  const std::size_t curved = curved_.empty() ? 0 : CurvatureChange::state_size(model_.dual_point->curvature->front());
  if (s.size() != head + (per_output * outputs_.size() + 2 * change_.size()) + curved * curved_.size()) return false;
  for (std::size_t i = 0; i < 2; ++i)
    if (!(s[i] >= 0 && s[i] <= 0x1p53)) return false;
  came_ += static_cast<std::int64_t>(s[0]);
  went_ += static_cast<std::int64_t>(s[1]);
  weight_.add(ExactSum::of(s[2], s[3]));
  weight_size_ += s[4];
  const double* at = s.data() + head;
  for (Output& o : outputs_) {
    for (double* const number : {&o.loss, &o.loss_size, &o.loss_error, &o.slack, &o.mass, &o.gone}) *number += *at++;
    for (double& e : o.excess) e += *at++;
  }
  for (ExactSum& sum : change_) {
    sum.add(ExactSum::of(at[0], at[1]));
    at += 2;
  }
  for (CurvatureChange& change : curved_) {
    change.merge(at);
    at += curved;
  }
  return true;
}

void ModelUpdate::require_left(const StoredSum& left, std::optional<std::int64_t> rows) const {
  const auto more = [](const std::string& removed, const std::string& of) {
    return Error(ErrorKind::invalid_value, removed + " were removed from a model of " + of,
                 "Remove only rows of the model, each once, with the weight that it was trained with.");
  };
  const auto number = [](double v) { return describe(Value{v}); };
  if (rows.has_value() && *rows + came_ < went_)
    throw more(std::to_string(went_) + " rows", std::to_string(*rows + came_));
  if (left.upper() < 0)
    throw more("rows that weigh " + number(model_.dual_point->total_weight.value() - left.value()) + " in all",
               "rows that weigh " + number(model_.dual_point->total_weight.value()));
}

/// `slack`: ≥ what the upper end, of the rows as they are now, is above P of the weights.
void ModelUpdate::bend(Certificate& c, DualPoint& point_now, double slack, const Progress& progress) const {
  if (curved_.empty()) return;
  const double constant = objective_.constant_feature();
  auto now = std::make_shared<std::vector<CurvedPoint>>();
  double decrease = 0;
  for (std::size_t o = 0; o < curved_.size(); ++o) {
    const std::vector<double> point = curved_place(model_, static_cast<std::int32_t>(o), constant);
    now->push_back(curved_[o].after(point, objective_.lambda, weight_.value(), point_now.total_weight.value()));
    const Ellipsoid ellipsoid(now->back(), point, objective_.lambda, constant, progress, false);
    if (!ellipsoid.holds()) return;
    decrease += ellipsoid.decrease();
  }
  point_now.curvature = std::move(now);
  c.lower = std::max(c.lower, (c.upper - slack - decrease) * (1 - 8 * epsilon) - tiny);
}

Model ModelUpdate::updated(Model model, const Progress& progress) const {
  const DualPoint& before = *model_.dual_point;
  const double lambda = objective_.lambda, constant = objective_.constant_feature();
  const StoredSum& weight = before.total_weight;
  const StoredSum left = weight.plus(weight_, static_cast<double>(rows()), weight_size_);
  require_left(left, model.rows);
  const double W = weight.value(), grown = weight_.value(), now = left.value(), share = 1 / now;
  const std::size_t k = outputs_.size(), d = static_cast<std::size_t>(model_.terms());
  const double many = epsilon * (static_cast<double>(d + k) + static_cast<double>(rows()) + 64);
  // W as it is used here is rounded, and may be far more than what is left of it.
  const double of_weight = (weight.off() + left.off() + 2 * epsilon * std::fabs(grown)) * share * (1 + 16 * epsilon);
  auto point = std::make_shared<DualPoint>();
  point->total_weight = left;
  point->offset.resize(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(d));
  point->intercept.resize(static_cast<Eigen::Index>(k));
  point->slack.resize(k);
  point->error.resize(k);
  double gap = 0, penalty = 0, loss = 0, rounding = 0, slack = 0;
  for (std::size_t o = 0; o < k; ++o) {
    const auto at = static_cast<Eigen::Index>(o);
    const Output& sums = outputs_[o];
    const double F = weight.upper() * before.slack[o] * (1 + 8 * epsilon);
    const double unknown = least_unknown(sums, F, many);
    const double b = model_.intercept(at) - model_.target_center.value_or(0);
    double moved = 0;
    const ExactSum* const change = change_.data() + o * (d + 1);
    for (std::size_t j = 0; j < d; ++j) {
      const auto col = static_cast<Eigen::Index>(j);
      const double old = before.offset.size() > 0 ? before.offset(at, col) : 0.0, sum = change[j].value() / lambda;
      point->offset(at, col) = (W * old + sum - grown * model_.weights(at, col)) * share;
      moved = std::hypot(moved, sum);
    }
    const double constant_sum = constant * change[d].value() / lambda;
    point->intercept(at) = (W * before.intercept(at) + constant * constant_sum - grown * b) * share;
    const double weights = std::hypot(norms_[o], constant > 0 ? b / constant : 0.0);
    const double old = apart(before, o, constant);
    // Each number errs by a few ulps of its terms; each term of Σ c a x by two of its own.
    const double lost = many * (W * old + moved + std::fabs(constant_sum) + std::fabs(grown) * weights + W * weights) +
                        8 * epsilon * sums.mass / lambda;
    // v is what W v was over what is left: an error of either W is one of it.
    const double apart_now = apart(*point, o, constant) * (1 + many);
    point->error[o] = ((W * before.error[o] + unknown / lambda + lost) * share +
                       of_weight * (2 * weights + old + before.error[o] + apart_now)) *
                      (1 + 16 * epsilon);
    point->slack[o] = (F + sums.slack * (1 + many)) / left.lower() * (1 + 16 * epsilon) + tiny;
    slack += F / left.lower() * (1 + 16 * epsilon);
    const double between = apart_now + point->error[o];
    gap += (point->slack[o] + lambda * between / 2 * between) * (1 + 16 * epsilon);
    penalty += lambda * weights / 2 * weights;
    loss += sums.loss;
    rounding += (sums.loss_error * (1 + many) + (static_cast<double>(rows()) + 16) * epsilon * sums.loss_size) * share;
  }
  Certificate& c = model.certificate;
  // The stored upper end is above P by no more than the stored slack: what it overstates is in the gap as well.
  const double primal = penalty + ((c.upper - penalty) * W + loss) * share;
  rounding += many * (penalty + std::fabs(c.upper) * W * share + penalty * W * share + std::fabs(loss) * share) + tiny;
  rounding += of_weight * (std::fabs(c.upper) + penalty + std::fabs(primal));
  // The upper end is that far above P besides, which the next update takes from a slack.
  point->slack[0] += 2 * rounding;
  model.dual_weights.reset();
  model.history.clear();
  c.support = -1;
  if (model.rows.has_value()) *model.rows += came_ - went_;
  const bool proven = left.lower() > 1e-6 * W && left.off() < 1e-12 * now && std::isfinite(primal) &&
                      std::isfinite(gap) && std::isfinite(rounding);
  c.upper = proven ? std::max(0.0, primal + rounding) : infinity;
  c.lower = proven ? std::max(0.0, primal - rounding - gap) : 0.0;
  if (proven) bend(c, *point, slack + 4 * rounding, progress);
  set_minimum_gap(c);
  model.dual_point = nullptr;
  if (proven) model.dual_point = std::move(point);
  return model;
}

}  // namespace margin
