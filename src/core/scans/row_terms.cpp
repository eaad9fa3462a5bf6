#include "core/scans/row_terms.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/random.hpp"
#include "core/scans/answered_check.hpp"

namespace margin {

RowTerms::RowTerms(Question question)
    : q_(std::move(question)),
      units_(q_.column_center, q_.column_scale),
      columns_(q_.columns),
      outputs_(static_cast<std::size_t>(q_.outputs())) {
  for (std::size_t c = 0; c < q_.class_names.size(); ++c)
    index_.emplace(q_.class_names[c], static_cast<std::int32_t>(c));
  AnswerForm& form = term_.form;
  const auto k = static_cast<std::int32_t>(outputs_), classes = static_cast<std::int32_t>(q_.class_names.size());
  if (q_.kind == Question::Kind::summary) {
    // W; Σ c y, Σ c y²; the largest norm, weight, size of a finite end. Targets are less the offset.
    reductions_ = "+++>>>";
    form.vectors = q_.sums ? 2 : static_cast<std::int32_t>(q_.group_count());  // Σ c x, Σ c y x
    form.matrices = q_.curvature ? 1 : 0;
    form.bags = 1;
    // Asked about all, and in their own units: what comes next may be asked about those in use.
    form.columns = q_.columns.empty() && q_.column_center.empty();
    const bool finds_groups = !q_.group_features.empty() && q_.groups.empty();
    form.labels = finds_groups || (q_.group_features.empty() && q_.outcome == Dataset::Outcome::classes);
    group_.resize(q_.group_features.size());
    for (std::size_t g = 0; g < q_.group_count(); ++g) {
      const auto begin = q_.groups.begin() + static_cast<std::ptrdiff_t>(g * group_.size());
      place_.emplace(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(group_.size())), g);
    }
    if (!q_.search.empty()) {
      search_.emplace(q_.search);
      reductions_ += TargetSearch::reductions;
      form.cells = TargetSearch::cells;
    }
  } else if (q_.kind == Question::Kind::risk) {
    ask_risk(q_);
    for (const Question& other : q_.beside) ask_risk(other);
  } else {
    const ModelVectors vectors{q_.weights.data(), q_.intercept ? q_.intercepts.data() : nullptr, nullptr};
    check_ = make_check(q_.objective(), vectors, false);
    reductions_ = check_->reductions();
    checked_ = reductions_.size();
    if (q_.kind == Question::Kind::margin) {
      // Of the l2 margin the smallest score_a − score_c for each pair of classes; of others, of each output the smallest
      // score of its own rows, and the smallest of the negative score of the rest. Without intercepts.
      reductions_.append(
          q_.norm == 2 ? static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes) : 2 * outputs_, '<');
      form.bags = q_.norm == 2 ? classes : 2 * k;
    } else {
      form.bags = 1;
    }
  }
  form.question = hash_bytes(q_.bytes(), 0);
  form.reductions = reductions_;
  form.dimensions = q_.width();
  form.constant = q_.intercept_column();
  form.bag_rows = q_.bag_rows;
  form.bag_bytes = q_.bag_bytes;
  form.bag_small = q_.bag_small;
  form.parts = q_.parts;
  numbers_.resize(reductions_.size());
  coefficients_.resize(std::max(outputs_, static_cast<std::size_t>(form.vectors)));
  std::size_t most_cells = 1, most_added = risks_.empty() ? coefficients_.size() : 0;
  for (const RiskTerms& risk : risks_) {
    most_cells += static_cast<std::size_t>(risk.cells_of_row());
    most_added += static_cast<std::size_t>(risk.vectors_of_row());
  }
  cells_.resize(most_cells);
  added_.resize(most_added);
  curvatures_.resize(static_cast<std::size_t>(form.matrices));
  keys_.resize(static_cast<std::size_t>(form.bags));
  scores_.resize(outputs_);
  skipped_ = term_;
  skipped_.skipped = true;
  for (Term* const t : {&term_, &skipped_}) {
    t->numbers = numbers_.data();
    t->coefficients = added_.data();
    t->curvatures = curvatures_.data();
    t->keys = keys_.data();
    t->cells = cells_.data();
  }
}

