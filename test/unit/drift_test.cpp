// Drift between two profiles, against the same figures computed from the rows.
#include "core/profile/drift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace margin {
namespace {

const std::vector<ProfiledColumn> columns = {{"plan", "text", ColumnKind::category},
                                             {"spend", "real", ColumnKind::number}};

struct Visit {
  std::optional<double> spend;
  std::optional<std::string> plan;
};

Profile profile_of(const std::vector<Visit>& rows, const std::vector<ProfiledColumn>& of = columns) {
  Profile out;
  for (const Visit& r : rows) {
    ProfileRow row(profiled_bytes(of));
    row.begin();
    if (of.size() > 1) r.plan.has_value() ? row.text(*r.plan) : row.null();
    r.spend.has_value() ? row.number(*r.spend) : row.null();
    std::string bytes(row.size(), '\0');
    row.write(bytes.data());
    out.add(bytes, -1);
  }
  return out;
}

std::vector<Visit> visits(std::mt19937_64& random, std::size_t n, double shift, int values, int plans) {
  std::normal_distribution<double> normal(shift, 1);
  std::vector<Visit> out(n);
  for (Visit& v : out) {
    if (random() % 10 > 0) v.spend = values > 0 ? std::floor(normal(random) * values) : normal(random);
    if (random() % 7 > 0) v.plan = "plan " + std::to_string(random() % static_cast<std::uint64_t>(plans));
  }
  return out;
}

double below(const std::vector<Visit>& rows, double x) {
  double n = 0, all = 0;
  for (const Visit& v : rows)
    if (v.spend.has_value()) all += 1, n += *v.spend <= x ? 1 : 0;
  return n / all;
}

double distance(const std::vector<Visit>& a, const std::vector<Visit>& b) {
  double most = 0;
  for (const auto* rows : {&a, &b})
    for (const Visit& v : *rows)
      if (v.spend.has_value()) most = std::max(most, std::fabs(below(a, *v.spend) - below(b, *v.spend)));
  return most;
}

TEST(Drift, IsThatOfTheRows) {
  std::mt19937_64 random(3);
  for (const auto& [shift, values, plans] :
       {std::tuple(0.0, 5, 4), std::tuple(0.7, 5, 9), std::tuple(3.0, 100, 40), std::tuple(0.3, 0, 3)}) {
    const std::vector<Visit> old = visits(random, 900, 0, values, plans),
                             now = visits(random, 700, shift, values, plans + 2);
    Profile before = profile_of(old), after = profile_of(now);
    const std::vector<ColumnDrift> found = drift(before, after);
    ASSERT_EQ(found.size(), 2u);
    const ColumnDrift &plan = found[0], &spend = found[1];
    EXPECT_EQ(spend.rank_error, 0.0);  // no more than 1,024 values
    EXPECT_NEAR(*spend.kolmogorov_smirnov, distance(old, now), 1e-12);
    std::map<std::string, std::pair<double, double>> counts;
    double n = 0, m = 0, unseen = 0, nulls = 0;
    for (const Visit& v : old)
      if (v.plan.has_value()) counts[*v.plan].first += 1, n += 1;
    for (const Visit& v : now)
      if (v.plan.has_value())
        counts[*v.plan].second += 1, m += 1;
      else
        nulls += 1;
    double psi = 0, divergence = 0;
    const double k = static_cast<double>(counts.size());
    for (const auto& [name, c] : counts) {
      const double b = (c.first + 0.5) / (n + 0.5 * k), a = (c.second + 0.5) / (m + 0.5 * k);
      psi += (a - b) * std::log(a / b);
      const double p = c.first / n, q = c.second / m;
      if (p > 0) divergence += 0.5 * p * std::log2(2 * p / (p + q));
      if (q > 0) divergence += 0.5 * q * std::log2(2 * q / (p + q));
      if (c.first == 0) unseen += c.second;
    }
    EXPECT_NEAR(*plan.psi, psi, 1e-12);
    EXPECT_NEAR(*plan.jensen_shannon, std::sqrt(divergence), 1e-12);
    EXPECT_NEAR(*plan.unseen, unseen / m, 1e-12);
    EXPECT_NEAR(*plan.nulls_after, nulls / 700, 1e-12);
    EXPECT_FALSE(plan.kolmogorov_smirnov.has_value() || plan.mean_shift.has_value());
    if (shift > 2) {
      EXPECT_GT(*spend.psi, 1);
      EXPECT_GT(*spend.mean_shift, 2);
      EXPECT_GT(*spend.outside, 0.2);
    }
  }
}

TEST(Drift, IsNothingToItselfAndAllToWhatItSharesNothingWith) {
  std::mt19937_64 random(4);
  const std::vector<Visit> old = visits(random, 500, 0, 10, 5);
  std::vector<Visit> far = old;
  for (Visit& v : far) {
    if (v.spend.has_value()) v.spend = 1e6 - *v.spend;
    if (v.plan.has_value()) v.plan = "new " + *v.plan;
  }
  Profile before = profile_of(old), same = profile_of(old), other = profile_of(far);
  for (const ColumnDrift& d : drift(before, same)) {
    EXPECT_EQ(*d.psi, 0.0);
    EXPECT_EQ(*d.jensen_shannon, 0.0);
    EXPECT_EQ(*d.unseen, 0.0);
    EXPECT_EQ(d.kolmogorov_smirnov.value_or(0), 0.0);
    EXPECT_EQ(d.mean_shift.value_or(0), 0.0);
    EXPECT_EQ(d.outside.value_or(0), 0.0);
    EXPECT_EQ(*d.nulls_before, *d.nulls_after);
  }
  for (const ColumnDrift& d : drift(before, other)) {
    EXPECT_EQ(*d.unseen, 1.0);
    EXPECT_EQ(d.kolmogorov_smirnov.value_or(1), 1.0);
    EXPECT_EQ(d.outside.value_or(1), 1.0);
    if (d.name == "plan") {
      EXPECT_NEAR(*d.jensen_shannon, 1, 1e-12);
    }
  }
}

TEST(Drift, OfManyValuesIsWithinItsProvenError) {
  std::mt19937_64 random(5);
  const std::vector<Visit> old = visits(random, 20000, 0, 0, 3000), now = visits(random, 5000, 0.2, 0, 3000);
  Profile before = profile_of(old), after = profile_of(now);
  const std::vector<ColumnDrift> found = drift(before, after);
  EXPECT_FALSE(found[0].psi.has_value() || found[0].unseen.has_value());  // too many plans to know
  EXPECT_FALSE(found[1].unseen.has_value());
  EXPECT_GT(*found[1].rank_error, 0);
  double exact = 0;
  for (int k = -400; k <= 400; ++k) exact = std::max(exact, std::fabs(below(old, k / 100.0) - below(now, k / 100.0)));
  EXPECT_GE(*found[1].kolmogorov_smirnov + *found[1].rank_error, exact);
  EXPECT_NEAR(*found[1].kolmogorov_smirnov, exact, *found[1].rank_error + 0.01);
}

TEST(Drift, HasALineForColumnsOfEither) {
  std::mt19937_64 random(6);
  const std::vector<Visit> rows = visits(random, 50, 0, 3, 2);
  Profile before = profile_of(rows), after = profile_of(rows, {{"spend", "real", ColumnKind::number}});
  const std::vector<ColumnDrift> found = drift(before, after);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].nulls_before.has_value() && !found[0].nulls_after.has_value() && !found[0].psi.has_value());
  EXPECT_EQ(*found[1].psi, 0.0);
  Profile other = profile_of(rows, {{"spend", "boolean", ColumnKind::boolean}});
  EXPECT_FALSE(drift(before, other)[1].psi.has_value());  // of another kind
  const std::vector<Visit> empty(20);
  Profile nothing = profile_of(empty);
  for (const ColumnDrift& d : drift(before, nothing)) {
    EXPECT_FALSE(d.psi.has_value() || d.kolmogorov_smirnov.has_value() || d.unseen.has_value());
    EXPECT_EQ(*d.nulls_after, 1.0);
  }
  const std::vector<Visit> constant(30, Visit{1.0, std::string("a")}), moved(30, Visit{2.0, std::string("a")});
  Profile one = profile_of(constant), two = profile_of(moved);
  const ColumnDrift spend = drift(one, two)[1];
  EXPECT_FALSE(spend.mean_shift.has_value());  // no deviation
  EXPECT_EQ(*spend.kolmogorov_smirnov, 1.0);
  EXPECT_EQ(*spend.outside, 1.0);
}

}  // namespace
}  // namespace margin
