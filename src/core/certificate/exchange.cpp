#include "core/certificate/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/symmetric_matrix.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {

constexpr double ridge_share = 3e-4;      // ε, of the mean ‖x‖²
constexpr double independent = 1e-3;      // of its ‖x‖², what others leave of a basic row
constexpr std::size_t most_band = 1024;   // rows
constexpr std::size_t most_others = 192;  // rows of a band, besides as many as there are columns
constexpr std::size_t most_border = 64;   // rows of a bordered system
constexpr std::size_t at_once = 24;       // basic rows that come to an end
constexpr double slack = 1e-9;            // of a score, or of a row's whole θ

bool sooner(const std::pair<double, std::size_t>& a, const std::pair<double, std::size_t>& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

/// The `most` largest first.
void keep_largest(std::vector<std::pair<double, std::size_t>>& all, std::size_t most) {
  if (all.size() <= most) return;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(), sooner);
  all.resize(most);
}

/// out[a][b] = <A_a, B_b>, vectors of `length` numbers; `triangle`: no less than where a ≥ b.
void products_of(const double* a, std::size_t as, std::size_t a_stride, const double* b, std::size_t bs,
                 std::size_t b_stride, std::size_t length, bool triangle, double* out, std::size_t out_stride,
                 const Progress& progress) {
  std::vector<double> tile(length * tile_rows), sums(as * tile_rows);
  std::vector<const double*> points(as);
  for (std::size_t p = 0; p < as; ++p) points[p] = a + p * a_stride;
  for (std::size_t begin = 0; begin < bs; begin += tile_rows) {
    const std::size_t count = std::min(tile_rows, bs - begin), from = triangle ? begin : 0;
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t j = 0; j < length; ++j) tile[j * tile_rows + r] = b[(begin + r) * b_stride + j];
    simd().tile_dots_d(tile.data(), points.data() + from, as - from, length, sums.data());
    for (std::size_t p = from; p < as; ++p)
      for (std::size_t r = 0; r < count; ++r) out[p * out_stride + begin + r] = sums[(p - from) * tile_rows + r];
    progress.work(static_cast<double>((as - from) * length));
  }
}

/// y += Σ a x, four vectors at a time.
void add_all(const std::vector<double>& a, const std::vector<const double*>& x, double* y, std::size_t n) {
  std::size_t r = 0;
  for (; r + 4 <= a.size(); r += 4) simd().axpys_d(a.data() + r, x.data() + r, nullptr, y, n);
  for (; r < a.size(); ++r) simd().axpy_d(a[r], x[r], y, n);
}

}  // namespace

std::size_t Exchange::most_rows(std::size_t columns) { return std::min(most_band, columns + most_others); }

double Exchange::workspace(double columns) {
  const double rows = static_cast<double>(most_rows(static_cast<std::size_t>(columns)));
  return 8 * rows * (3 * rows + 4 * columns);
}

double Exchange::product(const Row& x, const std::vector<double>& v) const {
  return dot(x, v.data()) + (constant_ != 0 ? constant_ * v.back() : 0.0);
}

/// out += Σ (x, B)_t matrix_t over its rows of m numbers.
void Exchange::combine(const Row& x, const std::vector<double>& matrix, std::vector<double>& out) {
  right_.clear();
  terms_.clear();
  const auto take = [&](double value, std::size_t column) {
    if (value == 0) return;
    right_.push_back(value);
    terms_.push_back(matrix.data() + column * m_);
  };
  for (std::int32_t t = 0; t < x.count; ++t)
    take(x.value(t), static_cast<std::size_t>(x.indices != nullptr ? x.indices[t] : t));
  take(constant_, n_ - 1);
  add_all(right_, terms_, out.data(), m_);
  progress_.work(static_cast<double>(m_) * x.count / 4);
}

Exchange::Exchange(const Dataset& data, double constant, std::vector<Member> band, const std::vector<double>& v,
                   const Progress& progress)
    : data_(data), progress_(progress), constant_(constant), band_(std::move(band)), n_(v.size()) {
  double squares = 0;
  for (const Member& m : band_) squares += squared_norm(data_.row(m.row)) + constant_ * constant_;
  ridge_ = ridge_share * squares / std::max(1.0, static_cast<double>(band_.size()));
  choose_basic(v);
  if (build()) return;
  f_ = m_ = 0;  // not with a ridge, but for overflow
  order_.clear();
}

