// Classes trained jointly (option multiclass): certified intervals hold the optimum that this file finds in another way,
// for any dual weights and shape of problem; the parts of the solver do what they say.
#include "core/certificate/joint.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/certificate/balanced_flows.hpp"
#include "core/model/verification.hpp"
#include "core/solvers/joint/face.hpp"
#include "core/solvers/joint/terms.hpp"
#include "core/train/train.hpp"
#include "newton_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::sample;
using testing::Storage;
using testing::store;
using testing::Table;

Options joint_options(const std::string& loss, double lambda, double tolerance, const std::string& intercept) {
  Options s = testing::soft(loss, lambda, tolerance);
  s.multiclass = Multiclass::joint;
  s.intercept = intercept != "false";
  if (intercept == "free") s.intercept_form = InterceptForm::free;
  return s;
}

Table table(Random& random, int shape, int k) {
  Table t;
  do {
    t = make_table(random, shape, true, std::min(k, 5));
  } while (t.rows() < k + 4);
  for (int i = 0; k > 5 && i < t.rows(); ++i)
    t.y[static_cast<std::size_t>(i)] = i < k ? i : static_cast<double>(random.below(static_cast<std::uint64_t>(k)));
  return t;
}

struct Enclosed {
  double lower, upper;
};

/// Rows as plain numbers with the constant feature, and c/W.
struct Plain {
  explicit Plain(const Problem& p) : k(p.classes), d(p.dimensions() + (p.intercept ? 1 : 0)), lambda(p.lambda) {
    const double constant = p.free_intercept ? 1.0 : p.intercept_scale;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      Eigen::VectorXd row = Eigen::VectorXd::Zero(d);
      add(1.0, p.data.row(i), row.data());
      if (p.intercept) row(d - 1) = constant;
      x.push_back(row);
      c.push_back(p.weight(i) / p.total_weight);
      y.push_back(p.label[static_cast<std::size_t>(i)]);
    }
  }
  int k, d;
  double lambda;
  std::vector<Eigen::VectorXd> x;
  std::vector<double> c;
  std::vector<int> y;
};

/// Multinomial: Newton's method with the whole Hessian and halved steps; the optimum to rounding.
double multinomial_optimum(const Problem& p) {
  const Plain r(p);
  const int k = r.k, d = r.d, size = k * d;
  Eigen::VectorXd w = Eigen::VectorXd::Zero(size);
  const auto penalized = [&](int j) { return !(p.free_intercept && j % d == d - 1); };
  const auto evaluate = [&](const Eigen::VectorXd& at, Eigen::VectorXd* g, Eigen::MatrixXd* h) {
    double value = 0;
    for (int j = 0; j < size; ++j) {
      if (!penalized(j)) continue;
      value += r.lambda / 2 * at(j) * at(j);
      if (g != nullptr) (*g)(j) += r.lambda * at(j);
      if (h != nullptr) (*h)(j, j) += r.lambda;
    }
    for (std::size_t i = 0; i < r.x.size(); ++i) {
      Eigen::VectorXd s(k);
      for (int c = 0; c < k; ++c) s(c) = at.segment(c * d, d).dot(r.x[i]);
      const double top = s.maxCoeff(), log = top + std::log((s.array() - top).exp().sum());
      value += r.c[i] * (log - s(r.y[i]));
      if (g == nullptr) continue;
      const Eigen::VectorXd q = (s.array() - log).exp();
      for (int c = 0; c < k; ++c) {
        g->segment(c * d, d) += r.c[i] * (q(c) - (c == r.y[i] ? 1.0 : 0.0)) * r.x[i];
        for (int e = 0; e < k; ++e)
          h->block(c * d, e * d, d, d) +=
              r.c[i] * ((c == e ? q(c) : 0.0) - q(c) * q(e)) * (r.x[i] * r.x[i].transpose());
      }
    }
    return value;
  };
  double value = evaluate(w, nullptr, nullptr);
  for (int round = 0; round < 100; ++round) {
    Eigen::VectorXd g = Eigen::VectorXd::Zero(size);
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(size, size);
    evaluate(w, &g, &h);
    if (p.free_intercept)  // the same number added to all intercepts changes nothing
      for (int c = 0; c < k; ++c)
        for (int e = 0; e < k; ++e) h(c * d + d - 1, e * d + d - 1) += 1.0 / k;
    const Eigen::VectorXd step = -h.ldlt().solve(g);
    double t = 1;
    while (t > 1e-12 && !(evaluate(w + t * step, nullptr, nullptr) <= value)) t /= 2;
    if (t <= 1e-12) break;
    w += t * step;
    value = evaluate(w, nullptr, nullptr);
    if (-g.dot(step) < 1e-17 * value) break;
  }
  return value;
}

