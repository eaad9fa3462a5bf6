// What must not change a hard margin, and how a solve ends early: every hard-margin solver of the registry.
#include <gtest/gtest.h>

#include <numeric>

#include "core/base/error.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

Options settings_for(const std::string& solver, bool intercept) {
  Options s = hard(solver, intercept, solver == "cutting_plane" ? 1e-6 : 1e-2);
  s.max_iterations = 400;
  return s;
}

/// Problems of the kinds that differ in the code: two classes, several, and those that no plane separates.
std::vector<Rows> samples() {
  Rows mixed = gaussian_rows(23, 40, 3, 0.0);
  mixed.y[0] = 1 - mixed.y[0];
  const Rows crossed = {{{1, 1}, {-1, -1}, {1, -1}, {-1, 1}}, {1, 1, 0, 0}};
  return {clouds(21, 60, 4), gaussian_rows(22, 40, 5, 0.2, 3), mixed, crossed};
}

class Invariance : public ::testing::TestWithParam<std::string> {
 protected:
  /// Calls check(rows, options) for all samples, with and without intercept, that the solver accepts.
  template <class F>
  void for_each_sample(F check) {
    for (const Rows& rows : samples())
      for (const bool intercept : {true, false}) {
        if (refuses(GetParam(), intercept, rows.classes)) continue;
        SCOPED_TRACE(std::to_string(rows.count()) + " rows, " + std::to_string(rows.classes) + " classes" +
                     (intercept ? " with intercept" : ""));
        check(rows, settings_for(GetParam(), intercept));
      }
  }
};

/// Two intervals for the same margin: they overlap, and are equally wide where both are optimal. Rotations and the
/// like move a margin by rounding, which `slack` (of the radius) allows for.
void expect_same_margin(const Model& a, const Model& b, double factor = 1, double slack = 1e-14) {
  const double room = slack * std::max(a.certificate.radius, b.certificate.radius / factor);
  EXPECT_LE(a.certificate.lower, b.certificate.upper / factor + room);
  EXPECT_LE(b.certificate.lower / factor, a.certificate.upper + room);
  if (a.solver == "cutting_plane") {
    EXPECT_EQ(a.status, b.status);
    // Weights of rows that are not separable minimise a risk, to a tolerance of their own.
    if (a.status != Status::not_separable) {
      EXPECT_NEAR(a.certificate.lower, b.certificate.lower / factor, 1e-6 * a.certificate.upper + room);
    }
  }
}

TEST_P(Invariance, same_input_gives_the_same_bits) {
  for_each_sample([](const Rows& rows, const Options& s) {
    const Dataset data = make_dataset(rows);
    const Model a = fit(data, s), b = fit(data, s), c = fit(make_dataset(rows), s);
    for (const Model* other : {&b, &c}) {
      EXPECT_TRUE(a.weights == other->weights);
      EXPECT_TRUE(a.intercept == other->intercept);
      EXPECT_TRUE(*a.dual_weights == *other->dual_weights);
      EXPECT_EQ(a.certificate.lower, other->certificate.lower);
      EXPECT_EQ(a.certificate.upper, other->certificate.upper);
      EXPECT_EQ(a.iterations, other->iterations);
    }
  });
}

TEST_P(Invariance, order_of_rows) {
  for_each_sample([](const Rows& rows, const Options& s) {
    const Model first = fit(make_dataset(rows), s);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Random random(seed);
      Rows shuffled = rows;
      for (int i = rows.count() - 1; i > 0; --i) {
        const auto j = random.below(static_cast<std::uint64_t>(i + 1));
        std::swap(shuffled.x[at(i)], shuffled.x[j]);
        std::swap(shuffled.y[at(i)], shuffled.y[j]);
      }
      const Model m = fit(make_dataset(shuffled), s);
      EXPECT_EQ(m.classes, first.classes);
      expect_same_margin(first, m);
    }
  });
}

TEST_P(Invariance, repeated_rows) {
  for_each_sample([](const Rows& rows, const Options& s) {
    Rows repeated = rows;
    for (int i = 0; i < rows.count(); ++i)
      for (int copy = 0; copy < i % 3; ++copy) repeated.add(rows.x[at(i)], rows.y[at(i)]);
    expect_same_margin(fit(make_dataset(rows), s), fit(make_dataset(repeated), s));
  });
}

