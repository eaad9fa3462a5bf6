// What readers of model files have in common: lines of words, labels, options that a file tells.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.hpp"
#include "core/base/quoted.hpp"
#include "core/base/read_number.hpp"
#include "core/base/write_number.hpp"
#include "core/formats/foreign_model.hpp"

namespace margin {

/// Lines of a document and words of a line, with numbers for messages.
class ModelLines {
 public:
  ModelLines(std::string_view text, const char* program, const Progress& progress)
      : text_(text), program_(program), progress_(progress) {}

  /// False at the end; empty lines at the end are none.
  bool next() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      line_ = text_.substr(0, end);
      text_.remove_prefix(std::min(text_.size(), end + 1));
      if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
      ++number_;
      progress_.work(16.0 * static_cast<double>(line_.size()) + 16);
      if (line_.find_first_not_of(" \t") != std::string_view::npos) return true;
    }
    line_ = {};
    return false;
  }
  void require_next(const char* expected) {
    if (!next()) refuse(std::string("ends where ") + expected + " should follow");
  }

  /// The next word of the line; empty at its end.
  std::string_view word() {
    const std::size_t begin = std::min(line_.find_first_not_of(" \t"), line_.size());
    line_.remove_prefix(begin);
    const std::string_view found = line_.substr(0, std::min(line_.find_first_of(" \t"), line_.size()));
    line_.remove_prefix(found.size());
    return found;
  }
  std::string_view rest() const { return line_; }

  double number(const char* what) {
    const std::string_view text = word();
    double value = 0;
    const std::string_view digits = !text.empty() && text[0] == '+' ? text.substr(1) : text;
    const auto end = read_number(digits.data(), digits.data() + digits.size(), value);
    const bool whole = !digits.empty() && end.ptr == digits.data() + digits.size();
    if (!whole || end.ec != std::errc() || !std::isfinite(value))
      refuse("has " + shown(text) + " where " + what + " is expected");
    return value;
  }
  std::int64_t count(const char* what, std::int64_t least, std::int64_t most) {
    const double value = number(what);
    if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) || value != std::floor(value))
      refuse(std::string("has ") + describe(Value{value}) + " where " + what + " is expected, a whole number from " +
             std::to_string(least) + " to " + std::to_string(most));
    return static_cast<std::int64_t>(value);
  }
  void require_end() {
    if (!word().empty()) refuse("goes on where its line should end");
  }

  static std::string shown(std::string_view text) { return text.empty() ? "nothing" : quoted(text); }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(
        ErrorKind::malformed,
        std::string("malformed model file of ") + program_ + ": line " + std::to_string(number_) + " " + problem,
        std::string("Give the text of the file as ") + program_ + " wrote it.");
  }

 private:
  std::string_view text_, line_;
  const char* program_;
  const Progress& progress_;
  std::int64_t number_ = 0;
};

[[noreturn]] inline void refuse_kind(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::unsupported, what, hint);
}

inline void require_lambda(double lambda) {
  if (!(lambda > 0) || !std::isfinite(lambda))
    throw Error(ErrorKind::invalid_option, "lambda must be a number above 0, not " + describe(Value{lambda}),
                "Of a training with cost C on n rows it is 1/(C n).");
}

/// A label as PostgreSQL writes it.
inline std::string label_text(double label) { return shortest(label); }

inline Value array_of(const double* values, std::size_t n) {
  Value::Array out(n);
  for (std::size_t i = 0; i < n; ++i) out[i].data = values[i];
  return {std::move(out)};
}

/// An option that the file tells; one that is given must say the same.
inline void tell(Value::Object& options, const std::string& name, Value value) {
  const auto [at, added] = options.emplace(name, value);
  if (!added && at->second.data.index() == value.data.index() && describe(at->second) != describe(value))
    throw Error(ErrorKind::invalid_option,
                "option \"" + name + "\" is " + describe(at->second) + ", and the model says " + describe(value),
                "Leave it out.");
}

/// Places of labels by rising number, which is the order of classes.
inline std::vector<std::size_t> sorted_places(const std::vector<double>& labels, const ModelLines& lines) {
  std::vector<std::size_t> order(labels.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return labels[a] < labels[b]; });
  for (std::size_t k = 1; k < order.size(); ++k)
    if (labels[order[k]] == labels[order[k - 1]]) lines.refuse("has a label twice");
  return order;
}

struct FileLabels {
  std::vector<double> values;
  std::vector<std::size_t> order;  ///< by rising number
  std::size_t size() const { return values.size(); }
  bool first_is_lower() const { return size() == 2 && order[0] == 0; }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const std::size_t c : order) out.push_back(label_text(values[c]));
    return out;
  }
};

inline FileLabels read_labels(ModelLines& lines, std::int64_t classes) {
  std::vector<double> labels;
  for (std::int64_t k = 0; k < classes; ++k)
    labels.push_back(static_cast<double>(lines.count("a label", -2147483648LL, 2147483647)));
  std::vector<std::size_t> order = sorted_places(labels, lines);
  return {std::move(labels), std::move(order)};
}

}  // namespace margin