/// Crammer–Singer without a free intercept: row by row, with a projection by sorting.
Enclosed crammer_singer_optimum(const Problem& p, int sweeps) {
  const Plain r(p);
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(r.k, r.d);
  std::vector<Eigen::VectorXd> q;
  for (std::size_t i = 0; i < r.x.size(); ++i) q.push_back(Eigen::VectorXd::Unit(r.k, r.y[i]));
  const auto projected = [](const Eigen::VectorXd& z) {
    std::vector<double> sorted(z.data(), z.data() + z.size());
    std::sort(sorted.rbegin(), sorted.rend());
    double sum = 0, threshold = 0;
    for (std::size_t c = 0; c < sorted.size(); ++c) {
      sum += sorted[c];
      if (sorted[c] > (sum - 1) / static_cast<double>(c + 1)) threshold = (sum - 1) / static_cast<double>(c + 1);
    }
    return Eigen::VectorXd((z.array() - threshold).max(0.0));
  };
  Enclosed out{0, 0};
  for (int sweep = 0; sweep <= sweeps; ++sweep) {
    out = {0, 0};
    for (std::size_t i = 0; i < r.x.size(); ++i) {
      Eigen::VectorXd s = w * r.x[i] + Eigen::VectorXd::Ones(r.k);
      s(r.y[i]) -= 1;
      out.upper += r.c[i] * (s.maxCoeff() - s(r.y[i]));
      out.lower += r.c[i] * (1 - q[i](r.y[i]));
    }
    out.upper += r.lambda / 2 * w.squaredNorm();
    out.lower -= r.lambda / 2 * w.squaredNorm();
    if (out.upper - out.lower < 1e-11 * out.upper) break;
    for (std::size_t i = 0; i < r.x.size(); ++i) {
      const double cost = r.c[i] / r.lambda, size = cost * r.x[i].squaredNorm();
      Eigen::VectorXd s = w * r.x[i] + Eigen::VectorXd::Ones(r.k);
      s(r.y[i]) -= 1;
      Eigen::VectorXd next = Eigen::VectorXd::Unit(r.k, r.y[i] == 0 ? 1 : 0);
      if (size > 0) next = projected(q[i] + s / size);
      w -= cost * (next - q[i]) * r.x[i].transpose();
      q[i] = next;
    }
  }
  return out;
}

struct Trained {
  Problem problem;
  Model model;
};
Trained trained(const Dataset& data, const Options& options) {
  return {make_problem(data, options), train(data, options, Progress())};
}

