#include "core/scans/model_inference.hpp"

#include "core/loss/loss.hpp"
#include "core/scans/answered_check.hpp"

namespace margin {

void add_answer(Inference& to, const Question& question, Answer& answer, const std::string* cluster,
                const Progress& progress) {
  require_own_answer(question, answer, progress);
  const RiskCheck risk = answered_risk(question, answer, progress);
  if (!answer.has_matrices()) throw Error(ErrorKind::malformed, "the margin_state is not an answer to this question");
  // Least squares are of ½(u − y)² there, in the labels' own units.
  const bool squares = question.loss->quadratic();
  const double half = squares ? 1 / question.loss->second_derivative(0, 0) : 1, unit = half * question.target_scale;
  const double mass = risk.total_weight(), loss = risk.primal(0) * mass;
  std::vector<double> state = {static_cast<double>(answer.rows()),
                               mass,
                               0,
                               squares ? 2 * half * loss * question.target_scale * question.target_scale : 0,
                               0,
                               1};
  state.resize(state.size() + static_cast<std::size_t>(question.width()), 0.0);  // features are measured from 0
  std::vector<double> slopes;
  const Weights sums = answer.sums();
  for (Eigen::Index j = 0; j < sums.cols(); ++j) slopes.push_back(-unit * sums(0, j));
  if (question.intercept) slopes.push_back(-unit * answer.constant_sum(0));
  state.insert(state.end(), slopes.begin(), slopes.end());
  const auto add = [&](std::int32_t k, double factor) {
    const SymmetricMatrix& matrix = answer.matrix(k, progress);
    for (std::size_t i = 0; i < matrix.size(); ++i)
      for (std::size_t j = i; j < matrix.size(); ++j) state.push_back(factor * matrix.row(i)[j]);
  };
  add(0, half);
  if (to.robust())
    add(1, unit * unit);
  else
    state.push_back(0);
  if (cluster != nullptr) state.insert(state.end(), slopes.begin(), slopes.end());
  if (!to.merge(state, cluster != nullptr ? std::vector<std::string>{*cluster} : std::vector<std::string>{}))
    throw Error(ErrorKind::malformed, "the margin_state does not belong to this model");
}

}  // namespace margin