/// Of the rows between their ends those that are farthest from them, as long as they are independent.
void Exchange::choose_basic(const std::vector<double>& v) {
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
    order_.push_back(b);
    is_basic[b] = 1;
    ++f_;
  }
  for (std::size_t b = 0; b < band_.size(); ++b)
    if (is_basic[b] == 0 && band_[b].high > band_[b].low) order_.push_back(b);
  m_ = order_.size();
  for (std::size_t j = 0; j < m_; ++j) {
    y_.push_back(at(j).y);
    low_.push_back(at(j).low);
    high_.push_back(at(j).high);
    by_v_.push_back(product(data_.row(at(j).row), v));
  }
}

/// False where the products overflow.
bool Exchange::build() {
  const std::size_t others = m_ - f_;
  std::vector<double> rows(m_ * n_, 0.0);
  for (std::size_t j = 0; j < m_; ++j) {
    margin::add(1.0, data_.row(at(j).row), rows.data() + j * n_);
    if (constant_ != 0) rows[j * n_ + n_ - 1] += constant_;
  }
  columns_.resize(n_ * m_);
  for (std::size_t j = 0; j < m_; ++j)
    for (std::size_t t = 0; t < n_; ++t) columns_[t * m_ + j] = rows[j * n_ + t];
  products_.resize(m_ * m_);
  products_of(rows.data(), m_, n_, rows.data(), m_, n_, n_, true, products_.data(), m_, progress_);
  for (std::size_t j = 0; j < m_; ++j)
    for (std::size_t i = 0; i < j; ++i) products_[i * m_ + j] = products_[j * m_ + i];
  // (G + ε)⁻¹, and times it the products of the others with the basic rows.
  SymmetricMatrix basic(f_);
  for (std::size_t j = 0; j < f_; ++j) {
    std::copy_n(products_.data() + j * m_ + j, f_ - j, basic.row(j) + j);
    basic.row(j)[j] += ridge_;
  }
  if (!factorise(basic, progress_)) return false;
  std::vector<double> shares(m_ * f_, 0.0);  // the inverse, and below it the others'
  for (std::size_t j = 0; j < f_; ++j) {
    shares[j * f_ + j] = 1;
    solve_factored(basic, shares.data() + j * f_, &progress_);
  }
  products_of(products_.data() + f_ * m_, others, m_, shares.data(), f_, f_, f_, false, shares.data() + f_ * f_, f_,
              progress_);
  effects_.resize(m_ * m_);
  double* const of_others = effects_.data() + f_ * m_;
  products_of(shares.data() + f_ * f_, others, f_, products_.data() + f_ * m_, others, m_, f_, false, of_others + f_,
              m_, progress_);
  for (std::size_t o = 0; o < others; ++o)
    for (std::size_t j = 0; j < m_; ++j)
      of_others[o * m_ + j] =
          j < f_ ? -shares[(f_ + o) * f_ + j] : products_[(f_ + o) * m_ + j] - of_others[o * m_ + j];
  for (std::size_t j = 0; j < f_; ++j)
    for (std::size_t i = 0; i < m_; ++i) effects_[j * m_ + i] = shares[i * f_ + j];
  starts_.resize(n_ * m_);
  products_of(columns_.data(), n_, m_, shares.data(), m_, f_, f_, false, starts_.data(), m_, progress_);
  for (std::size_t t = 0; t < n_; ++t)
    for (std::size_t o = f_; o < m_; ++o) starts_[t * m_ + o] -= columns_[t * m_ + o];
  // Basic rows are brought to the kink.
  first_ = by_v_;
  std::fill_n(first_.begin(), f_, 0.0);
  for (std::size_t j = 0; j < f_; ++j) simd().axpy_d(y_[j] - by_v_[j], effects_.data() + j * m_, first_.data(), m_);
  return true;
}