TEST(Joint, intervals_hold_the_optimum_and_reach_their_tolerance) {
  Random random(14);
  int turn = 0;
  for (const char* loss : {"logistic", "hinge"})
    for (const char* intercept : {"penalized", "free", "false"})
      for (int shape = 0; shape < 8; ++shape)
        for (const int k : {3, 10}) {
          SCOPED_TRACE(std::string(loss) + " " + intercept + " shape " + std::to_string(shape) + " classes " +
                       std::to_string(k));
          Table t = table(random, shape, k);
          const bool balanced = loss == std::string("hinge") && intercept == std::string("free");
          if (turn % 2 == 1)
            for (int i = 0; i < t.rows(); ++i) t.weight.push_back(i % 5 == 4 ? 0.0 : 0.25 * (1 + i % 4));
          const Dataset data = store(t, true, static_cast<Storage>(turn++ % 3), k);
          Options o = joint_options(loss, turn % 4 == 0 ? 1e-3 : 0.05, balanced ? 1e-5 : 1e-7, intercept);
          if (turn % 3 == 0) o.class_weight = {{"0", 3.0}, {"1", 0.5}};
          if (o.intercept && o.intercept_form == InterceptForm::penalized) o.intercept_scale = turn % 2 == 0 ? 1 : 3;
          const Trained r = trained(data, o);
          const Certificate& c = r.model.certificate;
          // The hinge with a free intercept may end early: how far depends on rounding where columns are 10⁴ apart in
          // scale (shape 5), where it only has to be honest.
          if (!balanced) {
            EXPECT_EQ(r.model.status, Status::optimal) << c.relative_gap;
          } else if (shape != 5) {
            EXPECT_LE(c.relative_gap, 1e-3);
          }
          EXPECT_EQ(r.model.solver, "joint");
          ASSERT_EQ(r.model.outputs(), k);
          if (loss == std::string("logistic")) {
            const double optimum = multinomial_optimum(r.problem);
            EXPECT_LE(c.lower, optimum * (1 + 1e-13));
            EXPECT_GE(c.upper, optimum * (1 - 1e-13));
          } else if (!r.problem.free_intercept) {
            const Enclosed optimum = crammer_singer_optimum(r.problem, 3000);
            EXPECT_LE(c.lower, optimum.upper * (1 + 1e-12));
            EXPECT_GE(c.upper, optimum.lower * (1 - 1e-12));
          } else {  // an intercept with some penalty costs more
            Options penalized = o;
            penalized.intercept_form = InterceptForm::penalized;
            penalized.intercept_scale = 10;
            EXPECT_LE(c.lower, crammer_singer_optimum(make_problem(data, penalized), 200).upper);
          }
        }
}

/// Whatever the vectors are, the interval holds the optimum.
TEST(Joint, certificates_are_sound_for_any_vectors) {
  Random random(15);
  int proofs = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const int k = 3 + trial % 3;
    const Table t = table(random, trial % 8, k);
    const Dataset data = make_dataset(t, true, k);
    const bool hinge = trial % 2 == 1;
    const Options o = joint_options(hinge ? "hinge" : "logistic", 0.1, 1e-6,
                                    hinge            ? "penalized"
                                    : trial % 4 == 0 ? "free"
                                                     : "false");
    const Trained r = trained(data, o);
    Enclosed optimum{0, 0};
    if (hinge)
      optimum = crammer_singer_optimum(r.problem, 500);
    else
      optimum.lower = optimum.upper = multinomial_optimum(r.problem);
    Options with = o;
    with.dual_weights = true;
    const Weights best = *train(data, with, Progress()).dual_weights;
    for (int forged = 0; forged < 6; ++forged) {
      Weights weights = r.model.weights, dual = best;
      Eigen::VectorXd intercept = r.model.intercept;
      if (forged > 0) {
        for (Eigen::Index j = 0; j < weights.size(); ++j) weights.data()[j] += 0.1 * testing::normal(random);
        for (Eigen::Index j = 0; j < dual.size(); ++j)
          dual.data()[j] += (forged < 3 ? 0.02 : 3.0) * testing::normal(random);
      }
      if (forged == 5) dual(0, 0) = std::numeric_limits<double>::quiet_NaN();
      const Certificate c = certify(r.problem, weights, intercept, dual);
      EXPECT_LE(c.lower, optimum.upper * (1 + 1e-12)) << trial << " " << forged;
      EXPECT_GE(c.upper, optimum.lower * (1 - 1e-12)) << trial << " " << forged;
      proofs += c.lower > 0;
    }
  }
  EXPECT_GT(proofs, 120);
}

/// A constant column of 2^30 beside others does what a free intercept does, and its rounding takes nothing of what they prove.
TEST(Joint, rounding_is_bounded_by_columns) {
  constexpr double large = 0x1p30;
  for (const char* const loss : {"logistic", "hinge"}) {
    Table t = sample(31, 400, 3, true, 3);
    const Dataset data = make_dataset(t, true, 3);
    const Options o = joint_options(loss, 0.01, 1e-6, "free");
    const Problem free = make_problem(data, o);
    const Solution found = choose_solver(free, o).solve(free, o, Progress());
    const Certificate as_free = certify(free, found.weights, found.intercept, found.dual);
    EXPECT_LE(as_free.relative_gap, 1e-3) << loss;
    for (std::vector<double>& x : t.x) x.push_back(large);
    const Dataset wide = make_dataset(t, true, 3);
    const Problem p = make_problem(wide, joint_options(loss, 0.01, 1e-6, "false"));
    Weights w = Weights::Zero(3, p.dimensions());
    w.leftCols(found.weights.cols()) = found.weights;
    w.col(w.cols() - 1) = found.intercept / large;
    const Certificate c = certify(p, w, Eigen::VectorXd(), found.dual);
    EXPECT_LE(c.lower, as_free.upper * (1 + 1e-12)) << loss;
    EXPECT_GE(c.upper, as_free.lower * (1 - 1e-12)) << loss;
    EXPECT_LE(c.gap, as_free.gap + 1e-6 * as_free.upper) << loss << " " << as_free.gap;
  }
}