/// One more risk, whose numbers and sums come behind those of the risks before it.
void RowTerms::ask_risk(const Question& question) {
  const RiskTerms& risk = risks_.emplace_back(question);
  AnswerForm& form = term_.form;
  reductions_ += risk.reductions();
  form.vectors += risk.vectors();
  form.matrices += risk.matrices();
  form.bags += risk.bags();
  form.cells += risk.cells();
  const Loss& loss = risk.loss();
  const auto count = static_cast<std::size_t>(risk.outputs());
  const std::size_t from = scored_;
  scored_ += count;
  for (LossPoints* const points : {&points_.here, &points_.there}) points->resize(scored_);
  if (joint_of(&loss) != nullptr) return;  // sees the scores of all classes at once
  if (losses_.empty() || losses_.back().from + losses_.back().count != from ||
      losses_.back().loss->name() != loss.name() || losses_.back().loss->parameters() != loss.parameters())
    losses_.push_back({&loss, evaluate_points(loss), from, 0, false});
  losses_.back().count += count;
  losses_.back().there |= risk.aims() && question.bag_rows > 0 && points_evaluate_together(loss);
}

std::int32_t RowTerms::class_index(std::string_view name) const {
  const auto found = index_.find(name);
  if (found != index_.end()) return found->second;
  throw Error(ErrorKind::invalid_value, "the label \"" + std::string(name) + "\" is none of the question's classes",
              "Ask a summary of the same rows first: it finds the classes.");
}

const Term& RowTerms::skipped() {
  std::fill(numbers_.begin(), numbers_.end(), 0.0);
  std::fill(curvatures_.begin(), curvatures_.end(), 0.0);
  std::fill(keys_.begin(), keys_.end(), infinity);
  return skipped_;
}

void RowTerms::fit(const FeatureRow& x) const {
  if (q_.dimensions == 0) return;
  const std::int32_t found = x.indices != nullptr ? std::max(x.dimensions, reach(x)) : x.count;
  if (x.indices != nullptr ? found <= q_.dimensions && (x.dimensions == 0 || x.dimensions == q_.dimensions)
                           : found == q_.dimensions)
    return;
  throw Error(ErrorKind::wrong_dimensions,
              "expected " + std::to_string(q_.dimensions) + " features, not " + std::to_string(found),
              "All rows of one training must have the same number of features.");
}

/// The row in the columns of the question.
FeatureRow RowTerms::placed(const FeatureRow& x) {
  if (q_.columns.empty()) return x;
  const Row own = columns_.place(x);
  if (!columns_.all())
    throw Error(ErrorKind::invalid_value, "a row has a feature that the question does not ask about",
                "A question of a wide model asks about the features of its training: margin_verify takes others.");
  return {own, q_.width()};
}

const Term& RowTerms::term(const FeatureRow& x, const RowLabel& label, std::int32_t label_class, double weight) {
  const double square = squared_norm(x);
  if (!std::isfinite(square)) require_finite(x, "WHERE");  // the sum of the squares tells of each of them
  fit(x);
  term_.sparse_input = x.indices != nullptr;
  const FeatureRow own = placed(x);
  term_.x = units_.empty() ? own : units_.row(own, values_);
  length_ = term_.x.values == x.values && term_.x.count == x.count ? norm(x, square) : norm(term_.x);
  term_.label = q_.kind == Question::Kind::summary ? label.name : std::string_view{};
  term_.label_key = q_.kind == Question::Kind::summary ? label.key : 0;
  term_.label_number = q_.kind == Question::Kind::summary && label.number;
  term_.label_class = label_class;
  term_.lower = label.lower;
  term_.upper = label.upper;
  term_.weight = weight;
  const std::string_view name =
      label_class < 0 ? label.name : std::string_view(q_.class_names[static_cast<std::size_t>(label_class)]);
  term_.fingerprint = fingerprint_of(x, name, label.lower, label.upper, weight);
  row_.x = term_.x;
  row_.label = label_class;
  row_.target = label.lower;
  row_.upper_target = label.upper;
  row_.sample_weight = weight;
  row_.loss_weight = weight * q_.weight_of_class(static_cast<std::size_t>(label_class));
  switch (q_.kind) {
    case Question::Kind::summary:
      // The same sample whatever the order.
      keys_[0] = static_cast<double>(Random(term_.fingerprint.low ^ q_.seed).next() >> 11) * 0x1.0p-53;
      summary(weight);
      if (!group_.empty()) group(weight, label.name);
      add_coefficients();
      break;
    case Question::Kind::risk:
      risks();
      break;
    case Question::Kind::margin:
      margins();
      break;
    case Question::Kind::interpolation:
      interpolation();
      break;
  }
  return term_;
}

