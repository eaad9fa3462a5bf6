#include "core/certificate/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/symmetric_matrix.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {

constexpr double ridge_share = 3e-4;     // ε, of the mean ‖x‖²
constexpr double independent = 1e-3;     // of its ‖x‖², what others leave of a basic row
constexpr std::size_t most_band = 1024;  // rows
constexpr std::size_t most_border = 64;  // rows of a bordered system
constexpr std::size_t at_once = 24;      // basic rows that come to an end
constexpr double slack = 1e-9;           // of a score, or of a row's whole θ

bool sooner(const std::pair<double, std::size_t>& a, const std::pair<double, std::size_t>& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

/// The `most` largest first.
void keep_largest(std::vector<std::pair<double, std::size_t>>& all, std::size_t most) {
  if (all.size() <= most) return;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(), sooner);
  all.resize(most);
}

}  // namespace

std::size_t Exchange::most_rows(std::size_t columns) { return std::min(most_band, 2 * columns + 32); }

double Exchange::workspace(double columns) {
  const double rows = static_cast<double>(most_rows(static_cast<std::size_t>(columns)));
  const double basic = std::min(rows, columns);
  return 8 * (rows * (basic + columns) + columns * columns + 3 * basic * (basic + columns));
}

double Exchange::product(const Row& x, const std::vector<double>& v) const {
  return dot(x, v.data()) + (constant_ != 0 ? constant_ * v.back() : 0.0);
}

/// Σ (x, B)_t matrix_t over its rows.
void Exchange::combine(const Row& x, const std::vector<double>& matrix, std::size_t width,
                       std::vector<double>& out) const {
  out.assign(width, 0.0);
  for (std::int32_t t = 0; t < x.count; ++t) {
    const auto column = static_cast<std::size_t>(x.indices != nullptr ? x.indices[t] : t);
    if (const double value = x.value(t); value != 0)
      simd().axpy_d(value, matrix.data() + column * width, out.data(), width);
  }
  if (constant_ != 0) simd().axpy_d(constant_, matrix.data() + (n_ - 1) * width, out.data(), width);
  progress_.work(static_cast<double>(width) * x.count);
}

Exchange::Exchange(const Dataset& data, double constant, std::vector<Member> band, const std::vector<double>& v,
                   const Progress& progress)
    : data_(data), progress_(progress), constant_(constant), band_(std::move(band)), v_(v), n_(v.size()) {
  double squares = 0;
  for (const Member& m : band_) squares += squared_norm(data_.row(m.row)) + constant_ * constant_;
  ridge_ = ridge_share * squares / std::max(1.0, static_cast<double>(band_.size()));
  choose_basic();
  first_.assign(f_, 0.0);
  first_v_ = v_;
  projector_.assign(n_ * n_, 0.0);
  for (std::size_t j = 0; j < n_; ++j) projector_[j * n_ + j] = 1;
  if (f_ > 0) invert();
}

/// Of the rows between their ends those that are farthest from them, as long as they are independent.
void Exchange::choose_basic() {
  std::vector<std::pair<double, std::size_t>> between;
  for (std::size_t b = 0; b < band_.size(); ++b) {
    const double room = std::min(-band_[b].low, band_[b].high);
    if (room > slack * (band_[b].high - band_[b].low)) between.emplace_back(room, b);
  }
  std::sort(between.begin(), between.end(), sooner);
  std::vector<char> is_basic(band_.size(), 0);
  std::vector<std::vector<double>> factor, rows;  // of the products of the basic rows; these, in all columns
  for (const auto& [room, b] : between) {
    if (f_ == n_) break;
    const Row x = data_.row(band_[b].row);
    const double square = squared_norm(x) + constant_ * constant_;
    std::vector<double> row(f_ + 1);
    double left = square;
    for (std::size_t i = 0; i < f_; ++i) {
      row[i] = (product(x, rows[i]) - simd().dot_dd(factor[i].data(), row.data(), i)) / factor[i][i];
      left -= row[i] * row[i];
    }
    progress_.work(static_cast<double>(f_) * (static_cast<double>(f_) / 2 + x.count));
    if (!(left > independent * square)) continue;
    row.back() = std::sqrt(left);
    factor.push_back(std::move(row));
    rows.emplace_back(n_, 0.0);
    margin::add(1.0, x, rows.back().data());
    if (constant_ != 0) rows.back().back() += constant_;
    basic_.push_back(b);
    is_basic[b] = 1;
    ++f_;
  }
  for (std::size_t b = 0; b < band_.size(); ++b)
    if (is_basic[b] == 0 && band_[b].high > band_[b].low) others_.push_back({b, {}, {}});
}