TEST(Joint, two_classes_are_one_problem_of_half_the_penalty) {
  Random random(16);
  for (const char* loss : {"logistic", "hinge"}) {
    Table t = make_table(random, 0, true);
    const Dataset data = make_dataset(t, true);
    Options o = joint_options(loss, 0.1, 1e-9, "penalized");
    const Trained two = trained(data, o);
    EXPECT_EQ(two.model.outputs(), 1);
    // The same rows with a third class that only a row of no weight has: the joint problem of two weight vectors.
    t.x.push_back(t.x[0]);
    t.y.push_back(2);
    t.weight.assign(t.x.size(), 1.0);
    t.weight.back() = 0;
    o.multiclass = Multiclass::one_vs_rest;
    o.lambda = 0.05;
    EXPECT_NEAR(train(data, o, Progress()).certificate.upper, two.model.certificate.upper, 1e-8);
    if (loss == std::string("logistic")) {
      Problem p = make_problem(data, joint_options(loss, 0.1, 1e-9, "penalized"));
      p.lambda = 0.1;  // of both vectors
      EXPECT_NEAR(multinomial_optimum(p), two.model.certificate.upper, 1e-9);
    }
    Model model = two.model;
    model.options = {{"multiclass", {std::string("joint")}}, {"loss", {std::string(loss)}}};
    const Options settings = joint_options(loss, 0.1, 1e-9, "penalized");
    Verification verification(model, settings, true);
    for (std::int64_t i = 0; i < data.rows(); ++i)
      verification.add(data.row(i), two.problem.label[static_cast<std::size_t>(i)], -1);
    EXPECT_NEAR(*verification.result(Progress()).primal, two.model.certificate.upper, 1e-14);
  }
}

TEST(Joint, verification_recomputes_the_interval_from_rows) {
  for (const char* loss : {"logistic", "hinge"})
    for (const char* intercept : {"penalized", "free"}) {
      SCOPED_TRACE(std::string(loss) + " " + intercept);
      Table t = sample(17, 120, 4, true, 4);
      const Dataset data = make_dataset(t, true, 4);
      Options o = joint_options(loss, 0.01, 1e-6, intercept);
      o.dual_weights = true;
      const Trained r = trained(data, o);
      Model model = r.model;
      const auto verified = [&](bool dual) {
        Model copy = model;
        if (!dual) copy.dual_weights.reset();
        Verification whole(copy, o, true), first(copy, o, false), second(copy, o, false);
        for (std::int64_t i = 0; i < data.rows(); ++i) {
          const std::int32_t label = r.problem.label[static_cast<std::size_t>(i)];
          whole.add(data.row(i), label, -1);
          (i % 2 == 0 ? first : second).add(data.row(i), label, -1);
        }
        EXPECT_TRUE(first.merge(second.state()));
        const VerifiedModel a = whole.result(Progress()), b = first.result(Progress());
        EXPECT_NEAR(*a.primal, *b.primal, 1e-14);
        EXPECT_EQ(a.dual.has_value() && !dual, b.dual.has_value() && !dual);
        if (b.dual.has_value() && !dual) {
          EXPECT_NEAR(*a.dual, *b.dual, 1e-12);
        }
        return a;
      };
      const VerifiedModel with = verified(true), without = verified(false);
      EXPECT_EQ(with.primal, r.model.certificate.upper);
      EXPECT_EQ(with.dual, r.model.certificate.lower);
      ASSERT_EQ(without.dual.has_value(), loss == std::string("logistic"));
      if (without.dual.has_value()) {
        EXPECT_LE(*without.primal - *without.dual, 2e-6 * *without.primal);
      }
    }
}

