#include "core/solvers/joint/face.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr double most_inner_products = 4e6;
constexpr double few = 0.02;          // of the classes of a face, that leave it
constexpr double solved = 1e-14;      // of the squared gradient
constexpr double resolution = 1e-12;  // of scores

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  const std::size_t n = a.size();
#pragma omp simd reduction(+ : sum)
  for (std::size_t j = 0; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace

JointFace::JointFace(const JointRows& rows, Run& run)
    : rows_(rows), run_(run), scratch_(2 * rows.stride()), coarse_(rows, run) {
  u_.assign(rows.size(), 0.0);
}

double JointFace::workspace(const Problem& p) {
  const double stride = p.classes + 3.0, n = static_cast<double>(p.rows());
  return 8 * stride * (p.dimensions() + 1.0) + n * (28 + 96 * stride) + 8.0 * p.dimensions() +
         JointCoarse::workspace(p) + 8 * std::min(most_inner_products, n * n * stride);
}

void JointFace::collect(const JointPoint& point, const std::vector<std::int32_t>& rows) {
  which_.clear();
  classes_.clear();
  unit_.clear();
  alive_.clear();
  x_.clear();
  begin_.assign(1, 0);
  pass_ = static_cast<double>(u_.size()) / 2;
  for (const std::int32_t i : rows) {
    const double* const p = point.p.data() + static_cast<std::size_t>(i) * rows_.stride();
    const double unit = rows_.cost(i) * std::sqrt(rows_.size_of(i));
    const std::size_t before = classes_.size();
    if (!(unit > 0)) continue;
    for (std::int32_t c = 0; c < rows_.classes(); ++c)
      if (p[c] > 0) {
        classes_.push_back(c);
        x_.push_back(unit * p[c]);
      }
    if (classes_.size() < before + 2) {
      classes_.resize(before);
      x_.resize(before);
      continue;
    }
    which_.push_back(i);
    unit_.push_back(unit);
    begin_.push_back(classes_.size());
    alive_.push_back(classes_.size() - before);
    pass_ += rows_.cost_of(i, classes_.size() - before);
  }
  before_ = x_;
  run_.work(static_cast<double>(rows.size() * rows_.stride()));
}

/// out = the scores of every variable.
void JointFace::scores(const LargeArray& w, std::vector<double>& out) {
  for (std::size_t t = 0; t < which_.size(); ++t) {
    if (t + 4 < which_.size()) prefetch(rows_.row(which_[t + 4]));
    const std::size_t at = begin_[t];
    rows_.scores_of(which_[t], w.data(), classes_.data() + at, alive_[t], out.data() + at, scratch_.data());
    run_.work(rows_.cost_of(which_[t], alive_[t]));
  }
  spent_ += pass_;
}

/// u = −Σ cost x ⊗ p, p = x/unit: by what W moves with p.
void JointFace::combine(const std::vector<double>& x) {
  std::fill(u_.begin(), u_.end(), 0.0);
  run_.work(static_cast<double>(u_.size()) / 2);
  std::vector<double> g(rows_.stride());
  for (std::size_t t = 0; t < which_.size(); ++t) {
    if (t + 4 < which_.size()) prefetch(rows_.row(which_[t + 4]));
    const std::size_t at = begin_[t], n = alive_[t];
    const double factor = -rows_.cost(which_[t]) / unit_[t];
    for (std::size_t c = 0; c < n; ++c) g[c] = factor * x[at + c];
    rows_.add_of(which_[t], g.data(), classes_.data() + at, n, u_.data(), scratch_.data());
    run_.work(rows_.cost_of(which_[t], n));
  }
  spent_ += pass_;
}

/// v less its mean over each row; `in_units`: from scores to slopes in x.
void JointFace::centre(std::vector<double>& v, bool in_units) {
  for (std::size_t t = 0; t < which_.size(); ++t) {
    const std::size_t end = begin_[t] + alive_[t];
    double mean = 0;
    for (std::size_t j = begin_[t]; j < end; ++j) mean += v[j];
    mean /= static_cast<double>(alive_[t]);
    const double factor = in_units ? rows_.cost(which_[t]) / unit_[t] : 1.0;
    for (std::size_t j = begin_[t]; j < end; ++j) v[j] = factor * (v[j] - mean);
  }
  run_.work(static_cast<double>(v.size()));
}

/// Of every class the rows of its variables, and where each variable is among them.
void JointFace::list_members() {
  const std::size_t m = classes_.size();
  member_.resize(m);
  place_.resize(m);
  gathered_.resize(m);
  products_.resize(m);
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t t = 0; t < which_.size(); ++t)
    for (std::size_t j = begin_[t]; j < begin_[t + 1]; ++j) {
      place_[j] = next[static_cast<std::size_t>(classes_[j])]++;
      member_[place_[j]] = which_[t];
    }
}

