#include "core/problem/constraints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/error.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/penalty.hpp"
#include "core/problem/problem.hpp"

namespace margin {

namespace {

const char* const option = "constraints";
constexpr std::int32_t most_others = 1 << 20;

/// Of all others.
void require_few(std::int32_t features) {
  if (features <= most_others) return;
  throw Error(ErrorKind::limit_exceeded,
              "option \"constraints\" names all others of more than " + std::to_string(most_others) + " features",
              "Name the features that are to be constrained by their numbers.");
}

/// Coefficients by features, and that of all others, of rows of `features` features.
std::map<std::int32_t, double> coefficients(const NamedConstraint& c, std::int32_t features) {
  std::map<std::int32_t, double> out;
  for (const auto& [key, coefficient] : c.weights)
    if (key != all_others) out[static_cast<std::int32_t>(numbered(option, key, features))] = coefficient;
  const auto others = c.weights.find(all_others);
  if (others == c.weights.end()) return out;
  require_few(features);
  for (std::int32_t j = 0; j < features; ++j) out.emplace(j, others->second);
  return out;
}

}  // namespace

void name_constraints(Options& options, const Encoder& encoder) {
  for (NamedConstraint& c : options.constraints) {
    std::map<std::string, double> weights;
    const auto put = [&](std::int32_t j, double coefficient) {
      return weights.emplace(std::to_string(j + 1), coefficient / encoder.scale(j)).second;
    };
    for (const auto& [key, coefficient] : c.weights) {
      if (key == all_others) continue;
      for (const std::int32_t j : features_named(option, key, encoder))
        if (!put(j, coefficient))
          throw Error(ErrorKind::invalid_option,
                      "option \"constraints\" names the feature \"" + encoder.feature_name(j) + "\" twice",
                      "A column stands for all of its features: name it, or those that are meant.");
    }
    if (const auto others = c.weights.find(all_others); others != c.weights.end()) {
      require_few(encoder.width());
      for (std::int32_t j = 0; j < encoder.width(); ++j) put(j, others->second);
    }
    c.weights = std::move(weights);
  }
}

void list_constraints(Options& options, std::int32_t features, const std::vector<std::int32_t>* columns) {
  for (NamedConstraint& c : options.constraints) {
    std::map<std::string, double> weights;
    for (const auto& [j, coefficient] : coefficients(c, features)) {
      std::int64_t at = j;
      if (columns != nullptr) {
        const auto found = std::lower_bound(columns->begin(), columns->end(), j);
        if (found == columns->end() || *found != j) continue;
        at = found - columns->begin();
      }
      weights[std::to_string(at + 1)] = coefficient;
    }
    c.weights = std::move(weights);
  }
}

Constraints weight_constraints(const Options& options, std::int32_t features,
                               const std::vector<std::int32_t>* columns) {
  Constraints out;
  Options own;
  own.constraints = options.constraints;
  list_constraints(own, features, columns);
  for (const NamedConstraint& c : own.constraints) {
    for (const auto& [j, coefficient] :
         coefficients(c, columns != nullptr ? static_cast<std::int32_t>(columns->size()) : features))
      out.rows.push(j, coefficient);
    out.rows.end_row();
    out.lower.push_back(c.lower);
    out.upper.push_back(c.upper);
  }
  return out;
}

std::vector<std::int32_t> constrained_features(const Options& options, std::int32_t features) {
  std::vector<std::int32_t> out;
  for (const NamedConstraint& c : options.constraints)
    for (const auto& [j, coefficient] : coefficients(c, features)) out.push_back(j);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

ConstrainedQp step_within(const Constraints& c, const std::vector<double>& low, const std::vector<double>& high,
                          const std::vector<double>& w, const std::vector<double>& r) {
  constexpr double share = met_constraint / 4;
  ConstrainedQp qp{nullptr, r, c.rows, c.lower, c.upper, {}, {}};
  for (std::size_t k = 0; k < c.count(); ++k) {
    const double value = c.rows.product(k, w.data());
    qp.lower[k] -= value;
    qp.upper[k] = c.lower[k] == c.upper[k] ? qp.lower[k] : qp.upper[k] - value;
    const double end = std::isfinite(c.lower[k]) ? c.lower[k] : c.upper[k];
    qp.row_room.push_back(share * (c.rows.size(k, w.data()) + std::fabs(end)));
  }
  for (std::size_t j = 0; j < low.size(); ++j) {
    qp.low.push_back(low[j] - w[j]);
    qp.high.push_back(high[j] - w[j]);
    qp.room.push_back(4 * std::numeric_limits<double>::epsilon() * std::fabs(w[j]));
  }
  return qp;
}

namespace {

/// Between which ends each weight lies, empty without bounds; that of an offset is known.
void list_ends(const Statement& s, std::size_t features, std::vector<double>& low, std::vector<double>& high) {
  constexpr double none = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; !s.bounds.empty() && j < features; ++j) {
    const bool held = !s.penalises(static_cast<std::int32_t>(j));
    low.push_back(held ? -none : s.bounds.least(j));
    high.push_back(held ? none : s.bounds.most(j));
  }
}

}  // namespace

std::vector<double> best_multipliers(const Statement& s, const double* w, const Eigen::VectorXd& v,
                                     const Progress& progress) {
  const auto d = static_cast<std::size_t>(v.size());
  std::vector<double> low, high, r(d, 0.0);
  list_ends(s, d, low, high);
  for (std::size_t j = 0; j < d; ++j)
    if (s.penalises(static_cast<std::int32_t>(j))) r[j] = w[j] - v(static_cast<Eigen::Index>(j)) / s.lambda;
  QpSolution found = solve_constrained_qp(step_within(s.constraints, low, high, {w, w + d}, r), progress);
  if (found.ending != QpSolution::Ending::solved) return std::vector<double>(s.constraints.count(), 0.0);
  for (double& nu : found.multipliers) nu *= s.lambda;
  return std::move(found.multipliers);
}

namespace {

/// "a", "b" and "c"
std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t k = 0; k < names.size(); ++k)
    out += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + ("\"" + names[k] + "\"");
  return out;
}

