#include "core/loss/loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/loss/one_class.hpp"
#include "core/loss/registry.hpp"
#include "core/options/foreign_names.hpp"

namespace margin {

namespace {

struct Entry {
  std::string_view name;
  bool classification;
  std::vector<std::string_view> options;
  std::shared_ptr<const Loss> (*make)(const Options&);
};

template <class L>
std::shared_ptr<const Loss> make(const Options& options) {
  return std::make_shared<const L>(options);
}

template <class... L>
std::vector<Entry> entries(LossList<L...>) {
  return {{L::id, L::classifies, {L::reads.begin(), L::reads.end()}, make<L>}...};
}

const std::vector<Entry>& registry() {
  static const std::vector<Entry> list = entries(AllLosses{});
  return list;
}

const Entry* find(std::string_view name) {
  for (const Entry& entry : registry())
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace

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

double settled_dual(const Loss& loss, double u, double y) {
  if (loss.smooth()) return -loss.derivative(u, y);
  const double width = kink_width * (1 + std::fabs(u) + std::fabs(y));
  const double above = -loss.derivative(u + width, y), below = -loss.derivative(u - width, y);
  return above > 0 ? above : below < 0 ? below : 0.0;
}

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
  if (name == OneClass::id) return std::make_shared<const OneClass>(options);
  if (name == "exponential")
    throw Error(ErrorKind::unsupported, "the exponential loss belongs to the hard margin, not to a given lambda",
                "Leave lambda out, or choose loss logistic or hinge.");
  const std::string hint = hint_for_foreign_loss(name);
  throw Error(ErrorKind::invalid_option, "unknown loss \"" + std::string(name) + "\"",
              hint.empty() ? name_hint(name, loss_names()) : hint);
}

}  // namespace margin
