// Tails and quantiles against values of mpmath in 50 digits.
#include "core/math/distributions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace margin {
namespace {

void expect_near(double found, double exact, double digits, const char* what, double at) {
  EXPECT_LE(std::fabs(found / exact - 1), digits) << what << " at " << at;
}

TEST(Distributions, normal_tails) {
  // z, P(Z > z)
  const double table[][2] = {
      {0.1, 0.46017216272297102},   {1.0, 0.15865525393145705},     {1.96, 0.024997895148220436},
      {5.0, 2.8665157187919391e-7}, {20.0, 2.7536241186062337e-89}, {37.0, 5.7255712225245768e-300},
  };
  for (const auto& [z, p] : table) {
    expect_near(normal_tail(z), p, 1e-12, "normal_tail", z);
    expect_near(normal_tail(-z), 1 - p, 1e-14, "normal_tail", -z);
    if (z > 0) expect_near(normal_quantile(p), z, 1e-13, "normal_quantile", p);
  }
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_EQ(normal_quantile(0.75), -normal_quantile(0.25));
}

TEST(Distributions, student_tails) {
  // t, degrees of freedom, P(T > t)
  const double table[][3] = {
      {0.25, 1.0, 0.42202086962263067},       {1.75, 1.0, 0.16524934053856791},
      {3.0, 1.0, 0.10241638234956673},        {10.0, 1.0, 0.03172551743055357},
      {0.25, 2.0, 0.41296117202215108},       {1.75, 2.0, 0.11111111111111111},
      {3.0, 2.0, 0.047732983133354566},       {10.0, 2.0, 0.0049262285116628454},
      {0.25, 2.5, 0.4108403005626516},        {1.75, 2.5, 0.098217905941799386},
      {3.0, 2.5, 0.036288047774515922},       {10.0, 2.5, 0.0022207478836537124},
      {0.25, 7.0, 0.40488279292392591},       {1.75, 7.0, 0.061796514261144021},
      {3.0, 7.0, 0.009971063065996269},       {10.0, 7.0, 1.0697101445386406e-5},
      {0.25, 30.0, 0.40214570454028755},      {1.75, 30.0, 0.045170863976605556},
      {3.0, 30.0, 0.0026949820328259733},     {10.0, 30.0, 2.2876257041148066e-11},
      {0.25, 999.0, 0.40131937382671634},     {1.75, 999.0, 0.040212658184311653},
      {3.0, 999.0, 0.001383388230073897},     {10.0, 999.0, 8.3541094134356452e-23},
      {0.25, 5000.0, 0.40129880961847954},    {1.75, 5000.0, 0.040089825892309433},
      {3.0, 5000.0, 0.001356554512142897},    {10.0, 5000.0, 1.2604373558219968e-23},
      {0.25, 499946.0, 0.40129372567696896},  {1.75, 499946.0, 0.040059463585863703},
      {3.0, 499946.0, 0.0013499645174076892}, {10.0, 499946.0, 7.6588090297973266e-24},
  };
  for (const auto& [t, degrees, p] : table) {
    expect_near(student_tail(t, degrees), p, p < 1e-100 ? 1e-11 : 1e-12, "student_tail", t);
    EXPECT_NEAR(student_tail(-t, degrees), 1 - p, 1e-14);
    expect_near(student_quantile(p, degrees), t, 1e-12, "student_quantile", p);
  }
  EXPECT_EQ(student_tail(0, 3), 0.5);
  EXPECT_EQ(student_quantile(0.5, 3), 0);
  expect_near(student_quantile(0.25, 1), 1, 1e-15, "the upper quartile of Cauchy's distribution", 0.25);
}

TEST(Distributions, tails_fall_and_quantiles_undo_them) {
  for (const double degrees : {0.5, 1.0, 4.0, 999.0, 1001.0, 1e8}) {
    double before = 1;
    for (double t = 0; t < 12; t += 0.37) {
      const double p = student_tail(t, degrees);
      EXPECT_LT(p, before);
      if (t > 0) expect_near(student_quantile(p, degrees), t, 1e-11, "student_quantile", degrees);
      before = p;
    }
  }
}

}  // namespace
}  // namespace margin
