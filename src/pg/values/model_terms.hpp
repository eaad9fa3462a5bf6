// What the weights of a stored model weigh.
#pragma once

#include "pg/values/model_datum.hpp"

namespace margin::pg {

/// Sets the model's dimensions and its basis or its columns, once its weights are read: stumps, kernel values, or
/// features, either listed or as many as weights. Throws Error(malformed) naming the field.
void read_terms(const CompositeReader& reader, Model& model);

}  // namespace margin::pg
