#include "core/report/explain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/write_number.hpp"
#include "core/model/column_weights.hpp"

namespace margin {

namespace {

/// Days since 1970-01-01 as a date of the Gregorian calendar, with the time of the day where there is one.
std::string date(double days) {
  if (!(std::fabs(days) < 3e8)) return shortest(days);
  // Years begin in March here, so that a leap day is the last of its year; 719468 days lie between 0000-03-01 and 1970.
  const auto seconds = static_cast<std::int64_t>(std::llround(days * 86400));
  std::int64_t day = seconds / 86400, rest = seconds % 86400;
  if (rest < 0) --day, rest += 86400;
  const std::int64_t since = day + 719468, era = (since >= 0 ? since : since - 146096) / 146097,
                     of_era = since - era * 146097;
  const std::int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  const auto d = static_cast<int>(of_year - (153 * month + 2) / 5 + 1),
             m = static_cast<int>(month < 10 ? month + 3 : month - 9);
  char text[64];
  int size = std::snprintf(text, sizeof text, "%04lld-%02d-%02d",
                           static_cast<long long>(year + era * 400 + (m <= 2 ? 1 : 0)), m, d);
  if (rest > 0)
    size += std::snprintf(text + size, sizeof text - static_cast<std::size_t>(size), " %02d:%02d:%02d",
                          static_cast<int>(rest / 3600), static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return {text, static_cast<std::size_t>(size)};
}

std::string shown(ColumnKind kind, double cell) {
  if (kind == ColumnKind::boolean) return cell != 0 ? "true" : "false";
  return kind == ColumnKind::date ? date(cell) : shortest(cell);
}

/// A feature as its column has it, not standardised.
double own_value(const Encoder& encoder, const Cells& cells, std::int32_t feature) {
  const Encoder::Place at = encoder.place(feature);
  if (encoder.pair(at) != nullptr) return 1;
  const Column& c = encoder.columns()[at.column];
  const auto value = static_cast<std::size_t>(at.value);
  if (at.value == c.values() || c.kind == ColumnKind::category) return 1;
  if (c.binned()) return std::isnan(cells.values[at.column]) ? c.fill[0] : cells.values[at.column];
  if (std::isnan(cells.values[at.column])) return c.fill.empty() ? 0 : c.fill[value];
  return scalar(c.kind) ? cells.values[at.column] : value_at(cells.blocks[at.column], at.value);
}

/// f(value, its place in the spread) of the values of a column that rows of the training had.
template <class F>
void for_each_known(const Column& c, F f) {
  const bool some = c.kind == ColumnKind::sparse;
  const std::size_t count = some ? c.spread->at.size() : static_cast<std::size_t>(c.values());
  for (std::size_t k = 0; k < count; ++k) f(some ? c.spread->at[k] : static_cast<std::int32_t>(k), k);
}

/// What the columns of one row add to the score of one output, counted from the means of the training.
class FromMeans {
 public:
  FromMeans(const Model& m, const Row& x, const Cells& cells, std::int32_t output, std::vector<Contribution>& out)
      : model_(m), encoder_(*m.encoder), row_(x), cells_(cells), output_(output), out_(out) {}

  void add_all() {
    double base = model_.intercept(output_);
    for (std::int32_t j = 0; j < model_.terms(); ++j)
      base += model_.weights(output_, j) * encoder_.mean(model_.feature(j));
    out_.push_back({output_, "(base)", 1, base});
    for (std::size_t j = 0; j < encoder_.columns().size(); ++j) {
      const Column& c = encoder_.columns()[j];
      if (block(c.kind))
        add_block(c, j);
      else
        add_column(c, j);
    }
    for (const PairTerm& p : encoder_.pairs()) add_pair(p);
  }

 private:
  // Features by their numbers in the columns, whether or not the encoder has dropped some.
  double weight(std::int32_t whole) const { return weight_in_column(model_, output_, whole); }
  double difference(std::int32_t whole) const {
    const double w = weight(whole);
    if (w == 0) return 0;
    const std::int32_t feature = encoder_.feature_of(whole);
    return w * (value_at(row_, feature) - encoder_.mean(feature));
  }
  void put(std::string name, double value, double contribution, const std::string& column,
           std::optional<std::string> shown) {
    out_.push_back({output_, std::move(name), value, contribution, column, std::move(shown)});
  }

  void add_column(const Column& c, std::size_t j) {
    double sum = 0;
    bool used = false;
    for (std::int32_t f = c.first, end = f + c.features().index("a column", "features"); f < end; ++f) {
      used = used || weight(f) != 0;
      sum += difference(f);
    }
    if (!used) return;
    const double cell = cells_.values[j];
    if (std::isnan(cell)) return put(c.name + " IS NULL", 1, sum, c.name, std::nullopt);
    if (scalar(c.kind)) return put(c.name, cell, sum, c.name, shown(c.kind, cell));
    if (cell < 0) return put(c.name + " is not known", 1, sum, c.name, "(not known)");
    const std::string& category = c.categories[static_cast<std::size_t>(cell)];
    put(c.name + "=" + category, 1, sum, c.name, category);
  }

  void add_pair(const PairTerm& p) {
    double mean = 0;
    bool used = false;
    for (std::int32_t k = 0; k < p.cells(); ++k) {
      used = used || weight(p.first + k) != 0;
      mean += weight(p.first + k) * p.share[static_cast<std::size_t>(k)];
    }
    if (!used) return;
    const std::int32_t cell = p.cell(cells_.values.data());
    const std::string text = cell < 0 ? "(not known)" : p.cell_text(cell);
    put(p.name(), 1, (cell < 0 ? 0 : weight(p.first + cell)) - mean, p.name(), text);
  }

  void add_element(const Column& c, std::size_t j, std::int32_t at) {
    const double added = difference(c.first + at);
    if (added == 0) return;
    const double value = value_at(cells_.blocks[j], at);
    const std::string name = encoder_.feature_name(encoder_.feature_of(c.first + at));
    if (c.kind == ColumnKind::set) return put(name, value, added, c.name, c.category(at));
    put(name, value, added, name, shortest(value));
  }

  void add_block(const Column& c, std::size_t j) {
    const bool missing = std::isnan(cells_.values[j]);
    if (c.missing && weight(c.first + c.values()) != 0)
      put(c.name + " IS NULL", missing ? 1 : 0, difference(c.first + c.values()), c.name, std::nullopt);
    if (c.kind == ColumnKind::dense) {  // a missing one is its mean
      for (std::int32_t at = 0; at < c.width && !missing; ++at) add_element(c, j, at);
      return;
    }
    const FeatureRow x = missing ? FeatureRow{} : cells_.blocks[j];
    for (std::int32_t k = 0; k < x.count; ++k) {
      const std::int32_t at = x.indices != nullptr ? x.indices[k] : k;
      if (at < c.values() && x.value(k) != 0) add_element(c, j, at);
    }
    double others = 0;  // that rows of the training have, and this one has not
    for_each_known(c, [&](std::int32_t at, std::size_t) {
      if (missing || value_at(x, at) == 0) others += difference(c.first + at);
    });
    if (others != 0) put(c.name + ": what the row has not", 0, others, c.name + ": what the row has not", std::nullopt);
  }

  const Model& model_;
  const Encoder& encoder_;
  const Row& row_;
  const Cells& cells_;
  std::int32_t output_;
  std::vector<Contribution>& out_;
};

/// The variance over the rows of the training of what a column adds to the score of one output.
double variance(const Model& m, const Column& c, std::int32_t output) {
  const auto weight = [&](std::int32_t value) { return weight_in_column(m, output, c.first + value); };
  const ColumnSpread& spread = *c.spread;
  const double missing = c.missing ? spread.missing : 0, of_missing = c.missing ? weight(c.values()) : 0;
  if (c.kind == ColumnKind::category) {
    const auto of = [&](std::size_t k) {
      const std::int32_t value = c.indicator_of(static_cast<std::int32_t>(k));
      return value < 0 ? 0.0 : weight(value);
    };
    double mean = missing * of_missing;
    for (std::size_t k = 0; k < c.categories.size(); ++k) mean += spread.mean[k] * of(k);
    double sum = missing * (of_missing - mean) * (of_missing - mean);
    for (std::size_t k = 0; k < c.categories.size(); ++k) sum += spread.mean[k] * (of(k) - mean) * (of(k) - mean);
    return sum;
  }
  if (c.binned()) {  // what a number adds is a step function of it; that of a missing one is where `fill` is
    double value = 0, mean = 0, square = 0, filled = 0, above = 1;
    const auto fill = c.bin(c.fill[0]);
    for (std::int32_t k = 0; k <= c.values(); ++k) {
      if (k > 0) value += weight(k - 1);
      const double next = k < c.values() ? spread.mean[static_cast<std::size_t>(k)] : 0;
      mean += (above - next) * value;
      square += (above - next) * value * value;
      if (k == fill) filled = value;
      above = next;
    }
    return std::max(0.0, square - mean * mean) + missing * (1 - missing) * of_missing * of_missing +
           2 * missing * of_missing * (filled - mean);
  }
  // A missing number is the mean: its indicator and the number do not vary together.
  double sum = missing * (1 - missing) * of_missing * of_missing;
  for_each_known(c, [&](std::int32_t value, std::size_t k) {
    const double mean = c.kind == ColumnKind::set ? spread.mean[k] : 0;
    const double deviation =
        c.kind == ColumnKind::set ? std::sqrt(std::max(0.0, mean * (1 - mean))) : spread.deviation[k];
    const double added = weight(value) * deviation / (c.scale.empty() ? 1 : c.scale[k]);
    sum += added * added;
  });
  return sum;
}

double variance(const Model& m, const PairTerm& p, std::int32_t output) {
  const auto weight = [&](std::int32_t cell) { return weight_in_column(m, output, p.first + cell); };
  double mean = 0, sum = 0, all = 0;
  for (std::int32_t k = 0; k < p.cells(); ++k) mean += p.share[static_cast<std::size_t>(k)] * weight(k);
  for (std::int32_t k = 0; k < p.cells(); ++k) {
    const double share = p.share[static_cast<std::size_t>(k)];
    sum += share * (weight(k) - mean) * (weight(k) - mean);
    all += share;
  }
  return sum + std::max(0.0, 1 - all) * mean * mean;  // rows in no cell
}

}  // namespace

std::string feature_name(const Model& model, std::int32_t feature) {
  return model.encoder != nullptr ? model.encoder->feature_name(feature) : "feature " + std::to_string(feature + 1);
}

std::vector<Contribution> contributions(const Model& m, const Row& x, const Cells* cells) {
  std::vector<Contribution> out;
  for (std::int32_t o = 0; o < m.outputs(); ++o) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    if (cells != nullptr && m.encoder->knows_means()) {
      FromMeans(m, x, *cells, o, out).add_all();
    } else {
      out.push_back({o, "(intercept)", 1, m.intercept(o)});
      for (std::int32_t k = 0; k < x.count; ++k) {
        const std::int32_t feature = x.indices != nullptr ? x.indices[k] : k;
        const std::int32_t term = term_of(m, feature);
        const double v = x.value(k);
        if (v == 0 || term < 0) continue;
        const std::string name = feature_name(m, feature);
        const double value = cells != nullptr ? own_value(*m.encoder, *cells, feature) : v;
        out.push_back({o, name, value, m.weights(o, term) * v, name, shortest(value)});
      }
    }
    std::stable_sort(out.begin() + first, out.end(), [](const Contribution& a, const Contribution& b) {
      return std::fabs(a.contribution) > std::fabs(b.contribution);
    });
  }
  return out;
}

std::vector<Reason> reasons(const Model& m, const Row& x, const Cells* cells, std::int32_t most) {
  const std::vector<Contribution> all = contributions(m, x, cells);
  std::vector<Reason> out;
  for (std::int32_t o = 0; o < m.outputs(); ++o)
    for (const bool in_favour : {false, true}) {
      std::int32_t rank = 0;
      for (const Contribution& c : all) {
        if (c.output != o || c.column.empty() || rank == most) continue;
        if (in_favour ? c.contribution > 0 : c.contribution < 0)
          out.push_back({o, in_favour, ++rank, c.column, c.shown, c.contribution});
      }
    }
  return out;
}

std::vector<Importance> importance(const Model& m) {
  std::vector<Importance> out;
  if (m.encoder == nullptr) {
    const auto squares = m.weights.colwise().squaredNorm();
    for (std::int32_t j = 0; j < m.terms(); ++j) out.push_back({feature_name(m, m.feature(j)), squares(j), 0});
  } else if (m.encoder->knows_means()) {
    for (const Column& c : m.encoder->columns()) {
      double sum = 0;
      for (std::int32_t o = 0; o < m.outputs(); ++o) sum += variance(m, c, o);
      out.push_back({c.name, sum, 0});
    }
    for (const PairTerm& p : m.encoder->pairs()) {
      double sum = 0;
      for (std::int32_t o = 0; o < m.outputs(); ++o) sum += variance(m, p, o);
      out.push_back({p.name(), sum, 0});
    }
  } else {
    const auto squares = m.weights.colwise().squaredNorm();
    for (std::size_t t = 0; t < m.encoder->terms(); ++t) out.push_back({m.encoder->term_name(t), 0, 0});
    for (std::int32_t j = 0; j < m.terms(); ++j) out[m.encoder->place(m.feature(j)).column].norm += squares(j);
  }
  double all = 0;
  for (const Importance& i : out) all += i.norm;
  for (Importance& i : out) {
    i.share = all > 0 ? i.norm / all : 0;
    i.norm = std::sqrt(i.norm);
  }
  std::stable_sort(out.begin(), out.end(), [](const Importance& a, const Importance& b) { return a.norm > b.norm; });
  return out;
}

}  // namespace margin