void Exchange::leave_out(std::int64_t i, double k, double beyond) {
  row_ = i;
  k_ = k;
  beyond_ = beyond;
  const Row x = data_.row(i);
  square_ = squared_norm(x) + constant_ * constant_;
  own_.assign(m_, 0.0);
  start_.assign(m_, 0.0);
  combine(x, columns_, own_);
  combine(x, starts_, start_);
  for (std::size_t j = 0; j < m_; ++j) start_[j] = first_[j] + (k + beyond) * start_[j];
  state_.assign(m_, State::out);
  std::fill_n(state_.begin(), f_, State::free);
  for (std::size_t j = 0; j < m_; ++j)
    if (at(j).row == i) state_[j] = j < f_ ? State::low : State::ignored;  // of the row itself both ends are 0
  theta_.assign(m_, 0.0);
  force_.assign(f_, 0.0);
  border_.clear();
  is_bordered_.assign(m_, 0);
}

double Exchange::end_of(std::size_t j) const {
  const Member& m = at(j);
  return m.row == row_ ? 0.0 : state_[j] == State::low ? m.low : m.high;
}

/// The bordered system of a guess, by LDLᵀ. With the lines of others negated it is symmetric and quasi-definite (positive
/// for basic rows, negative for others): it needs no pivots. A line of the factor depends on those before it alone; the
/// first `known` ones are those of the guess before.
bool Exchange::solve(std::size_t known) {
  const std::size_t p = border_.size();
  factor_.resize(most_border * most_border);
  pivots_.resize(p);
  for (std::size_t r = known; r < p; ++r) {
    const std::size_t j = border_[r];
    const double* const effect = effects_.data() + j * m_;
    double pivot = j < f_ ? effect[j] : -effect[j] - ridge_;
    double scaled[most_border];
    for (std::size_t c = 0; c < r; ++c) scaled[c] = border_[c] < f_ ? effect[border_[c]] : -effect[border_[c]];
    for (std::size_t c = 0; c < r; ++c) {
      double* const column = factor_.data() + c * most_border;
      simd().axpy_d(-scaled[c], column + c + 1, scaled + c + 1, r - c - 1);
      column[r] = scaled[c] / pivots_[c];
      pivot -= scaled[c] * column[r];
    }
    if (!(std::fabs(pivot) > 0)) return false;
    pivots_[r] = pivot;
  }
  for (std::size_t r = 0; r < p; ++r)
    simd().axpy_d(-right_[r], factor_.data() + r * most_border + r + 1, right_.data() + r + 1, p - r - 1);
  for (std::size_t r = p; r-- > 0;)
    right_[r] = right_[r] / pivots_[r] -
                simd().dot_dd(factor_.data() + r * most_border + r + 1, right_.data() + r + 1, p - r - 1);
  progress_.work(static_cast<double>((p - known) * p * p) / 8);
  return true;
}

bool Exchange::improve() {
  // Those that stay keep their order, so that much of the factor stays as well.
  const auto bordered = [&](std::size_t j) { return j < f_ ? state_[j] != State::free : state_[j] == State::in; };
  std::size_t known = 0, p = 0;
  for (const std::size_t j : border_) {
    if (!bordered(j)) {
      is_bordered_[j] = 0;
      continue;
    }
    known += &j == &border_[known];
    border_[p++] = j;
  }
  border_.resize(p);
  for (std::size_t j = 0; j < m_; ++j)
    if (is_bordered_[j] == 0 && bordered(j)) {
      is_bordered_[j] = 1;
      border_.push_back(j);
    }
  p = border_.size();
  if (p > most_border) return false;
  now_ = start_;
  theta_.assign(m_, 0.0);
  force_.assign(f_, 0.0);
  for (std::size_t o = f_; o < m_; ++o)
    if (state_[o] == State::low || state_[o] == State::high) {
      theta_[o] = end_of(o);
      simd().axpy_d(theta_[o], effects_.data() + o * m_, now_.data(), m_);
    }
  right_.resize(p);
  for (std::size_t r = 0; r < p; ++r) {
    const std::size_t j = border_[r];
    right_[r] = j < f_ ? end_of(j) - now_[j] : now_[j] - y_[j];
  }
  if (!solve(known)) return false;
  terms_.clear();
  for (std::size_t r = 0; r < p; ++r) {
    const std::size_t j = border_[r];
    terms_.push_back(effects_.data() + j * m_);
    (j < f_ ? force_ : theta_)[j] = right_[r];
  }
  add_all(right_, terms_, now_.data(), m_);
  for (std::size_t j = 0; j < f_; ++j) theta_[j] = state_[j] == State::free ? now_[j] : end_of(j);
  progress_.work(static_cast<double>((p + 8) * m_) / 4);
  const bool changed = update_basic();
  return update_others() || changed;
}