TEST_P(Invariance, scale_of_rows) {
  for_each_sample([](const Rows& rows, const Options& s) {
    const Model first = fit(make_dataset(rows), s);
    for (const double factor : {3.0, 0x1p-20, 1e150, 1e-150})
      expect_same_margin(first, fit(make_dataset(scaled(rows, factor)), s), factor);
  });
}

TEST_P(Invariance, rotation_and_translation_of_rows) {
  for_each_sample([](const Rows& rows, const Options& s) {
    Random random(99);
    const int d = rows.dimensions();
    Eigen::MatrixXd any(d, d);
    for (Eigen::Index i = 0; i < any.size(); ++i) any.data()[i] = gaussian(random);
    const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ();
    Rows moved = rows;
    for (int i = 0; i < rows.count(); ++i) {
      const Eigen::Map<const Eigen::VectorXd> x(rows.x[at(i)].data(), d);
      Eigen::Map<Eigen::VectorXd>(moved.x[at(i)].data(), d) = q * x;
    }
    const Model first = fit(make_dataset(rows), s);
    expect_same_margin(first, fit(make_dataset(moved), s));
    if (!s.intercept) return;
    for (auto& x : moved.x)
      for (double& v : x) v += 3;
    expect_same_margin(first, fit(make_dataset(moved), s));
  });
}

TEST_P(Invariance, storage_of_rows) {
  for_each_sample([](const Rows& given, const Options& s) {
    Rows rows = given;
    for (auto& x : rows.x)
      for (std::size_t j = 0; j < x.size(); ++j) x[j] = (j + 1 == x.size()) ? 0.0 : static_cast<float>(x[j]);
    const Model wide = fit(make_dataset(rows, Storage::doubles), s);
    expect_same_margin(wide, fit(make_dataset(rows, Storage::floats), s));
    expect_same_margin(wide, fit(make_dataset(rows, Storage::sparse), s));
  });
}

class ThrowingProgress final : public Progress {
 public:
  explicit ThrowingProgress(int at_poll) : left_(at_poll) {}
  void poll() const override {
    if (--left_ == 0) throw Cancelled();
  }
  struct Cancelled {};

 private:
  mutable int left_;
};

TEST_P(Invariance, cancellation_passes_and_leaves_the_rows_usable) {
  for_each_sample([](const Rows& rows, const Options& s) {
    const Dataset data = make_dataset(rows);
    const Model before = fit(data, s);
    int cancelled = 0;
    for (int k = 1; k <= 400; k += 1 + k / 4) {
      ThrowingProgress progress(k);
      try {
        train(data, s, progress);
        break;
      } catch (const ThrowingProgress::Cancelled&) {
        ++cancelled;
      }
    }
    EXPECT_GE(cancelled, 1);
    const Model after = fit(data, s);
    EXPECT_TRUE(before.weights == after.weights);
  });
}

TEST_P(Invariance, limits_are_kept) {
  for_each_sample([](const Rows& rows, Options s) {
    const Dataset data = make_dataset(rows);
    s.tolerance = 0;  // cannot be met: the certificate's ends are rounded apart
    for (const int most : {1, 2, 3, 4, 7, 20}) {
      s.max_iterations = most;
      s.history = true;
      const Model m = fit(data, s);
      EXPECT_LE(m.iterations, most);
      EXPECT_LE(m.history.size(), static_cast<std::size_t>(most));
      EXPECT_TRUE(m.weights.allFinite());
      EXPECT_LE(m.certificate.lower, m.certificate.upper);
      EXPECT_NE(m.status, Status::optimal);
      EXPECT_NE(m.status, Status::time_limit);
    }
    s.max_iterations.reset();
    s.max_seconds = 1e-9;
    const Model m = fit(data, s);
    EXPECT_EQ(m.iterations, 1);
    if (m.status != Status::not_separable) {  // the first pass may prove that
      EXPECT_EQ(m.status, Status::time_limit);
    }
    EXPECT_TRUE(m.weights.allFinite());
    EXPECT_LE(m.certificate.lower, m.certificate.upper);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Invariance, ::testing::ValuesIn(hard_margin_solvers()),
                         [](const ::testing::TestParamInfo<std::string>& info) { return info.param; });

}  // namespace
}  // namespace margin