TEST(Joint, free_intercepts_of_rare_and_of_weightless_classes) {
  for (const char* loss : {"logistic", "hinge"}) {
    Random random(18);
    Dataset rare(Dataset::Outcome::classes), weightless(Dataset::Outcome::classes);
    for (Dataset* data : {&rare, &weightless})
      for (int c = 0; c < 4; ++c) data->classes().intern(std::to_string(c), c);
    for (int i = 0; i < 1500; ++i) {
      const int c = i == 700 ? 3 : i % 3;
      const double x[2] = {testing::normal(random) + c, testing::normal(random) - c};
      rare.append(dense_row(x, 2), c);
      weightless.append(dense_row(x, 2), c, c == 3 ? 0.0 : 1.0);
    }
    for (const Dataset* data : {&rare, &weightless}) {
      SCOPED_TRACE(loss);
      const Trained r = trained(*data, joint_options(loss, 1e-3, 1e-6, "free"));
      EXPECT_EQ(r.model.status, Status::optimal) << r.model.certificate.relative_gap;
      if (data == &weightless) {  // it is never predicted
        std::vector<double> s(4);
        for (std::int64_t i = 0; i < 50; ++i) {
          score(scorer_of(r.model), data->row(i), 2, s.data());
          EXPECT_LT(s[3], *std::max_element(s.begin(), s.begin() + 3) - 30);
        }
      }
    }
  }
}

TEST(Joint, a_row_of_weight_two_is_the_row_twice) {
  for (const char* loss : {"logistic", "hinge"}) {
    Table t = sample(19, 60, 3, true, 3), twice = t;
    t.weight.assign(t.x.size(), 1.0);
    for (std::size_t i = 0; i < 60; i += 3) {
      t.weight[i] = 2;
      twice.x.push_back(t.x[i]);
      twice.y.push_back(t.y[i]);
    }
    const Options o = joint_options(loss, 0.01, 1e-9, "free");
    EXPECT_NEAR(train(make_dataset(t, true, 3), o, Progress()).certificate.upper,
                train(make_dataset(twice, true, 3), o, Progress()).certificate.upper, 2e-9);
  }
}

TEST(Joint, a_previous_model_saves_iterations) {
  for (const char* loss : {"logistic", "hinge"}) {
    const Dataset data = make_dataset(sample(20, 400, 6, true, 5), true, 5);
    Options o = joint_options(loss, 1e-3, 1e-6, "free");
    o.dual_weights = true;
    const Model first = train(data, o, Progress());
    o.initial = start_from(first);
    const Model second = train(data, o, Progress());
    EXPECT_LT(*second.iterations, *first.iterations) << loss;
    EXPECT_EQ(second.status, Status::optimal);
    o.initial->weights.pop_back();
    EXPECT_THROW(train(data, o, Progress()), Error);
  }
}

/// Rows of 1 to 12 of the features, the first few of which most rows have.
Dataset sparse_classes(int n, int features, int k) {
  Random random(11);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < k; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < n; ++i) {
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    for (int j = 0; j < 12; ++j) {
      const int block = features / 12;
      if (j > 0 && random.below(3) == 0) continue;
      indices.push_back(j * block + (j < 4 ? 0 : static_cast<int>(random.below(static_cast<std::uint64_t>(block)))));
      values.push_back(0.2 + random.uniform());
    }
    data.append(sparse_row(indices.data(), values.data(), static_cast<std::int32_t>(indices.size()), features),
                testing::label_of(data, i < k ? i : static_cast<double>(random.below(static_cast<std::uint64_t>(k)))));
  }
  return data;
}

