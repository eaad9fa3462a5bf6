// The question that a model asks: what all rows say of its weights; and what their answer proves.
#pragma once

#include "core/model/model.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/question.hpp"

namespace margin {

/// Of a soft margin its risk, of a hard one its margin or its slack, at the model's weights; at lambda 0 with what its certificate
/// and standard errors want besides. `options`: the problem's, as the model was trained with or others; they also say how many
/// rows are kept (sample_rows; none by default). Throws Error(unsupported) for models of kernels and stumps, and where the problem
/// depends on all rows at once (standardize, balanced class weights).
Question model_question(const Model& model, const Options& options);

/// What the answer of all rows proves of the question's weights. Throws Error: invalid_value (an answer to another
/// question), unsupported (a summary, which has no weights).
Certificate answered_certificate(const Question& question, Answer answer, const Progress& progress);

}  // namespace margin
