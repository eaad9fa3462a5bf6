#include "core/consequences/left_out/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {

constexpr double ridge_share = 2e-3;                        // ε, of the mean ‖x‖²
constexpr double independent = 1e-3;                        // of its ‖x‖², what others leave of a basic row
constexpr std::size_t most_band = 1024, most_others = 192;  // rows of a band; besides those between their ends
constexpr std::size_t most_border = 64, at_once = 24;       // rows of a bordered system; basic rows that come to an end
constexpr double of_best = 0.1;                             // gain of others that come in
constexpr std::size_t lanes = 8;                            // the longest vectors of the inner loops
constexpr double slack = 1e-9;                              // of a score, or of a row's whole θ

bool sooner(const std::pair<double, std::size_t>& a, const std::pair<double, std::size_t>& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

/// The `most` largest first.
void keep_largest(std::vector<std::pair<double, std::size_t>>& all, std::size_t most) {
  if (all.size() <= most) return;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(), sooner);
  all.resize(most);
}

/// Vectors, one every `stride` numbers.
struct Vectors {
  const double* at;
  std::size_t count, stride;
};

/// out[a][b] = <A_a, B_b>, vectors of `length` numbers; `triangle`: no less than where a ≥ b.
void products_of(const Vectors& a, const Vectors& b, std::size_t length, bool triangle, double* out,
                 std::size_t out_stride, const Progress& progress) {
  std::vector<double> tile(length * tile_rows), sums(a.count * tile_rows);
  std::vector<const double*> points(a.count);
  for (std::size_t p = 0; p < a.count; ++p) points[p] = a.at + p * a.stride;
  for (std::size_t begin = 0; begin < b.count; begin += tile_rows) {
    const std::size_t count = std::min(tile_rows, b.count - begin), from = triangle ? begin : 0;
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t j = 0; j < length; ++j) tile[j * tile_rows + r] = b.at[(begin + r) * b.stride + j];
    simd().tile_dots_d(tile.data(), points.data() + from, a.count - from, length, sums.data());
    for (std::size_t p = from; p < a.count; ++p)
      for (std::size_t r = 0; r < count; ++r) out[p * out_stride + begin + r] = sums[(p - from) * tile_rows + r];
    progress.work(static_cast<double>((a.count - from) * length));
  }
}

}  // namespace

std::size_t Exchange::most_rows(std::size_t between) { return std::min(most_band, between + most_others); }

double Exchange::workspace(double columns) {
  const double rows = static_cast<double>(most_rows(static_cast<std::size_t>(columns)));
  return 8 * rows * (3 * rows + 4 * columns);
}

double Exchange::product(const Row& x, const std::vector<double>& v) const {
  return dot(x, v.data()) + (constant_ != 0 ? constant_ * v.back() : 0.0);
}

/// out += Σ (x, B)_t matrix_t over its rows of `stride_` numbers.
void Exchange::combine(const Row& x, const std::vector<double>& matrix, std::vector<double>& out) {
  for (std::int32_t t = 0; t < x.count; ++t)
    take(x.value(t), matrix, static_cast<std::size_t>(x.indices != nullptr ? x.indices[t] : t));
  take(constant_, matrix, n_ - 1);
  add_taken(out);
}

void Exchange::take(double factor, const std::vector<double>& matrix, std::size_t row) {
  if (factor == 0) return;
  factors_.push_back(factor);
  terms_.push_back(matrix.data() + row * stride_);
}

void Exchange::add_taken(std::vector<double>& to) {
  add_rows_(factors_.data(), terms_.data(), terms_.size(), to.data(), stride_);
  progress_.work(static_cast<double>(terms_.size() * stride_) / 4);
  factors_.clear();
  terms_.clear();
}