// What the preconditioner does undoes σ + Z Zᵀ between centred vectors, and stays positive definite when classes leave.
TEST(Joint, coarse_inverts_what_it_sees_of_a_face) {
  const int k = 7;
  const Dataset data = sparse_classes(60, 600, k);
  for (const char* intercept : {"penalized", "false"}) {
    const Options o = joint_options("hinge", 0.02, 1e-6, intercept);
    const Problem problem = make_problem(data, o);
    const Progress progress;
    margin::Run run(o, progress, "joint", 1000);
    const JointRows rows(problem, run);
    ASSERT_TRUE(JointCoarse::suits(rows));
    std::vector<std::int32_t> which, classes;
    std::vector<std::size_t> begin{0}, alive;
    for (std::int32_t i = 0; i < 60; ++i) {
      which.push_back(i);
      for (int c = 0; c < k; ++c)
        if ((i + c) % 3 != 0) classes.push_back(c);
      alive.push_back(classes.size() - begin.back());
      begin.push_back(classes.size());
    }
    Random random(3);
    const auto m = static_cast<Eigen::Index>(classes.size());
    Eigen::MatrixXd centre = Eigen::MatrixXd::Zero(m, m);
    const auto centred = [&] {
      std::vector<double> v(classes.size(), 0.0);
      for (std::size_t t = 0; t < alive.size(); ++t) {
        double mean = 0;
        for (std::size_t j = begin[t]; j < begin[t] + alive[t]; ++j) mean += v[j] = random.uniform();
        for (std::size_t j = begin[t]; j < begin[t] + alive[t]; ++j) v[j] -= mean / static_cast<double>(alive[t]);
      }
      return v;
    };
    JointCoarse coarse(rows, run);
    ASSERT_TRUE(coarse.prepare(which, begin, alive, classes));
    const std::size_t r = coarse.columns();
    ASSERT_GT(r, 1U);
    Eigen::MatrixXd z = Eigen::MatrixXd::Zero(m, static_cast<Eigen::Index>(r) * k);
    for (std::size_t t = 0; t < alive.size(); ++t)
      for (std::size_t j = begin[t]; j < begin[t + 1]; ++j)
        for (std::size_t a = 0; a < begin[t + 1] - begin[t]; ++a)
          centre(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(begin[t] + a)) =
              (j == begin[t] + a ? 1.0 : 0.0) - 1 / static_cast<double>(alive[t]);
    for (std::size_t t = 0; t < alive.size(); ++t)
      for (std::size_t j = begin[t]; j < begin[t + 1]; ++j)
        for (std::size_t a = 0; a < r; ++a)
          z(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(static_cast<std::size_t>(classes[j]) * r + a)) =
              coarse.of_row(t)[a];
    const std::vector<double> v = centred();
    const Eigen::Map<const Eigen::VectorXd> x(v.data(), m);
    const Eigen::VectorXd hx = coarse.rest() * x + centre * (z * (z.transpose() * x));
    std::vector<double> image(hx.data(), hx.data() + m), out(classes.size());
    coarse.apply(image, begin, alive, classes, out);
    for (std::size_t j = 0; j < v.size(); ++j) EXPECT_NEAR(out[j], v[j], 1e-11);
    for (std::size_t t = 0; t < alive.size(); t += 2) alive[t] -= t % 4 == 0 ? 2 : alive[t];
    const std::vector<double> a = centred(), b = centred();
    std::vector<double> of_a(classes.size()), of_b(classes.size());
    coarse.apply(a, begin, alive, classes, of_a);
    coarse.apply(b, begin, alive, classes, of_b);
    EXPECT_NEAR(std::inner_product(b.begin(), b.end(), of_a.begin(), 0.0),
                std::inner_product(a.begin(), a.end(), of_b.begin(), 0.0), 1e-10);
    EXPECT_GT(std::inner_product(a.begin(), a.end(), of_a.begin(), 0.0), 0);
  }
}