[[noreturn]] void refuse_all(const QpSolution& s, const Options& options, bool bounded) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < s.multipliers.size() && k < options.constraints.size(); ++k)
    if (s.multipliers[k] != 0) names.push_back(options.constraints[k].name);
  const std::string beside = bounded ? " together with the bounds" : "";
  if (s.ending != QpSolution::Ending::contradiction || names.empty())
    throw Error(ErrorKind::invalid_option, "no weights were found that meet all constraints" + beside,
                "Give them in units in which coefficients and ends are of similar size.");
  if (names.size() == 1)
    throw Error(ErrorKind::invalid_option, "no weights meet the constraint " + list_of(names) + beside);
  throw Error(ErrorKind::invalid_option, "no weights meet the constraints " + list_of(names) + beside,
              "They contradict each other: without one of them the others could be met.");
}

}  // namespace

void meet_constraints(const Problem& p, const Options& options, std::vector<double>& w, const Progress& progress) {
  const auto d = static_cast<std::size_t>(p.dimensions());
  std::vector<double> low, high;
  list_ends(p, d, low, high);
  for (std::size_t j = 0; j < low.size(); ++j) w[j] = std::clamp(w[j], low[j], high[j]);
  if (p.constraints.empty() || p.constraints.missed(w.data()) == 0) return;
  std::vector<double> own(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(d));
  const QpSolution s =
      solve_constrained_qp(step_within(p.constraints, low, high, own, std::vector<double>(d, 0.0)), progress);
  for (std::size_t j = 0; j < d; ++j) {
    w[j] += s.d[j];
    if (!low.empty()) w[j] = std::clamp(w[j], low[j], high[j]);
  }
  if (s.ending != QpSolution::Ending::solved || !(p.constraints.missed(w.data()) <= met_constraint))
    refuse_all(s, options, !low.empty());
}

void require_constraints_fit(const Problem& p, const Options& s) {
  const auto asked = [&](const char* name) { return std::find(s.given.begin(), s.given.end(), name) != s.given.end(); };
  const std::string by = asked("fairness") && !asked(option) ? "fairness" : option;
  require_held_weights(p, s, by);
  if (s.l1_ratio > 0)
    throw Error(ErrorKind::unsupported, "option \"" + by + "\" is not used with an l1_ratio above 0",
                "Leave l1_ratio out; bounds of single weights go with it.");
  for (const std::int32_t j : p.constraints.rows.feature)
    if (j == p.offset)
      throw Error(ErrorKind::invalid_option, "option \"constraints\" names the offset_feature, whose weight is known",
                  "Leave it out of the constraints, and its weight of 1 out of their ends.");
}

}  // namespace margin