Exchange::Exchange(const Dataset& data, double constant, std::vector<Member> band, const std::vector<double>& v,
                   const Progress& progress)
    : data_(data),
      progress_(progress),
      constant_(constant),
      band_(std::move(band)),
      n_(v.size()),
      factor_(most_border) {
  double squares = 0;
  for (const Member& m : band_) squares += squared_norm(data_.row(m.row)) + constant_ * constant_;
  ridge_ = ridge_share * squares / std::max(1.0, static_cast<double>(band_.size()));
  choose_basic(v);
  if (build()) return;
  f_ = m_ = stride_ = 0;  // not with a ridge, but for overflow
  order_.clear();
  by_row_.clear();
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
    excess_.push_back(by_v_[j] - y_[j]);
    by_row_.emplace_back(at(j).row, j);
    // Basic rows stay between their ends; a score below y asks for more of another row, one above it for less.
    above_at_first_.push_back(j < f_ ? -high_[j] : low_[j] < 0 ? -y_[j] : -infinity);
    below_at_first_.push_back(j < f_ ? -low_[j] : high_[j] > 0 ? -y_[j] : infinity);
  }
  std::sort(by_row_.begin(), by_row_.end());
  stride_ = (m_ + lanes - 1) / lanes * lanes;
  above_at_first_.resize(stride_, -infinity);
  below_at_first_.resize(stride_, infinity);
  gain_.resize(stride_);
  theta_.resize(m_);
  force_.resize(f_);
}

/// False where the products overflow.
bool Exchange::build() {
  const std::size_t others = m_ - f_;
  std::vector<double> rows(m_ * n_, 0.0);
  for (std::size_t j = 0; j < m_; ++j) {
    margin::add(1.0, data_.row(at(j).row), rows.data() + j * n_);
    if (constant_ != 0) rows[j * n_ + n_ - 1] += constant_;
  }
  columns_.assign(n_ * stride_, 0.0);
  for (std::size_t j = 0; j < m_; ++j)
    for (std::size_t t = 0; t < n_; ++t) columns_[t * stride_ + j] = rows[j * n_ + t];
  products_.resize(m_ * stride_);
  products_of({rows.data(), m_, n_}, {rows.data(), m_, n_}, n_, true, products_.data(), stride_, progress_);
  for (std::size_t j = 0; j < m_; ++j)
    for (std::size_t i = 0; i < j; ++i) products_[i * stride_ + j] = products_[j * stride_ + i];
  // (G + ε)⁻¹, and times it the products of the others with the basic rows.
  SymmetricMatrix basic(f_);
  for (std::size_t j = 0; j < f_; ++j) {
    std::copy_n(products_.data() + j * stride_ + j, f_ - j, basic.row(j) + j);
    basic.row(j)[j] += ridge_;
  }
  if (!factorise(basic, progress_)) return false;
  std::vector<double> shares(m_ * f_, 0.0);  // the inverse, and below it the others'
  for (std::size_t j = 0; j < f_; ++j) {
    shares[j * f_ + j] = 1;
    solve_factored(basic, shares.data() + j * f_, &progress_);
  }
  products_of({products_.data() + f_ * stride_, others, stride_}, {shares.data(), f_, f_}, f_, false,
              shares.data() + f_ * f_, f_, progress_);
  effects_.assign(m_ * stride_, 0.0);
  double* const of_others = effects_.data() + f_ * stride_;
  products_of({shares.data() + f_ * f_, others, f_}, {products_.data() + f_ * stride_, others, stride_}, f_, false,
              of_others + f_, stride_, progress_);
  for (std::size_t o = 0; o < others; ++o)
    for (std::size_t j = 0; j < m_; ++j)
      of_others[o * stride_ + j] =
          j < f_ ? -shares[(f_ + o) * f_ + j] : products_[(f_ + o) * stride_ + j] - of_others[o * stride_ + j];
  for (std::size_t j = 0; j < f_; ++j)
    for (std::size_t i = 0; i < m_; ++i) effects_[j * stride_ + i] = shares[i * f_ + j];
  starts_.assign(n_ * stride_, 0.0);
  products_of({columns_.data(), n_, stride_}, {shares.data(), m_, f_}, f_, false, starts_.data(), stride_, progress_);
  for (std::size_t t = 0; t < n_; ++t)
    for (std::size_t o = f_; o < m_; ++o) starts_[t * stride_ + o] -= columns_[t * stride_ + o];
  for (std::size_t j = 0; j < m_; ++j) {
    // What taking a row to the border costs, for a move by 1.
    curvature_.push_back(effects_[j * stride_ + j] + (j < f_ ? 0 : ridge_));
    negligible_.push_back(std::pow(j < f_ ? slack * (high_[j] - low_[j]) : slack, 2) / curvature_[j]);
  }
  curvature_.resize(stride_, 1.0);
  // Basic rows are brought to the kink.
  first_ = by_v_;
  first_.resize(stride_);
  std::fill_n(first_.begin(), f_, 0.0);
  for (std::size_t j = 0; j < f_; ++j) take(-excess_[j], effects_, j);
  add_taken(first_);
  return true;
}

