#include "core/analysis/model_curvature.hpp"

#include <cmath>

#include "core/analysis/update.hpp"
#include "core/base/error.hpp"
#include "core/consequences/where/ellipsoid.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {
constexpr const char* name = "margin_with_curvature";
}  // namespace

CurvatureOptions parse_curvature(const Value::Object& options) {
  CurvatureOptions out;
  for (const auto& [key, value] : options) {
    if (key != "share") throw unknown_option(key, {"share"});
    if (std::holds_alternative<std::monostate>(value.data)) continue;
    const double* const share = std::get_if<double>(&value.data);
    if (share == nullptr || !(*share > 0 && *share <= 1))
      throw Error(ErrorKind::invalid_option,
                  "option \"share\" must be a number above 0 and at most 1, not " + describe(value));
    out.share = *share;
  }
  return out;
}

void require_curvature(const Model& model, const Options& settings) {
  require_updatable(model, settings, curvature_product);
  const auto loss = make_loss(model.loss, settings);
  if (!curves(*loss))
    refuse_model(
        curvature_product, "its loss is \"" + model.loss + "\"",
        "It takes the losses logistic, squared_hinge and squared. Others have kinks, where nothing bounds how far "
        "an optimum moves but the ball that models have, or no such bound here.");
  if (model.terms() >= most_curved)
    refuse_model(curvature_product, "it has " + std::to_string(model.terms()) + " weights, more than " +
                                        std::to_string(most_curved - 1) +
                                        ", and the curvature two numbers for each with each");
}

Model with_curvature(Model model, const Dataset& data, const Options& settings, const CurvatureOptions& options,
                     const Progress& progress, MemoryBudget memory) {
  require_curvature(model, settings);
  const Objective objective = objective_of(model, settings);
  const Loss* const loss = objective.loss.get();
  const double n = model.terms() + 1.0;
  memory.require(8 * (14 * n * n + 2 * n * n * model.outputs() + static_cast<double>(data.rows())), name);
  OwnColumns columns(model);
  ExactSum weight;
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    weight.add(data.weight(i));
    columns.place(data.row(i));
    if (!columns.all())
      throw Error(ErrorKind::invalid_value, "a row has a feature that no row of the training had",
                  "The curvature is of the rows of the training.");
    progress.work(2.0 * data.row(i).count + 8);
  }
  const DualPoint& known = *model.dual_point;
  const StoredSum all(weight, static_cast<double>(data.rows()), weight.value());
  const double total = all.value(), trained = known.total_weight.value();
  if (!(all.lower() <= known.total_weight.upper() && known.total_weight.lower() <= all.upper()))
    throw Error(ErrorKind::invalid_value,
                "the rows weigh " + describe(Value{total}) + ", those of the training " + describe(Value{trained}),
                "margin_with_curvature takes the rows of the training.");
  double loss_sum = 0, penalty = 0;
  auto found = std::make_shared<std::vector<CurvedPoint>>();
  for (std::int32_t o = 0; o < model.outputs(); ++o) {
    const auto at = static_cast<Eigen::Index>(o);
    const double b = model.intercept(at) - model.target_center.value_or(0);
    const double size = lp_norm(model.weights.row(at).data(), model.terms(), 2);
    const VisitRows visit = [&](const std::function<void(const CurvedRow&)>& see) {
      for (std::int64_t i = 0; i < data.rows(); ++i) {
        CurvedRow r;
        r.c = data.weight(i);
        r.x = columns.place(data.row(i));
        if (model.regression()) {
          r.y = data.target(i) - model.target_center.value_or(0);
        } else {
          const std::int32_t label = data.class_of(i);
          r.y = objective.target(label, o);
          r.c *= objective.weight_of_class(static_cast<std::size_t>(label));
        }
        if (!(r.c > 0)) continue;
        r.u = dot(r.x, model.weights.row(at).data()) + b;
        r.error = epsilon * ((r.x.count + 4.0) * (norm(r.x) * size) + 2 * std::fabs(b)) + (r.x.count + 8.0) * tiny;
        if (model.regression()) r.error += epsilon * loss->argument_size(r.u, r.y);
        see(r);
        progress.work(4.0 * r.x.count + 16);
      }
    };
    visit([&](const CurvedRow& r) { loss_sum += r.c * loss->value(r.u, r.y); });
    const std::vector<double> place = curved_place(model, o, objective.constant_feature());
    for (const double z : place) penalty += objective.lambda / 2 * z * z;
    found->push_back(curved_point(visit, *loss, place, objective.lambda, total, objective.constant_feature(),
                                  options.share, progress));
    if (found->back().size() == 0)
      throw Error(
          ErrorKind::unsupported,
          std::string(name) +
              " does not take these rows: double precision cannot tell the curvature of their objective from rounding",
          "A larger lambda, or columns of a similar scale, help.");
  }
  // The value that the certificate has, to its rounding and what the gap holds of that.
  double slack = 1e-6 * model.certificate.upper;
  for (const double s : known.slack) slack += s;
  if (!(std::fabs(penalty + loss_sum / total - model.certificate.upper) <= slack))
    throw Error(ErrorKind::invalid_value,
                "the objective of these rows is " + describe(Value{penalty + loss_sum / total}) +
                    ", that of the training " + describe(Value{model.certificate.upper}),
                "margin_with_curvature takes the rows of the training.");
  auto point = std::make_shared<DualPoint>(*model.dual_point);
  point->curvature = std::move(found);
  model.dual_point = std::move(point);
  return model;
}

}  // namespace margin
