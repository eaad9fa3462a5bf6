#include "model.hpp"

#include "error.hpp"

namespace margin {

std::string_view status_name(Status status) {
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::not_separable:
      return "not_separable";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::time_limit:
      return "time_limit";
  }
  return "unknown";
}

void score(const Scorer& model, const Row& x, std::int32_t row_dimensions, double* scores) {
  if (row_dimensions != model.dimensions)
    throw Error(ErrorKind::wrong_dimensions, "the model expects " + std::to_string(model.dimensions) +
                                                 " features, not " + std::to_string(row_dimensions));
  if (model.basis != nullptr) {
    std::vector<double> values(static_cast<std::size_t>(model.basis->size()));
    model.basis->evaluate(x, values.data());
    const Row terms{values.data(), nullptr, model.basis->size(), true};
    for (std::int32_t o = 0; o < model.outputs; ++o)
      scores[o] = dot(terms, model.weights + static_cast<std::ptrdiff_t>(o) * terms.count) + model.intercept[o];
    return;
  }
  for (std::int32_t o = 0; o < model.outputs; ++o)
    scores[o] = dot(x, model.weights + static_cast<std::ptrdiff_t>(o) * model.dimensions) + model.intercept[o];
}

std::int32_t decide(const Scorer& model, const double* scores) {
  if (model.outputs == 1) return scores[0] > 0 ? 1 : 0;
  std::int32_t best = 0;
  for (std::int32_t o = 1; o < model.outputs; ++o)
    if (scores[o] > scores[best]) best = o;
  return best;
}

}  // namespace margin
