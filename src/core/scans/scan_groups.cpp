#include "core/scans/scan_groups.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace margin {

namespace {

/// A summary of the rows that is about the groups of a column alone.
Question about_groups(const Question& asked, const Answer& first, const Fairness& f) {
  Question q = asked;
  if (q.columns.empty()) q.dimensions = first.dimensions();
  q.curvature = q.sums = false;
  q.bag_rows = q.bag_bytes = q.bag_small = 0;
  q.intercept = true;  // its column counts the weights
  q.intercept_scale = 1;
  for (const std::int32_t j : f.features) {
    const auto at = std::lower_bound(q.columns.begin(), q.columns.end(), j);
    if (!q.columns.empty() && (at == q.columns.end() || *at != j))
      throw Error(ErrorKind::invalid_option, "option \"fairness\": no row has the feature " + std::to_string(j + 1),
                  "Parity is between groups of rows: give a column that tells them apart.");
    q.group_features.push_back(q.columns.empty() ? j : static_cast<std::int32_t>(at - q.columns.begin()));
  }
  return q;
}

/// The values of the column, each of which is a group or a part of one.
std::vector<std::vector<double>> find_groups(const Question& asked, const Answer& first, const Fairness& f,
                                             ScanRun& run) {
  std::vector<std::vector<double>> found;
  const Answer answer = run.ask(about_groups(asked, first, f));
  for (const auto& [label, seen] : answer.classes())
    if (std::vector<double> values = group_values(label); values.size() == f.features.size())
      found.push_back(std::move(values));
  return found;
}

}  // namespace

GroupedRows grouped_by_scans(const Question& asked, const Answer& first, ScanRun& run) {
  GroupedRows rows;
  rows.features = asked.columns.empty() ? first.dimensions() : asked.dimensions;
  rows.two_classes = asked.outcome == Dataset::Outcome::classes && first.classes().size() == 2;
  const auto known = std::make_shared<std::vector<std::vector<double>>>();  // of the column whose groups were told last
  rows.groups = [&, known](const Fairness& f) {
    *known = find_groups(asked, first, f, run);
    std::vector<std::string> names;
    for (const std::vector<double>& values : *known) names.push_back(f.name_of(values));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  };
  rows.add = [&, known](GroupSums& sums) {
    Question q = about_groups(asked, first, sums.column());
    for (const std::vector<double>& values : *known) q.groups.insert(q.groups.end(), values.begin(), values.end());
    if (sums.column().measure == Parity::true_positive) q.group_class = sorted_classes(first)[1];
    const Answer answer = run.ask(q);
    const Weights of = answer.sums();
    for (std::size_t g = 0; g < known->size(); ++g)
      sums.add((*known)[g], answer.constant_sum(static_cast<std::int32_t>(g)),
               of.row(static_cast<Eigen::Index>(g)).data(), q.columns.empty() ? nullptr : &q.columns);
  };
  return rows;
}

}  // namespace margin
