#include "core/model/model.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/data/stump_basis.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/joint.hpp"
#include "core/loss/margin_loss.hpp"
#include "core/loss/one_class.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/one_class.hpp"
#include "core/problem/target_units.hpp"
#include "core/simd/plain_dot.hpp"

namespace margin {

std::string_view status_name(Status status) {
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::separable:
      return "separable";
    case Status::not_separable:
      return "not_separable";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::time_limit:
      return "time_limit";
  }
  return "unknown";
}

std::int32_t offset_term(const Model& model, const Options& options) {
  if (options.offset.empty()) return -1;
  Options own;
  own.offset = options.offset;
  if (model.encoder != nullptr) name_offset(own, *model.encoder);
  const bool all = model.columns.empty();
  return offset_feature(own, all ? model.terms() : model.dimensions, all ? nullptr : &model.columns);
}

std::optional<Status> status_from(std::string_view name) {
  for (const Status s :
       {Status::optimal, Status::separable, Status::not_separable, Status::iteration_limit, Status::time_limit})
    if (name == status_name(s)) return s;
  return std::nullopt;
}

namespace {

/// Why a model with lambda 0 cannot be; empty where it can.
std::string refusal_of_likelihood(const Model& m) {
  if (!m.likelihood()) return {};
  if (m.basis != nullptr) return "must be above 0 in a model with a kernel";
  if (!(make_loss(m.loss, Options{})->self_concordance() < std::numeric_limits<double>::infinity()))
    return "must be above 0 in a model with the loss \"" + m.loss + "\"";
  if (m.outputs() != 1) return "must be above 0 in a model of more than two classes";
  return {};
}

std::optional<FieldConflict> conflict_of_one_class(const Model& m) {
  if (m.lambda != 1.0) return FieldConflict{"lambda", "must be 1 in a one-class model"};
  if (m.classes != std::vector<std::string>{outlier, inlier})
    return FieldConflict{"classes", "must be \"outlier\" and \"inlier\" in a one-class model"};
  if (m.norm != 2) return FieldConflict{"norm", "must be 2 in a model with lambda"};
  if (stumps_of(m.basis.get()) != nullptr) return FieldConflict{"lambda", "must be NULL in a model of stumps"};
  return std::nullopt;
}

}  // namespace

std::optional<FieldConflict> conflict_of(const Model& m) {
  const std::string named = m.loss.empty() ? "is NULL" : "is \"" + m.loss + "\"";
  if (m.regression()) {
    if (stumps_of(m.basis.get()) != nullptr)
      return FieldConflict{"classes", "is missing: a model of stumps tells classes apart"};
    const bool known = std::find(loss_names().begin(), loss_names().end(), m.loss) != loss_names().end();
    if (m.basis != nullptr && (m.loss == interpolate_loss || (known && make_loss(m.loss, Options{})->log_link())))
      return FieldConflict{"loss", named + ", which takes no kernel"};
    if (m.loss == interpolate_loss)
      return m.lambda ? std::optional(FieldConflict{"lambda", "must be NULL where targets are interpolated"})
                      : std::nullopt;
    if (!m.lambda && (m.loss.empty() || is_regression_loss(m.loss)))
      return FieldConflict{"classes", "is missing: a model without classes is a regression, which has a lambda"};
    if (!is_regression_loss(m.loss))
      return FieldConflict{"loss", named + ", which is not a loss of a regression, but the model has no classes"};
    if (const std::string reason = refusal_of_likelihood(m); !reason.empty()) return FieldConflict{"lambda", reason};
    return m.norm == 2 ? std::nullopt : std::optional(FieldConflict{"norm", "must be 2 in a model with lambda"});
  }
  if (m.loss == interpolate_loss || is_regression_loss(m.loss))
    return FieldConflict{"loss", named + ", a loss of a regression, but the model has classes"};
  if (!m.lambda) {
    if (m.loss.empty() || margin_loss(m.loss) != MarginLoss::none) return std::nullopt;
    return FieldConflict{"lambda", "is NULL, but the loss " + named + ", which needs one"};
  }
  if (m.loss == OneClass::id) return conflict_of_one_class(m);
  const auto& names = loss_names();
  if (std::find(names.begin(), names.end(), m.loss) == names.end())
    return FieldConflict{"loss", named + ", which is not a loss of a model with lambda"};
  if (const std::string reason = refusal_of_likelihood(m); !reason.empty()) return FieldConflict{"lambda", reason};
  if (m.norm != 2) return FieldConflict{"norm", "must be 2 in a model with lambda"};
  if (stumps_of(m.basis.get()) != nullptr) return FieldConflict{"lambda", "must be NULL in a model of stumps"};
  return std::nullopt;
}