// With one product it goes through the rows, with many through inner products of the rows of each class: D rises, p
// stays in the simplices, W stays that of p, and the slopes of classes that keep weight become equal.
TEST(Joint, steps_on_a_face_lead_to_its_maximum) {
  for (const int k : {3, 30})
    for (const int most : {1, 2, 400}) {  // 2: sparse rows, of which so few products pay for no inner products
      SCOPED_TRACE(std::to_string(k) + " classes, products " + std::to_string(most));
      const Dataset data = most == 2 ? sparse_classes(300, 2000, k) : make_dataset(sample(5, 80, 6, true, k), true, k);
      const Options o = joint_options("hinge", 0.02, 1e-6, "penalized");
      const Problem problem = make_problem(data, o);
      const Progress progress;
      margin::Run run(o, progress, "joint", 1000);
      const JointRows rows(problem, run);
      const JointTerms terms(rows, JointLoss::Form::crammer_singer);
      std::int64_t iterations = 0;
      JointNewton newton(problem, rows, terms, 1e-6, run, iterations);
      const auto n = static_cast<std::size_t>(rows.rows()), stride = rows.stride();
      JointPoint point{LargeArray(rows.size(), 0.0), LargeArray(n * stride, 0.0), LargeArray(n * stride, 0.0)};
      std::vector<std::int32_t> all;
      for (std::size_t i = 0; i < n; ++i) {
        const auto y = static_cast<std::size_t>(rows.label(static_cast<std::int64_t>(i)));
        point.p[i * stride + y] = 0.6;
        point.p[i * stride + (y + 1) % static_cast<std::size_t>(k)] = 0.3;
        point.p[i * stride + (y + 2) % static_cast<std::size_t>(k)] += 0.1;
        all.push_back(static_cast<std::int32_t>(i));
      }
      newton.weights_of(point.p, point.w);
      const auto value = [&] {
        double sum = -newton.penalty(point.w);
        for (std::size_t i = 0; i < n; ++i) {
          const auto row = static_cast<std::int64_t>(i);
          sum += rows.cost(row) * (1 - point.p[i * stride + static_cast<std::size_t>(rows.label(row))]);
        }
        return sum;
      };
      JointFace face(rows, run);
      const LargeArray before = point.p;
      double last = value();
      const double first = last;
      for (int step = 0; step < (most == 2 ? 400 : 40); ++step) {
        face.step(point, all, most, 0);
        EXPECT_GE(value(), last - 1e-10 * std::fabs(last));
        last = value();
      }
      EXPECT_GT(last, first);
      LargeArray fresh(rows.size());
      newton.weights_of(point.p, fresh);
      for (std::size_t j = 0; j < fresh.size(); ++j) EXPECT_NEAR(point.w[j], fresh[j], 1e-9);
      rows.all_scores(fresh.data(), point.s.data());
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0, low = 1e300, high = -1e300;
        for (std::size_t c = 0; c < stride; ++c) {
          const double p = point.p[i * stride + c];
          EXPECT_GE(p, 0);
          EXPECT_LE(p > 0, before[i * stride + c] > 0);
          sum += p;
          if (!(p > 0)) continue;
          const bool own = static_cast<std::int32_t>(c) == rows.label(static_cast<std::int64_t>(i));
          const double slope = point.s[i * stride + c] + (own ? 0.0 : 1.0);
          low = std::min(low, slope);
          high = std::max(high, slope);
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        if (most > 1) {
          EXPECT_LE(high - low, 1e-5);
        }
      }
    }
}

TEST(Joint, limits_are_kept) {
  for (const char* loss : {"logistic", "hinge"}) {
    const Dataset data = make_dataset(sample(21, 600, 8, true, 6), true, 6);
    Options o = joint_options(loss, 1e-6, 1e-9, "free");
    o.history = true;
    o.max_iterations = 3;
    const Model stopped = train(data, o, Progress());
    EXPECT_EQ(stopped.status, Status::iteration_limit);
    EXPECT_EQ(stopped.history.size(), 3U);
    o.max_iterations.reset();
    o.max_seconds = 1e-6;
    EXPECT_EQ(train(data, o, Progress()).status, Status::time_limit);
    struct Cancelled : Progress {
      Cancelled() : Progress(20000) {}
      void poll() const override {
        if (++polls == 30) throw std::runtime_error("cancelled");
      }
      mutable int polls = 0;
    } cancelled;
    o.max_seconds.reset();
    EXPECT_THROW(train(data, o, cancelled), std::runtime_error);
  }
}

TEST(Joint, no_tolerance_ends_all_the_same) {
  for (const char* loss : {"logistic", "hinge"})
    for (const char* intercept : {"free", "penalized"}) {
      const Model model =
          train(make_dataset(sample(22, 40, 3, true, 4), true, 4), joint_options(loss, 0.1, 0, intercept), Progress());
      EXPECT_LE(model.certificate.relative_gap, 1e-5) << loss << " " << intercept;
    }
}