void JointFace::prepare_inner_products(int products) {
  const auto k = static_cast<std::size_t>(rows_.classes());
  first_.assign(k + 1, 0);
  for (const std::int32_t c : classes_) ++first_[static_cast<std::size_t>(c) + 1];
  double cells = 0;
  for (std::size_t c = 0; c < k; ++c) {
    cells += static_cast<double>(first_[c + 1]) * static_cast<double>(first_[c + 1]);
    first_[c + 1] += first_[c];
  }
  const double per_product = rows_.stored() + 8, preparation = cells * per_product / 2;
  product_ = cells / 3;  // contiguous numbers, unlike those of a row
  by_class_ = cells <= most_inner_products && preparation + product_ * products < 2 * pass_ * products;
  if (!by_class_) return;
  spent_ += preparation;
  list_members();
  inner_products_.resize(static_cast<std::size_t>(cells));
  std::vector<double> dense(rows_.features());
  double* block = inner_products_.data();
  for (std::size_t c = 0; c < k; ++c) {
    const std::size_t n = first_[c + 1] - first_[c];
    const std::int32_t* const rows = member_.data() + first_[c];
    for (std::size_t a = 0; a < n; ++a) {
      std::fill(dense.begin(), dense.end(), 0.0);
      add(1.0, rows_.row(rows[a]), dense.data());
      const double size = std::sqrt(rows_.size_of(rows[a]));
      for (std::size_t b = 0; b <= a; ++b) {
        const double value = dot(rows_.row(rows[b]), dense.data()) + rows_.constant() * rows_.constant();
        block[a * n + b] = block[b * n + a] = value / size / std::sqrt(rows_.size_of(rows[b]));
      }
      run_.work(static_cast<double>(a + 1) * per_product + static_cast<double>(dense.size()));
    }
    block += n * n;
  }
}

/// products = the inner products times what was gathered.
void JointFace::multiply_inner_products() {
  const double* block = inner_products_.data();
  const SimdLoops& loops = simd();
  for (std::size_t c = 0; c + 1 < first_.size(); ++c) {
    const std::size_t n = first_[c + 1] - first_[c];
    for (std::size_t a = 0; a < n; ++a)
      products_[first_[c] + a] = loops.dot_dd(block + a * n, gathered_.data() + first_[c], n);
    block += n * n;
    run_.work(static_cast<double>(n * n) / 3);
  }
  spent_ += product_;
}

/// The same through the weights of one class after the other.
void JointFace::multiply_classes() {
  dense_.resize(rows_.features());
  for (std::size_t c = 0; c + 1 < first_.size(); ++c) {
    std::fill(dense_.begin(), dense_.end(), 0.0);
    double last = 0;
    run_.work(static_cast<double>(dense_.size()) / 4);
    spent_ += static_cast<double>(dense_.size()) / 4;
    for (std::size_t a = first_[c]; a < first_[c + 1]; ++a) {
      const Row x = rows_.row(member_[a]);
      const double g = gathered_[a] / std::sqrt(rows_.size_of(member_[a]));
      if (g == 0) continue;
      add(g, x, dense_.data());
      last += g * rows_.constant();
      run_.work(x.count + 4.0);
      spent_ += x.count + 4.0;
    }
    for (std::size_t a = first_[c]; a < first_[c + 1]; ++a) {
      const Row x = rows_.row(member_[a]);
      products_[a] = (dot(x, dense_.data()) + last * rows_.constant()) / std::sqrt(rows_.size_of(member_[a]));
      run_.work(x.count + 4.0);
      spent_ += x.count + 4.0;
    }
  }
}

