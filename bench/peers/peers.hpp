// What the peer programs share: the packed data file (written by datasets.py), clocks, and the conversation with
// run.py. A peer loads its file once, then answers each line of its input with one line of JSON.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace bench {

/// Rows as datasets.py packs them; `starts` and `columns` are empty when dense. Values are double here, whatever the
/// file holds: the peers compute in double.
struct Data {
  std::int64_t rows = 0, width = 0;
  bool sparse = false, wide = false;
  std::vector<double> y, values;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> columns;

  /// Calls visit(column from 0, value) for the non-zero values of row i.
  template <class Visit>
  void each(std::int64_t i, Visit visit) const {
    if (sparse) {
      for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) visit(columns[k], values[k]);
    } else {
      for (std::int64_t j = 0; j < width; ++j)
        if (values[i * width + j] != 0) visit(static_cast<std::int32_t>(j), values[i * width + j]);
    }
  }
  double dot(std::int64_t i, const std::vector<double>& w) const {
    double sum = 0;
    each(i, [&](std::int32_t j, double v) { sum += v * w[static_cast<std::size_t>(j)]; });
    return sum;
  }
  /// −1 for the smaller of two labels, +1 for the larger.
  double sign(std::int64_t i) const { return y[i] == largest_label ? 1 : -1; }
  double largest_label = 0;
};

template <class T>
std::vector<T> read_array(std::ifstream& in, std::int64_t n) {
  std::vector<T> out(static_cast<std::size_t>(n));
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(n * static_cast<std::int64_t>(sizeof(T))));
  if (!in) {
    std::fprintf(stderr, "the data file ends early\n");
    std::exit(1);
  }
  return out;
}

inline Data read_data(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const auto head = read_array<std::int64_t>(in, 6);
  if (head[0] != 0x4D415247) {
    std::fprintf(stderr, "%s: not a packed data set\n", path);
    std::exit(1);
  }
  Data d;
  d.rows = head[1];
  d.width = head[2];
  d.sparse = head[4] != 0;
  d.wide = head[5] != 0;
  d.y = read_array<double>(in, d.rows);
  if (d.sparse) {
    d.starts = read_array<std::int64_t>(in, d.rows + 1);
    d.columns = read_array<std::int32_t>(in, head[3]);
  }
  if (d.wide) {
    d.values = read_array<double>(in, head[3]);
  } else {
    const auto narrow = read_array<float>(in, head[3]);
    d.values.assign(narrow.begin(), narrow.end());
  }
  d.largest_label = -std::numeric_limits<double>::infinity();
  for (double label : d.y) d.largest_label = std::max(d.largest_label, label);
  return d;
}

/// CPU and wall seconds since construction.
class Stopwatch {
 public:
  double wall() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  double cpu() const { return static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t cpu_ = std::clock();
};

/// A JSON object of numbers, written in the order of the calls.
class Answer {
 public:
  Answer& number(const char* name, double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value);
    text_ += (text_.empty() ? "{\"" : ", \"") + std::string(name) + "\": " + (std::isfinite(value) ? text : "null");
    return *this;
  }
  void send() const { std::cout << text_ << "}" << std::endl; }

 private:
  std::string text_;
};

/// ½‖w‖² + C Σ φ(y_i <x_i, w>), with ‖w‖² including an intercept when `w` has one more element than the rows.
inline double objective(const Data& d, const std::vector<double>& w, double c, double bias,
                        const std::function<double(double)>& loss) {
  double sum = 0, norm = 0;
  for (double v : w) norm += v * v;
  for (std::int64_t i = 0; i < d.rows; ++i) {
    const double score = d.dot(i, w) + (bias > 0 ? bias * w.back() : 0);
    sum += loss(d.sign(i) * score);
  }
  return norm / 2 + c * sum;
}

/// The interval of the max-margin problem with a free intercept, by weak duality: the lower bound from w, the upper
/// end from the row weights alpha ≥ 0 with w = Σ alpha_i y_i x_i and equal mass in both classes.
inline double margin_with_intercept(const Data& d, const std::vector<double>& w) {
  double lowest_positive = std::numeric_limits<double>::infinity(), highest_negative = -lowest_positive, norm = 0;
  for (std::int64_t i = 0; i < d.rows; ++i) {
    const double score = d.dot(i, w);
    if (d.sign(i) > 0)
      lowest_positive = std::min(lowest_positive, score);
    else
      highest_negative = std::max(highest_negative, score);
  }
  for (double v : w) norm += v * v;
  return (lowest_positive - highest_negative) / 2 / std::sqrt(norm);
}

}  // namespace bench