/// Rows that their end pushes away leave it; those that went farthest beyond one come to it: what brings these back brings
/// others back as well.
bool Exchange::update_basic() {
  bool changed = false;
  std::vector<std::pair<double, std::size_t>> ending;
  for (std::size_t j = 0; j < f_; ++j) {
    if (state_[j] == State::free) {
      const double beyond = std::max(low_[j] - theta_[j], theta_[j] - high_[j]);
      if (beyond > slack * (high_[j] - low_[j])) ending.emplace_back(beyond, j);
    } else if (at(j).row != row_ && (state_[j] == State::high ? force_[j] > slack : force_[j] < -slack)) {
      state_[j] = State::free;
      changed = true;
    }
  }
  keep_largest(ending, at_once);
  for (const auto& [beyond, j] : ending) state_[j] = theta_[j] < low_[j] ? State::low : State::high;
  return changed || !ending.empty();
}

/// Others stop at an end, leave it, or come in: no more of these than there is room for, since between their ends are about
/// as many rows as the basic ones.
bool Exchange::update_others() {
  bool changed = false;
  std::vector<std::pair<double, std::size_t>> entering;
  std::size_t within = 0, at_end = 0;
  for (std::size_t j = 0; j < f_; ++j) at_end += state_[j] != State::free;
  for (std::size_t o = f_; o < m_; ++o) {
    const double off = now_[o] - y_[o];
    switch (state_[o]) {
      case State::in:
        if (theta_[o] >= low_[o] && theta_[o] <= high_[o]) break;
        state_[o] = theta_[o] < low_[o] ? State::low : State::high;
        if (end_of(o) == 0) state_[o] = State::out;
        changed = true;
        break;
      case State::low:
      case State::high:
        if (!(off * (state_[o] == State::high ? 1 : -1) > slack)) break;
        state_[o] = State::in;
        changed = true;
        break;
      case State::out:
        if ((off < -slack && high_[o] > 0) || (off > slack && low_[o] < 0)) entering.emplace_back(std::fabs(off), o);
        break;
      default:
        break;
    }
    within += state_[o] == State::in;
  }
  keep_largest(entering, 2 + (at_end > within ? at_end - within : 0));
  for (const auto& [distance, o] : entering) state_[o] = State::in;
  return changed || !entering.empty();
}

/// With r = T x − Σ θ x before and after θ is moved to the ends: of all rows of the band r's products are known.
Exchange::Look Exchange::look() {
  const auto remains = [&](std::size_t j) {  // r's product with a row
    return by_v_[j] - (j < f_ ? y_[j] - ridge_ * theta_[j] + force_[j] : now_[j]);
  };
  const double whole = k_ + beyond_;
  double product = whole * square_, square = 0, cost = 0;
  clipped_.clear();
  for (std::size_t j = 0; j < m_; ++j) {
    const double theta = theta_[j];
    if (theta == 0) continue;
    product -= theta * own_[j];
    square -= theta * remains(j);
    const double now = std::clamp(theta, low_[j], high_[j]);
    cost += now * (by_v_[j] - y_[j]);
    if (now != theta) clipped_.emplace_back(j, now - theta);
  }
  square += whole * product;
  for (std::size_t a = 0; a < clipped_.size(); ++a) {
    const auto& [j, delta] = clipped_[a];
    const double* const products = products_.data() + j * m_;
    double sum = products[j] * delta / 2;
    for (std::size_t b = 0; b < a; ++b) sum += products[clipped_[b].first] * clipped_[b].second;
    square += 2 * delta * (sum - remains(j));
    product -= delta * own_[j];
  }
  progress_.work(static_cast<double>(m_ + clipped_.size() * clipped_.size() / 2));
  return {product - beyond_ * square_, cost + (square - beyond_ * (2 * product - beyond_ * square_)) / 4};
}

const std::vector<std::pair<std::size_t, double>>& Exchange::moves() {
  moves_.clear();
  for (std::size_t j = 0; j < m_; ++j) {
    const double now = std::clamp(theta_[j], low_[j], high_[j]);
    if (at(j).row != row_ && now != 0) moves_.emplace_back(order_[j], now);
  }
  return moves_;
}

}  // namespace margin