/// image = H search, H the negative second derivative of D in x.
void JointFace::multiply() {
  if (!by_class_ && !coarse_ready_) {
    combine(search_);
    scores(u_, image_);
    for (double& v : image_) v = -v;
    centre(image_, true);
    return;
  }
  for (std::size_t j = 0; j < search_.size(); ++j) gathered_[place_[j]] = search_[j];
  if (by_class_)
    multiply_inner_products();
  else
    multiply_classes();
  for (std::size_t t = 0; t < which_.size(); ++t)
    for (std::size_t j = begin_[t]; j < begin_[t] + alive_[t]; ++j) image_[j] = products_[place_[j]];
  centre(image_, false);
}

/// P − D of the face: of each row by how much its largest score is above the mean by its weights.
double JointFace::gap() const {
  double sum = 0;
  for (std::size_t t = 0; t < which_.size(); ++t) {
    if (alive_[t] == 0) continue;
    double top = -1e300, mean = 0, all = 0;
    for (std::size_t j = begin_[t]; j < begin_[t] + alive_[t]; ++j) {
      top = std::max(top, residual_[j]);
      mean += x_[j] * residual_[j];
      all += x_[j];
    }
    sum += all * top - mean;
  }
  return sum;
}

/// Takes the classes that came to 0 out of the face; how many.
std::size_t JointFace::drop() {
  std::size_t count = 0;
  for (std::size_t t = 0; t < which_.size(); ++t) {
    const std::size_t at = begin_[t];
    std::size_t n = alive_[t];
    for (std::size_t j = at; j < at + n;) {
      if (x_[j] > 1e-14 * unit_[t]) {
        ++j;
        continue;
      }
      const std::size_t last = at + --n;
      ++count;
      x_[j] = 0;
      for (std::vector<double>* v : {&x_, &before_, &residual_}) std::swap((*v)[j], (*v)[last]);
      std::swap(classes_[j], classes_[last]);
      if (by_class_ || coarse_ready_) std::swap(place_[j], place_[last]);
    }
    if (n == alive_[t]) continue;
    if (n < 2) n = 0;  // a class alone has nowhere to go
    double sum = 0;
    for (std::size_t j = at; j < at + n; ++j) sum += residual_[j];
    for (std::size_t j = at; j < at + n; ++j) residual_[j] -= sum / static_cast<double>(n);
    for (std::size_t j = at + n; j < begin_[t + 1]; ++j) residual_[j] = search_[j] = image_[j] = 0;
    alive_[t] = n;
  }
  run_.work(static_cast<double>(2 * classes_.size()));
  return count;
}

void JointFace::give_back(JointPoint& point) {
  for (std::size_t t = 0; t < which_.size(); ++t) {
    double* const p = point.p.data() + static_cast<std::size_t>(which_[t]) * rows_.stride();
    alive_[t] = begin_[t + 1] - begin_[t];
    double sum = 0;
    for (std::size_t j = begin_[t]; j < begin_[t + 1]; ++j) sum += x_[j];
    for (std::size_t j = begin_[t]; j < begin_[t + 1]; ++j) {
      p[classes_[j]] = x_[j] / sum;
      x_[j] = p[classes_[j]] * unit_[t] - before_[j];
    }
  }
  combine(x_);
  for (std::size_t j = 0; j < u_.size(); ++j) point.w[j] += u_[j];
  run_.work(static_cast<double>(u_.size() + 4 * classes_.size()));
}