void Exchange::leave_out(std::int64_t i, double k, double beyond) {
  row_ = i;
  k_ = k;
  beyond_ = beyond;
  const Row x = data_.row(i);
  square_ = squared_norm(x) + constant_ * constant_;
  own_.assign(stride_, 0.0);
  start_.assign(stride_, 0.0);
  combine(x, columns_, own_);
  combine(x, starts_, start_);
  for (std::size_t j = 0; j < stride_; ++j) start_[j] = first_[j] + (k + beyond) * start_[j];
  state_.assign(m_, State::out);
  std::fill_n(state_.begin(), f_, State::free);
  above_ = above_at_first_;
  below_ = below_at_first_;
  border_.clear();
  stopped_.clear();
  kept_ = 0;
  const auto own = std::lower_bound(by_row_.begin(), by_row_.end(), std::make_pair(i, std::size_t{0}));
  if (own == by_row_.end() || own->first != i) return;
  // Of the row itself both ends are 0.
  set_state(own->second, own->second < f_ ? State::low : State::ignored);
  if (own->second < f_) border_.push_back(own->second);
}

/// Of rows that are free or out, what a guess makes of them is held against what they are allowed.
void Exchange::set_state(std::size_t j, State state) {
  state_[j] = state;
  const bool watched = state == State::free || state == State::out;
  above_[j] = watched ? above_at_first_[j] : -infinity;
  below_[j] = watched ? below_at_first_[j] : infinity;
}

double Exchange::end_of(std::size_t j) const {
  return at(j).row == row_ ? 0.0 : state_[j] == State::low ? low_[j] : high_[j];
}

/// The bordered system of a guess. With the lines of others negated it is symmetric and quasi-definite (positive for basic
/// rows, negative for others), so that LDLᵀ needs no pivoting.
bool Exchange::solve() {
  const std::size_t p = border_.size();
  right_.resize(p);
  for (std::size_t r = 0; r < p; ++r) {
    const std::size_t j = border_[r];
    right_[r] = j < f_ ? end_of(j) - now_[j] : now_[j] - y_[j];
  }
  for (std::size_t r = kept_; r < p; ++r) {
    const std::size_t j = border_[r];
    const double* const effect = effects_.data() + j * stride_;
    for (std::size_t c = 0; c < r; ++c) factor_.set(r, c, border_[c] < f_ ? effect[border_[c]] : -effect[border_[c]]);
    factor_.set(r, r, j < f_ ? effect[j] : -effect[j] - ridge_);
  }
  progress_.work(static_cast<double>((p - kept_ + 1) * p * p) / 8);
  return factor_.solve(kept_, p, right_.data());
}

bool Exchange::improve() {
  const std::size_t p = border_.size();
  if (p > most_border) return false;
  now_ = start_;
  std::fill(theta_.begin(), theta_.end(), 0.0);
  std::fill(force_.begin(), force_.end(), 0.0);
  moving_ = stopped_;
  for (const std::size_t o : stopped_) take(theta_[o] = end_of(o), effects_, o);
  add_taken(now_);
  if (!solve()) return false;
  for (std::size_t r = 0; r < p; ++r) {
    const std::size_t j = border_[r];
    take(right_[r], effects_, j);
    (j < f_ ? force_ : theta_)[j] = right_[r];
    if (j >= f_) moving_.push_back(j);
  }
  add_taken(now_);
  std::copy_n(now_.begin(), f_, theta_.begin());
  for (std::size_t r = 0; r < p; ++r)
    if (border_[r] < f_) theta_[border_[r]] = end_of(border_[r]);
  return update();
}