void RowTerms::summary(double weight) {
  const bool targets = q_.outcome == Dataset::Outcome::targets;
  const double offset = q_.offset >= 0 && q_.offset < reach(term_.x) ? value_at(term_.x, q_.offset) : 0.0;
  const double y = targets ? (term_.lower - q_.target_center) / q_.target_scale - offset : 0.0;
  double size = 0;
  for (const double end : {term_.lower, term_.upper})
    if (q_.outcome != Dataset::Outcome::classes && std::isfinite(end)) size = std::max(size, std::fabs(end - offset));
  numbers_[0] = weight;
  numbers_[1] = weight * y;
  numbers_[2] = weight * y * y;
  numbers_[3] = length_;
  numbers_[4] = weight;
  numbers_[5] = size;
  if (!std::isfinite(numbers_[3]))
    throw Error(ErrorKind::invalid_value, "the norm of a row overflows: its features are too large",
                "Scale the features, or leave such rows out with WHERE.");
  if (q_.sums) {
    coefficients_[0] = weight;
    coefficients_[1] = weight * y;
  }
  if (q_.curvature) curvatures_[0] = weight;
  term_.cell_count =
      search_.has_value() && search_->measure(term_.lower - offset, weight, numbers_.data() + 6, cells_[0]) ? 1 : 0;
}

/// Which group the row belongs to, or its part of the sums of that.
void RowTerms::group(double weight, std::string_view label) {
  for (std::size_t k = 0; k < group_.size(); ++k)
    group_[k] = q_.group_features[k] < reach(term_.x) ? value_at(term_.x, q_.group_features[k]) + 0.0 : 0;
  if (place_.empty()) {
    term_.label = group_label_ = group_label(group_);
    return;
  }
  std::fill(coefficients_.begin(), coefficients_.end(), 0.0);
  const auto found = place_.find(group_);
  if (found != place_.end() && (q_.group_class.empty() || q_.group_class == label))
    coefficients_[found->second] = weight;
}

void RowTerms::risks() {
  RiskTerms::Room room{numbers_.data(), curvatures_.data(), keys_.data(), added_.data(), cells_.data(), 0, 0};
  std::size_t at = 0;
  for (RiskTerms& risk : risks_) {
    risk.score(row_, points_, at);
    at += static_cast<std::size_t>(risk.outputs());
  }
  for (const OfLoss& of : losses_) {
    of.evaluate(*of.loss, of.from, of.count, points_.here);
    if (of.there) of.evaluate(*of.loss, of.from, of.count, points_.there);
  }
  at = 0;
  for (RiskTerms& risk : risks_) {
    risk.measure(length_, points_, at, room);
    at += static_cast<std::size_t>(risk.outputs());
  }
  term_.coefficient_count = static_cast<std::int32_t>(room.coefficients - added_.data());
  term_.cell_count = static_cast<std::int32_t>(room.cells - cells_.data());
}

/// Those that are not 0, of as many as there are vectors.
void RowTerms::add_coefficients() {
  term_.coefficient_count = 0;
  for (std::int32_t k = 0; k < term_.form.vectors; ++k) {
    const double c = coefficients_[static_cast<std::size_t>(k)];
    if (c != 0) added_[static_cast<std::size_t>(term_.coefficient_count++)] = {k, c};
  }
}

void RowTerms::margins() {
  check_->measure(row_, numbers_.data(), coefficients_.data());
  double* const least = numbers_.data() + checked_;
  std::fill(numbers_.begin() + static_cast<std::ptrdiff_t>(checked_), numbers_.end(), infinity);
  std::fill(keys_.begin(), keys_.end(), infinity);
  for (std::size_t o = 0; o < outputs_; ++o)
    scores_[o] = dot(term_.x, q_.weights.row(static_cast<Eigen::Index>(o)).data());
  const auto b = [&](std::size_t o) { return q_.intercept ? q_.intercepts(static_cast<Eigen::Index>(o)) : 0.0; };
  const auto own = static_cast<std::size_t>(row_.label), classes = q_.class_names.size();
  if (q_.norm != 2) {
    for (std::size_t o = 0; o < outputs_; ++o) {
      const bool in = outputs_ == 1 ? own == 1 : own == o;
      const std::size_t side = 2 * o + (in ? 1 : 0);
      least[side] = in ? scores_[o] : -scores_[o];
      keys_[side] = least[side] + (in ? b(o) : -b(o));
    }
  } else if (outputs_ == 1) {
    const double sign = own == 1 ? 1 : -1;
    least[own * classes + 1 - own] = sign * scores_[0];
    keys_[own] = sign * (scores_[0] + b(0));
  } else {
    for (std::size_t c = 0; c < classes; ++c) {
      if (c == own) continue;
      const double m = scores_[own] - scores_[c];
      least[own * classes + c] = m;
      keys_[own] = std::min(keys_[own], m + b(own) - b(c));
    }
  }
  for (double& key : keys_)
    if (std::isnan(key)) key = -std::numeric_limits<double>::max();
}

void RowTerms::interpolation() {
  check_->measure(row_, numbers_.data(), coefficients_.data());
  keys_[0] = numbers_[2];  // how far inside of its interval the row is: the smallest is missed most
}

}  // namespace margin