/// The step of this length, projected onto the simplices, where D gains more by it than `gain`.
bool JointFace::bend(double length, double gain) {
  const std::size_t m = x_.size();
  std::size_t beyond = 0;
  for (std::size_t j = 0; j < m; ++j) beyond += x_[j] + length * search_[j] < 0;
  run_.work(static_cast<double>(4 * m));
  if (beyond < 2) return false;
  along_ = search_;
  image_along_ = image_;
  for (std::size_t t = 0; t < which_.size(); ++t) {
    if (alive_[t] == 0) continue;
    const std::size_t at = begin_[t], end = at + alive_[t];
    bool inside = true;
    for (std::size_t j = at; j < end; ++j) {
      search_[j] = x_[j] + length * along_[j];
      inside = inside && search_[j] >= 0;
    }
    if (!inside) {
      double all = 0;
      for (std::size_t j = at; j < end; ++j) all += x_[j];
      for (std::size_t j = at; j < end; ++j) search_[j] /= all;
      project_on_simplex(search_.data() + at, alive_[t]);
      for (std::size_t j = at; j < end; ++j) search_[j] *= all;
    }
    for (std::size_t j = at; j < end; ++j) search_[j] -= x_[j];
  }
  multiply();
  if (inner(residual_, search_) - 0.5 * inner(search_, image_) > gain) {
    for (std::size_t j = 0; j < m; ++j) {
      x_[j] += search_[j];
      residual_[j] -= image_[j];
    }
    return true;
  }
  search_.swap(along_);
  image_.swap(image_along_);
  return false;
}

const std::vector<double>& JointFace::preconditioned() {
  if (!coarse_ready_) return residual_;
  coarse_.apply(residual_, begin_, alive_, classes_, slope_);
  return slope_;
}

bool JointFace::step(JointPoint& point, const std::vector<std::int32_t>& rows, int most_products, double wanted) {
  spent_ = 0;
  collect(point, rows);
  if (which_.empty()) return false;
  const std::size_t m = classes_.size();
  for (std::vector<double>* v : {&residual_, &search_, &image_}) v->assign(m, 0.0);
  scores(point.w, residual_);
  double noise = 0;  // of the squared gradient: scores do not tell more
  for (std::size_t t = 0; t < which_.size(); ++t)
    for (std::size_t j = begin_[t]; j < begin_[t + 1]; ++j) {
      const double error = resolution * rows_.cost(which_[t]) / unit_[t] * (1 + std::fabs(residual_[j]));
      noise += error * error;
      if (classes_[j] != rows_.label(which_[t])) residual_[j] += 1;
    }
  centre(residual_, true);
  prepare_inner_products(most_products);
  coarse_ready_ = !by_class_ && coarse_.prepare(which_, begin_, alive_, classes_);
  if (coarse_ready_) {
    list_members();
    slope_.assign(m, 0.0);
  }
  search_ = preconditioned();
  double square = inner(residual_, residual_), rho = inner(residual_, search_);
  const double enough = std::max(solved * square, noise);
  std::size_t dropped = 0;
  for (int product = 0; product < most_products && square > enough && rho > 0 && std::isfinite(rho); ++product) {
    multiply();
    const double curvature = inner(search_, image_);
    if (!(curvature > 0) || !std::isfinite(curvature)) break;
    double length = rho / curvature, reach = 1e300;
    for (std::size_t j = 0; j < m; ++j)
      if (search_[j] < 0) reach = std::min(reach, -x_[j] / search_[j]);
    const bool blocked = reach < length;
    if (blocked && bend(length, reach * (rho - 0.5 * reach * curvature))) {
      ++product;
    } else {
      length = std::min(length, reach);
      for (std::size_t j = 0; j < m; ++j) {
        x_[j] += length * search_[j];
        residual_[j] -= length * image_[j];
      }
    }
    if (blocked) dropped += drop();
    const std::vector<double>& slope = preconditioned();
    const double next = inner(residual_, slope), ratio = blocked ? 0.0 : next / rho;
    rho = next;
    square = coarse_ready_ ? inner(residual_, residual_) : rho;
    for (std::size_t j = 0; j < m; ++j) search_[j] = slope[j] + ratio * search_[j];
    run_.work(static_cast<double>(5 * m));
    if (run_.out_of_time() || (coarse_ready_ && gap() <= wanted)) break;
  }
  give_back(point);
  return static_cast<double>(dropped) < few * static_cast<double>(m);
}

}  // namespace margin