void Exchange::invert() {
  SymmetricMatrix products(f_);
  std::vector<double> row(n_);
  for (std::size_t j = 0; j < f_; ++j) {
    std::fill(row.begin(), row.end(), 0.0);
    margin::add(1.0, data_.row(band_[basic_[j]].row), row.data());
    if (constant_ != 0) row.back() += constant_;
    for (std::size_t i = j; i < f_; ++i) products.row(j)[i] = product(data_.row(band_[basic_[i]].row), row);
    products.row(j)[j] += ridge_;
    progress_.work(static_cast<double>(n_ + 32 * f_));
  }
  inverse_.assign(f_ * f_, 0.0);
  images_.assign(f_ * n_, 0.0);
  by_column_.assign(f_ * n_, 0.0);
  if (!factorise(products, progress_)) {  // not with a ridge, but for overflow
    basic_.clear();
    f_ = 0;
    first_.clear();
    return;
  }
  for (std::size_t j = 0; j < f_; ++j) {
    inverse_[j * f_ + j] = 1;
    solve_factored(products, inverse_.data() + j * f_, &progress_);
  }
  for (std::size_t j = 0; j < f_; ++j) {
    const Row x = data_.row(band_[basic_[j]].row);
    for (std::size_t i = 0; i < f_; ++i) {
      margin::add(inverse_[i * f_ + j], x, images_.data() + i * n_);
      if (constant_ != 0) images_[i * n_ + n_ - 1] += inverse_[i * f_ + j] * constant_;
    }
    progress_.work(static_cast<double>(f_ * n_));
  }
  for (std::size_t j = 0; j < f_; ++j) {
    const Row x = data_.row(band_[basic_[j]].row);
    const double* const image = images_.data() + j * n_;
    for (std::int32_t t = 0; t < x.count; ++t)
      simd().axpy_d(-x.value(t), image,
                    projector_.data() + static_cast<std::size_t>(x.indices != nullptr ? x.indices[t] : t) * n_, n_);
    if (constant_ != 0) simd().axpy_d(-constant_, image, projector_.data() + (n_ - 1) * n_, n_);
    for (std::size_t t = 0; t < n_; ++t) by_column_[t * f_ + j] = image[t];
    // Basic rows are brought to the kink.
    const double off = band_[basic_[j]].y - product(x, v_);
    simd().axpy_d(off, inverse_.data() + j * f_, first_.data(), f_);
    simd().axpy_d(off, image, first_v_.data(), n_);
    progress_.work(static_cast<double>(n_ * n_ + 2 * n_));
  }
}

void Exchange::know(std::size_t o) {
  Other& other = others_[o];
  if (!other.rest.empty()) return;
  const Row x = data_.row(band_[other.place].row);
  combine(x, by_column_, f_, other.share);
  combine(x, projector_, n_, other.rest);
}

