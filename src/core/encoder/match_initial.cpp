#include "core/encoder/match_initial.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/base/error.hpp"

namespace margin {

namespace {

constexpr double feature_work = 1024;  // of a name, written and looked up

/// What a feature is of: the column, and its category, element or that it is missing. No name holds a zero byte.
std::string key_of(const Encoder& e, std::int32_t feature) {
  const Encoder::Place at = e.place(feature);
  if (const PairTerm* pair = e.pair(at)) return pair->name() + '\0' + pair->cell_text(at.value);  // of the same levels
  const Column& c = e.columns()[at.column];
  const std::string column = c.name + '\0';
  if (at.value == c.values()) return column + "null";
  if (listed(c.kind)) return column + "=" + c.category(at.value);
  if (c.binned()) return column + e.feature_name(feature);  // of the same threshold
  return column + std::string(kind_name(c.kind)) + std::to_string(at.value);
}

/// The weights of one output, by what they are of.
class OldWeights {
 public:
  /// `features`: of the weights; empty: all.
  OldWeights(const Encoder& old, const std::unordered_map<std::string, std::int32_t>& places,
             const std::vector<std::int32_t>& features, const double* weights)
      : old_(old), places_(places), features_(features), weights_(weights) {}

  double weight(const std::string& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? 0 : weights_[found->second];
  }
  /// Of a number: w (x − c)/s as w' (x − c')/s' and what is left over.
  double moved(const Encoder& now, std::int32_t feature, double& intercept) const {
    const auto found = places_.find(key_of(now, feature));
    if (found == places_.end() || weights_[found->second] == 0) return 0;
    const std::int32_t before = feature_of(found->second);
    const double slope = weights_[found->second] / old_.scale(before);
    intercept += slope * (now.center(feature) - old_.center(before));
    return slope * now.scale(feature);
  }

 private:
  std::int32_t feature_of(std::int32_t term) const {
    return features_.empty() ? term : features_[static_cast<std::size_t>(term)];
  }
  const Encoder& old_;
  const std::unordered_map<std::string, std::int32_t>& places_;
  const std::vector<std::int32_t>& features_;
  const double* weights_;
};

}  // namespace

MatchedFeatures match_initial(InitialModel& initial, const Encoder& now, const Progress& progress) {
  MatchedFeatures out;
  if (!std::holds_alternative<Value::Object>(initial.encoder.data)) return out;
  const std::unique_ptr<const Encoder> old = Encoder::from_value(initial.encoder);
  const std::size_t terms = initial.columns.empty() ? static_cast<std::size_t>(old->width()) : initial.columns.size();
  const std::size_t outputs = terms > 0 ? initial.weights.size() / terms : 0;
  const bool listed = initial.columns.empty() || initial.columns.back() < old->width();
  if (!listed || terms == 0 || outputs * terms != initial.weights.size() ||
      (!initial.intercept.empty() && initial.intercept.size() != outputs))
    throw Error(ErrorKind::wrong_dimensions, "the initial model has other weights than its encoder has features",
                "Start from a model as train_margin returned it.");
  std::unordered_map<std::string, std::int32_t> places;
  for (std::size_t k = 0; k < terms; ++k) {
    const auto term = static_cast<std::int32_t>(k);
    progress.work(feature_work);
    places.emplace(key_of(*old, initial.columns.empty() ? term : initial.columns[k]), term);
  }
  std::unordered_map<std::string, bool> kept;
  for (std::int32_t f = 0; f < now.width(); ++f) {
    const std::string key = key_of(now, f);
    progress.work(feature_work);
    kept.emplace(key, true);
    if (places.count(key) == 0) out.fresh.push_back(now.feature_name(f));
  }
  for (const auto& [key, term] : places)  // in any order, hence sorted
    if (kept.count(key) == 0)
      out.gone.push_back(
          old->feature_name(initial.columns.empty() ? term : initial.columns[static_cast<std::size_t>(term)]));
  std::sort(out.gone.begin(), out.gone.end());
  const auto width = static_cast<std::size_t>(now.width());
  std::vector<double> weights(outputs * width, 0.0), intercept = initial.intercept;
  if (intercept.empty()) intercept.assign(outputs, 0.0);
  for (std::size_t o = 0; o < outputs; ++o) {
    const OldWeights start(*old, places, initial.columns, initial.weights.data() + o * terms);
    double* to = weights.data() + o * width;
    for (std::int32_t f = 0; f < now.width(); ++f) {
      progress.work(feature_work);
      to[f] = start.moved(now, f, intercept[o]);
    }
    for (std::size_t j = 0; j < now.columns().size(); ++j) {
      const Column& c = now.columns()[j];
      if (c.base < 0) continue;
      // The weight that the category had which has no indicator now: the others count from it.
      const double from = start.weight(c.name + '\0' + "=" + c.categories[static_cast<std::size_t>(c.base)]);
      if (from == 0) continue;
      intercept[o] += from;
      for (std::int32_t f = now.starts()[j]; f < now.starts()[j + 1]; ++f) to[f] -= from;
    }
  }
  initial.weights = std::move(weights);
  initial.intercept = std::move(intercept);
  initial.columns.clear();
  initial.dimensions = now.width();
  initial.encoder = {};
  return out;
}

}  // namespace margin
