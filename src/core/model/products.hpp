// What of a model each of its products takes: the table of features (problem/features.hpp) and products.
#pragma once

#include "core/model/model.hpp"
#include "core/problem/features.hpp"

namespace margin {

/// Of a stored model; `options` are those that it was trained with.
unsigned features_of(const Model& model, const Options& options);

extern const Consumer audit_product, leave_one_out_product, score_interval_product, gap_at_product, influence_product,
    update_product, curvature_product, question_product, shape_product;

/// Throws Error(unsupported) for a model that the product does not take.
void require_product(const Consumer& product, const Model& model, const Options& options);
/// The same of a product of what is known of where the optimum is (analysis/model_ball.hpp).
void require_ball(const Consumer& product, const Model& model, const Options& options);
bool takes_ball(const Consumer& product, const Model& model, const Options& options);
/// Throws Error(unsupported): the product does not take this model for that reason.
[[noreturn]] void refuse_model(const Consumer& product, const std::string& reason, const std::string& hint = {});

}  // namespace margin