std::optional<FieldConflict> conflict_of(const Model& m, const Options& s) {
  if ((m.intercept.array() != 0).any() && !s.intercept)
    return FieldConflict{"intercept", "is not 0, but the options say that there is none"};
  const std::string loss = m.loss.empty() ? "hinge" : m.loss;
  const bool counted = s.lambda.has_value() && s.label_unit.has_value() && is_regression_loss(loss);
  if (s.lambda.has_value() &&
      (counted ? lambda_in_label_units(*s.lambda, s, *make_loss(loss, s)) : *s.lambda) != m.lambda)
    return FieldConflict{"lambda", "is not that of the options"};
  if (!s.loss.empty() && s.loss != m.loss) return FieldConflict{"loss", "is not that of the options"};
  const KernelBasis* vectors = support_vectors_of(m.basis.get());
  const std::string_view kernel = vectors == nullptr ? "linear" : vectors->rows().kernel().name();
  if (!s.kernel.empty() && s.kernel != kernel) return FieldConflict{"kernel", "is not that of the options"};
  const bool told = s.sparse_norm || s.norm != 2;
  if (told && !(s.sparse_norm ? m.norm > 1 && m.norm <= 2 : m.norm == s.norm))
    return FieldConflict{"norm", "is not that of the options"};
  if (s.multiclass == Multiclass::joint) {
    if (m.regression() || !m.lambda || m.lambda == 0.0 || !has_joint_form(m.loss) || m.basis != nullptr ||
        s.l1_ratio > 0)
      return FieldConflict{
          "options",
          "say that classes were trained jointly, which no training does with this model's loss, lambda or kernel"};
  }
  if (s.learners != Learners::features && stumps_of(m.basis.get()) == nullptr)
    return FieldConflict{"stumps", "is NULL, but the options ask for them"};
  if (s.learners != Learners::features && s.learners != m.learners())
    return FieldConflict{"stumps", "has not what the options ask for: 2 columns for stumps, 6 for trees"};
  return std::nullopt;
}

Learners Model::learners() const {
  const StumpBasis* const stumps = stumps_of(basis.get());
  return stumps == nullptr ? Learners::features : stumps->depth() == 1 ? Learners::stumps : Learners::trees;
}

bool Model::joint() const {
  const auto given = options.find("multiclass");
  const auto* const name = given == options.end() ? nullptr : std::get_if<std::string>(&given->second.data);
  return name != nullptr && *name == "joint";
}

bool Model::converts_scores() const { return !calibration.empty() || (logistic() && joint() && outputs() > 1); }

void Model::log_odds(const double* scores, double* out) const {
  if (!calibration.empty())
    calibration.log_odds(scores, out);
  else if (converts_scores())
    softmax_log_odds(scores, outputs(), out);
  else if (out != scores)
    std::copy_n(scores, outputs(), out);
}

std::optional<double> Model::quantile() const {
  if (loss != "quantile") return std::nullopt;
  const auto given = options.find("quantile");
  const double* const tau = given == options.end() ? nullptr : std::get_if<double>(&given->second.data);
  return tau == nullptr ? Options{}.quantile : *tau;
}

double Model::deviance(double score, double target) const {
  if (!log_link()) return 0;
  static const auto loss = make_loss("poisson", Options{});
  require_target(*loss, target, 0);
  return 2 * loss->value(score, target);
}

InitialModel start_from(const Model& m) {
  InitialModel start;
  start.weights.assign(m.weights.data(), m.weights.data() + m.weights.size());
  start.intercept.assign(m.intercept.data(), m.intercept.data() + m.intercept.size());
  if (m.dual_weights.has_value())
    start.dual_weights.assign(m.dual_weights->data(), m.dual_weights->data() + m.dual_weights->size());
  return start;
}

Scorer scorer_of(const Model& m) {
  Scorer s = scorer_of(m.weights, m.intercept, m.basis.get(), m.dimensions);
  if (!m.columns.empty()) s.columns = m.columns.data();
  s.column_count = static_cast<std::int32_t>(m.columns.size());
  if (m.encoder != nullptr && m.basis == nullptr) s.parts = m.encoder->starts().data();
  return s;
}

Scorer scorer_of(const Weights& weights, const Eigen::VectorXd& intercept, const Basis* basis,
                 std::int32_t dimensions) {
  return {static_cast<std::int32_t>(weights.rows()), dimensions, weights.data(), intercept.data(), basis};
}

namespace {

/// The values of a row in some of its columns, wherever both have one. It merges, in steps that double, so a short row
/// costs a few comparisons a value however many columns there are.
struct Gathered {
  std::vector<std::int32_t> indices;
  std::vector<double> values;