/// Rows that their end pushes away leave it; those that gain most by it come to one: what brings these back brings
/// others back as well. Others stop at an end, leave it, or come in: no more of these than there is room for, since between
/// their ends are about as many rows as the basic ones. A row's gain is its excess squared over its curvature, twice what the
/// quadratic program has of a step of this row alone.
bool Exchange::update() {
  const auto collect = [&](std::size_t from, std::size_t to, double share, auto& found) {
    const double best = simd().single_gain(1e-300, curvature_.data() + from, now_.data() + from, above_.data() + from,
                                           below_.data() + from, to - from, gain_.data() + from);
    found.clear();
    for (std::size_t j = from; j < to; ++j)
      if (gain_[j] > std::max(share * best, negligible_[j])) found.emplace_back(gain_[j], j);
  };
  collect(0, f_, 0, ending_);
  collect(f_, m_, of_best, entering_);
  bool changed = !ending_.empty() || !entering_.empty();
  // Those that stay keep their order, so that much of the factor stays as well.
  std::size_t p = 0, at_end = 0, within = 0;
  kept_ = 0;
  for (std::size_t r = 0; r < border_.size(); ++r) {
    const std::size_t j = border_[r];
    if (j < f_ ? at(j).row != row_ && (state_[j] == State::high ? force_[j] > slack : force_[j] < -slack)
               : !(theta_[j] >= low_[j] && theta_[j] <= high_[j])) {
      set_state(j, j < f_ ? State::free : theta_[j] < low_[j] ? State::low : State::high);
      if (j >= f_ && end_of(j) == 0) set_state(j, State::out);
      if (state_[j] == State::low || state_[j] == State::high) stopping_.push_back(j);
      changed = true;
      continue;
    }
    ++(j < f_ ? at_end : within);
    kept_ += r == p;
    border_[p++] = j;
  }
  border_.resize(p);
  std::size_t stopped = 0;
  for (const std::size_t o : stopped_)
    if ((now_[o] - y_[o]) * (state_[o] == State::high ? 1 : -1) > slack) {
      set_state(o, State::in);
      border_.push_back(o);
      ++within;
      changed = true;
    } else {
      stopped_[stopped++] = o;
    }
  stopped_.resize(stopped);
  stopped_.insert(stopped_.end(), stopping_.begin(), stopping_.end());
  stopping_.clear();
  keep_largest(ending_, at_once);
  for (const auto& [beyond, j] : ending_) {
    set_state(j, theta_[j] < low_[j] ? State::low : State::high);
    border_.push_back(j);
  }
  at_end += ending_.size();
  keep_largest(entering_, 2 + (at_end > within ? at_end - within : 0));
  for (const auto& [off, o] : entering_) {
    set_state(o, State::in);
    border_.push_back(o);
  }
  return changed;
}

/// With r = T x − Σ θ x before and after θ is moved to the ends: of all rows of the band r's products are known.
Exchange::Look Exchange::look() {
  const auto remains = [&](std::size_t j) {  // r's product with a row
    return j < f_ ? excess_[j] + ridge_ * theta_[j] - force_[j] : by_v_[j] - now_[j];
  };
  const double whole = k_ + beyond_;
  double product = whole * square_, square = 0, cost = 0;
  clipped_.clear();
  const auto count = [&](std::size_t j) {
    const double theta = theta_[j], now = std::clamp(theta, low_[j], high_[j]);
    product -= theta * own_[j];
    square -= theta * remains(j);
    cost += now * excess_[j];
    if (now != theta) clipped_.emplace_back(j, now - theta);
  };
  for (std::size_t j = 0; j < f_; ++j) count(j);
  for (const std::size_t o : moving_) count(o);
  square += whole * product;
  for (std::size_t a = 0; a < clipped_.size(); ++a) {
    const auto& [j, delta] = clipped_[a];
    const double* const products = products_.data() + j * stride_;
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
  const auto move = [&](std::size_t j) {
    const double now = std::clamp(theta_[j], low_[j], high_[j]);
    if (now != 0 && at(j).row != row_) moves_.emplace_back(order_[j], now);
  };
  for (std::size_t j = 0; j < f_; ++j) move(j);
  for (const std::size_t o : moving_) move(o);
  return moves_;
}

}  // namespace margin
