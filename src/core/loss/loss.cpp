#include "core/loss/loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/base/error.hpp"
#include "core/loss/one_class.hpp"
#include "core/loss/points.hpp"
#include "core/loss/registry.hpp"
#include "core/options/foreign_names.hpp"

namespace margin {

struct LossMaker {
  template <class L>
  static std::shared_ptr<const Loss> make(const Options& options);
};

namespace {

struct Entry {
  std::string_view name;
  bool classification;
  std::vector<std::string_view> options;
  std::shared_ptr<const Loss> (*make)(const Options&);
};

double Options::* parameter(std::string_view option) {
  for (const LossParameter& p : loss_parameters())
    if (p.option == option) return p.value;
  throw std::logic_error("loss_parameters() lacks " + std::string(option));
}

template <class... L>
std::vector<Entry> entries(LossList<L...>) {
  return {{L::id, L::classifies, {L::reads.begin(), L::reads.end()}, LossMaker::make<L>}...};
}

const std::vector<Entry>& registry() {
  static const std::vector<Entry> list = entries(AllLosses{});
  return list;
}

const Entry* find(std::string_view name) {
  for (const Entry& entry : registry())
    if (entry.name == name) return &entry;
  static const Entry of_one_class = entries(LossList<OneClass>{})[0];
  return name == OneClass::id ? &of_one_class : nullptr;
}

}  // namespace

template <class L>
std::shared_ptr<const Loss> LossMaker::make(const Options& options) {
  auto loss = std::make_shared<L>(options);
  for (const std::string_view option : L::reads) loss->parameters_.push_back(options.*parameter(option));
  return loss;
}

const std::vector<LossParameter>& loss_parameters() {
  static const std::vector<LossParameter> list = {
      {"epsilon", &Options::epsilon, true, [](double x) { return x >= 0; }},
      {"smoothing", &Options::smoothing, true, [](double x) { return x > 0; }},
      {"quantile", &Options::quantile, false, [](double x) { return x > 0 && x < 1; }},
      {"nu", &Options::nu, false, [](double x) { return x > 0 && x <= 1; }},
  };
  return list;
}

double Loss::argument_size(double u, double y) const { return std::fabs(u) + std::fabs(y); }

double Loss::conjugate_size(double a, double y, double conjugate) const {
  return std::fabs(conjugate) + std::fabs(a * y);
}

double Loss::steepest(double u, double y, double error) const {
  const double slope = lipschitz();
  if (slope < std::numeric_limits<double>::infinity()) return slope;
  return std::fabs(derivative(u, y)) * (1 + 4 * std::numeric_limits<double>::epsilon()) + error / smoothness();
}

void require_target(const Loss& loss, double y, std::int64_t row) {
  if (!loss.log_link() || y >= 0) return;
  throw Error(ErrorKind::invalid_value,
              "the label " + (row > 0 ? "of row " + std::to_string(row) + " " : std::string()) + "is " +
                  describe(Value{y}) + ", and loss \"" + std::string(loss.name()) + "\" expects 0 or more",
              "It predicts the mean of counts or amounts. For numbers of either sign there is loss => 'squared'.");
}

double settled_dual(const Loss& loss, double u, double y) { return settled_dual_of(loss, u, y); }

const std::vector<std::string_view>& loss_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Entry& entry : registry()) list.push_back(entry.name);
    return list;
  }();
  return names;
}

bool is_regression_loss(std::string_view name) {
  const Entry* const entry = find(name);
  return entry != nullptr && !entry->classification;
}

std::string likelihood_losses() {
  std::string list;
  std::vector<std::string_view> names;
  for (const Entry& entry : registry())
    if (entry.make({})->self_concordance() < std::numeric_limits<double>::infinity()) names.push_back(entry.name);
  for (std::size_t i = 0; i < names.size(); ++i)
    list += (i == 0 ? "\"" : i + 1 == names.size() ? " and \"" : ", \"") + std::string(names[i]) + "\"";
  return list;
}

bool loss_reads(std::string_view name, std::string_view option) {
  const Entry* const entry = find(name);
  return entry != nullptr && std::find(entry->options.begin(), entry->options.end(), option) != entry->options.end();
}

std::shared_ptr<const Loss> make_loss(std::string_view name, const Options& options) {
  const Entry* const entry = find(name);
  if (entry != nullptr) return entry->make(options);
  if (name == "exponential")
    throw Error(ErrorKind::unsupported, "the exponential loss belongs to the hard margin, not to a given lambda",
                "Leave lambda out, or choose loss logistic or hinge.");
  const std::string hint = hint_for_foreign_loss(name);
  throw Error(ErrorKind::invalid_option, "unknown loss \"" + std::string(name) + "\"",
              hint.empty() ? name_hint(name, loss_names()) : hint);
}

std::shared_ptr<const Loss> find_loss(std::string_view name, const std::vector<double>& parameters) {
  const Entry* const entry = find(name);
  if (entry == nullptr || entry->options.size() != parameters.size()) return nullptr;
  Options options;
  for (const LossParameter& p : loss_parameters())
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (entry->options[k] != p.option) continue;
      if (!std::isfinite(parameters[k]) || !p.valid(parameters[k])) return nullptr;
      options.*p.value = parameters[k];
    }
  return entry->make(options);
}

std::shared_ptr<const Loss> in_units(const Loss& loss, double unit) {
  const Entry* const entry = find(loss.name());
  Options options;
  for (const LossParameter& p : loss_parameters())
    for (std::size_t k = 0; k < entry->options.size(); ++k)
      if (entry->options[k] == p.option)
        options.*p.value = p.length ? loss.parameters()[k] / unit : loss.parameters()[k];
  return entry->make(options);
}

}  // namespace margin