void Exchange::leave_out(std::int64_t i, double k) {
  row_ = i;
  const Row x = data_.row(i);
  combine(x, by_column_, f_, start_);
  combine(x, projector_, n_, start_v_);
  for (std::size_t j = 0; j < f_; ++j) start_[j] = first_[j] + k * start_[j];
  for (std::size_t j = 0; j < n_; ++j) start_v_[j] = first_v_[j] - k * start_v_[j];
  state_.assign(f_, State::free);
  for (std::size_t j = 0; j < f_; ++j)
    if (band_[basic_[j]].row == i) state_[j] = State::low;  // of the row itself both ends are 0
  place_.assign(others_.size(), Place::out);
  for (std::size_t o = 0; o < others_.size(); ++o)
    if (band_[others_[o].place].row == i) place_[o] = Place::ignored;
  end_.assign(others_.size(), 0.0);
  theta_ = start_;
  point_ = start_v_;
  entered_.clear();
}

/// Gaussian elimination with the largest pivot of each column.
bool Exchange::solve(std::vector<double>& a, std::vector<double>& b) const {
  const std::size_t p = b.size();
  for (std::size_t c = 0; c < p; ++c) {
    std::size_t best = c;
    for (std::size_t r = c + 1; r < p; ++r)
      if (std::fabs(a[r * p + c]) > std::fabs(a[best * p + c])) best = r;
    if (!(std::fabs(a[best * p + c]) > 0)) return false;
    if (best != c) {
      std::swap_ranges(a.data() + c * p, a.data() + (c + 1) * p, a.data() + best * p);
      std::swap(b[c], b[best]);
    }
    for (std::size_t r = c + 1; r < p; ++r) {
      const double factor = a[r * p + c] / a[c * p + c];
      if (factor == 0) continue;
      simd().axpy_d(-factor, a.data() + c * p + c, a.data() + r * p + c, p - c);
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = p; c-- > 0;) {
    for (std::size_t t = c + 1; t < p; ++t) b[c] -= a[c * p + t] * b[t];
    b[c] /= a[c * p + c];
  }
  progress_.work(static_cast<double>(p * p * p) / 3);
  return true;
}

bool Exchange::improve() {
  std::vector<std::size_t> ended, within;
  for (std::size_t j = 0; j < f_; ++j)
    if (state_[j] != State::free) ended.push_back(j);
  for (std::size_t o = 0; o < others_.size(); ++o)
    if (place_[o] == Place::in) within.push_back(o);
  const std::size_t e = ended.size(), p = e + within.size();
  if (p > most_border) return false;
  const auto end_of = [&](std::size_t j) {
    const Member& m = band_[basic_[j]];
    return m.row == row_ ? 0.0 : state_[j] == State::low ? m.low : m.high;
  };
  theta_ = start_;
  point_ = start_v_;
  entered_.clear();
  const auto move = [&](std::size_t o, double theta) {
    simd().axpy_d(-theta, others_[o].share.data(), theta_.data(), f_);
    simd().axpy_d(theta, others_[o].rest.data(), point_.data(), n_);
    entered_.emplace_back(o, theta);
  };
  for (std::size_t o = 0; o < others_.size(); ++o) {
    if (place_[o] == Place::in || place_[o] == Place::end) know(o);
    if (place_[o] == Place::end) move(o, end_[o]);
  }
  std::vector<double> matrix(p * p), border(p);
  for (std::size_t r = 0; r < e; ++r) {
    for (std::size_t c = 0; c < e; ++c) matrix[r * p + c] = inverse_[ended[r] * f_ + ended[c]];
    for (std::size_t c = e; c < p; ++c) matrix[r * p + c] = -others_[within[c - e]].share[ended[r]];
    border[r] = end_of(ended[r]) - theta_[ended[r]];
  }
  for (std::size_t r = e; r < p; ++r) {
    const Other& other = others_[within[r - e]];
    const Row x = data_.row(band_[other.place].row);
    for (std::size_t c = 0; c < e; ++c) matrix[r * p + c] = other.share[ended[c]];
    for (std::size_t c = e; c < p; ++c)
      matrix[r * p + c] = product(x, others_[within[c - e]].rest) + (c == r ? ridge_ : 0.0);
    border[r] = band_[other.place].y - product(x, point_);
  }
  if (!solve(matrix, border)) return false;
  for (std::size_t r = 0; r < e; ++r) {
    simd().axpy_d(border[r], inverse_.data() + ended[r] * f_, theta_.data(), f_);
    simd().axpy_d(border[r], images_.data() + ended[r] * n_, point_.data(), n_);
  }
  for (std::size_t r = e; r < p; ++r) move(within[r - e], border[r]);
  progress_.work(static_cast<double>(p * (f_ + n_)));
  for (const std::size_t j : ended) theta_[j] = end_of(j);
  const bool changed = update_basic(ended, border);
  return update_others() || changed;
}

/// Rows that their end pushes away leave it; those that went farthest beyond one come to it: what brings these back brings
/// others back as well.
bool Exchange::update_basic(const std::vector<std::size_t>& ended, const std::vector<double>& forces) {
  bool changed = false;
  std::vector<std::pair<double, std::size_t>> ending;
  for (std::size_t j = 0; j < f_; ++j) {
    const Member& m = band_[basic_[j]];
    const double beyond = std::max(m.low - theta_[j], theta_[j] - m.high);
    if (state_[j] == State::free && beyond > slack * (m.high - m.low)) ending.emplace_back(beyond, j);
  }
  for (std::size_t r = 0; r < ended.size(); ++r) {
    const std::size_t j = ended[r];
    if (band_[basic_[j]].row == row_ || !(state_[j] == State::high ? forces[r] > slack : forces[r] < -slack)) continue;
    state_[j] = State::free;
    changed = true;
  }
  keep_largest(ending, at_once);
  for (const auto& [beyond, j] : ending) state_[j] = theta_[j] < band_[basic_[j]].low ? State::low : State::high;
  return changed || !ending.empty();
}

/// Others stop at an end, leave it, or come in: no more of these than there is room for, since between their ends are about
/// as many rows as the basic ones.
bool Exchange::update_others() {
  bool changed = false;
  const auto off = [&](std::size_t o) {
    const Member& m = band_[others_[o].place];
    const Row x = data_.row(m.row);
    progress_.work(x.count + 8.0);
    return product(x, point_) - m.y;
  };
  for (const auto& [o, theta] : entered_) {
    const Member& m = band_[others_[o].place];
    if (place_[o] == Place::in) {
      if (theta >= m.low && theta <= m.high) continue;
      end_[o] = theta < m.low ? m.low : m.high;
      place_[o] = end_[o] == 0 ? Place::out : Place::end;
    } else if (off(o) * (end_[o] == m.high ? 1 : -1) > slack) {
      place_[o] = Place::in;
    } else {
      continue;
    }
    changed = true;
  }
  std::vector<std::pair<double, std::size_t>> entering;
  std::size_t within = 0;
  for (std::size_t o = 0; o < others_.size(); ++o) {
    within += place_[o] == Place::in;
    if (place_[o] != Place::out) continue;
    const Member& m = band_[others_[o].place];
    const double distance = off(o);
    if ((distance < -slack && m.high > 0) || (distance > slack && m.low < 0))
      entering.emplace_back(std::fabs(distance), o);
  }
  const auto at_end = static_cast<std::size_t>(
      std::count_if(state_.begin(), state_.end(), [](State state) { return state != State::free; }));
  keep_largest(entering, 2 + (at_end > within ? at_end - within : 0));
  for (const auto& [distance, o] : entering) place_[o] = Place::in;
  return changed || !entering.empty();
}

const std::vector<std::pair<std::size_t, double>>& Exchange::moves() {
  moves_.clear();
  const auto take = [&](std::size_t place, double theta) {
    const Member& m = band_[place];
    const double now = std::clamp(theta, m.low, m.high);
    if (m.row != row_ && now != 0) moves_.emplace_back(place, now);
  };
  for (std::size_t j = 0; j < f_; ++j) take(basic_[j], theta_[j]);
  for (const auto& [o, theta] : entered_) take(others_[o].place, theta);
  return moves_;
}

}  // namespace margin