  Gathered(const Row& x, const std::int32_t* columns, std::int32_t count) {
    if (x.indices == nullptr) {
      values.resize(static_cast<std::size_t>(count));
      for (std::int32_t k = 0; k < count; ++k) values[static_cast<std::size_t>(k)] = x.value(columns[k]);
      return;
    }
    indices.reserve(static_cast<std::size_t>(std::min(x.count, count)));
    values.reserve(indices.capacity());
    const std::int32_t *at = columns, *const end = columns + count;
    for (std::int32_t k = 0; k < x.count && at != end; ++k) {
      std::ptrdiff_t step = 1;
      while (step < end - at && at[step] <= x.indices[k]) step *= 2;
      at = std::lower_bound(at + step / 2, at + std::min(step, end - at), x.indices[k]);
      if (at == end || *at != x.indices[k]) continue;
      indices.push_back(static_cast<std::int32_t>(at - columns));
      values.push_back(x.value(k));
    }
  }
  Row row(bool dense) const {
    const auto n = static_cast<std::int32_t>(values.size());
    if (dense) return dense_row(values.data(), n);
    return sparse_row(indices.data(), values.data(), n, 0);
  }
};

double plain_dot(const Row& x, const double* w) {
  if (x.indices != nullptr) return dot(x, w);
  const auto n = static_cast<std::size_t>(x.count);
  return x.wide ? plain_dots().of_doubles(x.doubles(), w, n) : plain_dots().of_floats(x.floats(), w, n);
}

/// The columns of an encoder one after the other, of a dense row with all features.
double dot_of_columns(const Scorer& model, const Row& x, const double* w) {
  const PlainDots& dots = plain_dots();
  double sum = 0;
  for (const std::int32_t* at = model.parts; *at < x.count; ++at) {
    const std::int32_t n = at[1] - at[0];
    if (n == 1)
      sum += plain_product(x.value(*at), w[*at]);
    else if (n > 1)
      sum += x.wide ? dots.of_doubles(x.doubles() + *at, w + *at, static_cast<std::size_t>(n))
                    : dots.of_floats(x.floats() + *at, w + *at, static_cast<std::size_t>(n));
  }
  return sum;
}

/// The same for some features, those of a column from the left.
double dot_of_listed(const Scorer& model, const Row& x, const double* w) {
  const std::int32_t* at = model.parts;
  double sum = 0, part = 0;
  for (std::int32_t k = 0; k < x.count; ++k) {
    const std::int32_t term = x.indices != nullptr ? x.indices[k] : k;
    const std::int32_t feature = model.columns != nullptr ? model.columns[term] : term;
    if (feature >= at[1]) {
      sum += part;
      part = 0;
      while (feature >= at[1]) ++at;
    }
    part += plain_product(x.value(k), w[term]);
  }
  return sum + part;
}

}  // namespace

void score(const Scorer& model, const Row& x, std::int32_t row_dimensions, double* scores) {
  if (row_dimensions != model.dimensions)
    throw Error(ErrorKind::wrong_dimensions, "the model expects " + std::to_string(model.dimensions) +
                                                 " features, not " + std::to_string(row_dimensions));
  if (model.basis != nullptr) {
    std::vector<double> values(static_cast<std::size_t>(model.basis->size()));
    model.basis->evaluate(x, values.data());
    const Row terms{values.data(), nullptr, model.basis->size(), true};
    for (std::int32_t o = 0; o < model.outputs; ++o)
      scores[o] = plain_dot(terms, model.weights + static_cast<std::ptrdiff_t>(o) * terms.count) + model.intercept[o];
    return;
  }
  const bool listed = model.columns != nullptr;
  std::optional<Gathered> known;
  if (listed) known.emplace(x, model.columns, model.column_count);
  const Row terms = listed ? known->row(x.indices == nullptr) : x;
  const std::int32_t stride = listed ? model.column_count : model.dimensions;
  for (std::int32_t o = 0; o < model.outputs; ++o) {
    const double* w = model.weights + static_cast<std::ptrdiff_t>(o) * stride;
    const double product = model.parts == nullptr               ? plain_dot(terms, w)
                           : listed || terms.indices != nullptr ? dot_of_listed(model, terms, w)
                                                                : dot_of_columns(model, terms, w);
    scores[o] = product + model.intercept[o];
  }
}

std::int32_t decide(std::int32_t outputs, const double* scores) {
  if (outputs == 1) return scores[0] > 0 ? 1 : 0;
  std::int32_t best = 0;
  for (std::int32_t o = 1; o < outputs; ++o)
    if (scores[o] > scores[best]) best = o;
  return best;
}

}  // namespace margin