TEST(Joint, what_it_does_not_do_is_refused_with_a_reason) {
  const Dataset data = make_dataset(sample(22, 60, 3, true, 3), true, 3);
  const auto refusal = [&](Options o) {
    o.multiclass = Multiclass::joint;
    try {
      train(data, o, Progress());
    } catch (const Error& e) {
      EXPECT_FALSE(e.hint().empty());
      return e.message();
    }
    return std::string("none");
  };
  Options o = joint_options("squared_hinge", 0.1, 1e-3, "free");
  EXPECT_NE(refusal(o).find("needs the loss \"logistic\" or \"hinge\""), std::string::npos);
  o.loss = "logistic";
  o.lambda = 0;
  EXPECT_NE(refusal(o).find("needs a lambda above 0"), std::string::npos);
  o.lambda = 0.1;
  o.l1_ratio = 0.5;
  EXPECT_NE(refusal(o).find("no elastic net"), std::string::npos);
  EXPECT_NE(refusal(Options{}).find("needs lambda"), std::string::npos);
  Options kernel = joint_options("hinge", 0.1, 1e-3, "true");
  kernel.intercept_form = InterceptForm::by_default;
  kernel.kernel = "rbf";
  EXPECT_NE(refusal(kernel).find("is not used by a kernel model"), std::string::npos);
  Options named = joint_options("hinge", 0.1, 1e-3, "free");
  named.solver = "sdca";
  EXPECT_NE(refusal(named).find("of kind \"classes jointly\", expected \"soft margin\""), std::string::npos);
}

TEST(Joint, projections_are_the_nearest_points_of_the_simplex) {
  Random random(23);
  for (int trial = 0; trial < 300; ++trial) {
    const auto n = 1 + random.below(12);
    std::vector<double> z(n);
    for (double& v : z) v = (trial % 3 == 0 ? 100 : 1) * testing::normal(random);
    std::vector<double> p = z;
    project_on_simplex(p.data(), n);
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
    // z − p is the same number wherever p > 0, and no larger elsewhere: the conditions of optimality.
    double price = -1e300;
    for (std::size_t c = 0; c < n; ++c)
      if (p[c] > 0) price = std::max(price, z[c] - p[c]);
    for (std::size_t c = 0; c < n; ++c) {
      EXPECT_GE(p[c], 0);
      if (p[c] > 0)
        EXPECT_NEAR(z[c] - p[c], price, 1e-11);
      else
        EXPECT_LE(z[c], price + 1e-11);
    }
  }
}

TEST(Joint, shares_balance_whatever_the_excess_is_within_its_error) {
  Random random(24);
  int balanced = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t k = 2 + random.below(6);
    std::vector<double> flow(k * k, 0.0), excess(k, 0.0);
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = 0; b < k; ++b)
        if (a != b && random.uniform() < 0.7) flow[a * k + b] = random.uniform();
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = 0; b < k; ++b) {
        excess[a] += flow[a * k + b];
        excess[b] -= flow[a * k + b];
      }
    const auto shares = balancing_shares(flow, excess, 1e-12, Progress());
    if (!shares.has_value()) continue;
    ++balanced;
    // What is left with all of the shares taken off and what with none of them must leave room for a circulation: every
    // class whose flows remain can send on what it gets.
    for (std::size_t a = 0; a < k; ++a) {
      double in = 0, out = 0, least_in = 0, least_out = 0;
      for (std::size_t b = 0; b < k; ++b) {
        EXPECT_GE((*shares)[a * k + b], 0);
        EXPECT_LE((*shares)[a * k + b], 1);
        out += flow[a * k + b];
        in += flow[b * k + a];
        least_out += flow[a * k + b] * (1 - (*shares)[a * k + b]);
        least_in += flow[b * k + a] * (1 - (*shares)[b * k + a]);
      }
      EXPECT_LE(least_out, in + 1e-9);
      EXPECT_LE(least_in, out + 1e-9);
    }
  }
  EXPECT_GT(balanced, 100);
}

TEST(Joint, log_odds_are_those_of_the_softmax) {
  Random random(25);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> s(4), odds(4);
    for (double& v : s) v = 5 * testing::normal(random);
    softmax_log_odds(s.data(), 4, odds.data());
    double sum = 0;
    for (const double v : s) sum += std::exp(v);
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_NEAR(odds[c], std::log(std::exp(s[c]) / (sum - std::exp(s[c]))), 1e-6 * (1 + std::fabs(odds[c])));
  }
  double far[3] = {1000, 0, -1000};
  softmax_log_odds(far, 3, far);
  EXPECT_NEAR(far[0], 1000, 1e-9);
  EXPECT_NEAR(far[2], -2000, 1e-9);
}

}  // namespace
}  // namespace margin
