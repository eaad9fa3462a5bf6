// Standard errors of a model of lambda 0 from what scans add up of its rows: the answers to its question.
#pragma once

#include "core/analysis/inference.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/question.hpp"

namespace margin {

/// Adds the rows of an answer to model_question() of the same model, as Inference::add() adds each; `cluster`: the name of
/// the cluster that all of them are, where there are clusters. Throws Error: invalid_value (an answer to another question),
/// malformed.
void add_answer(Inference& to, const Question& question, Answer& answer, const std::string* cluster,
                const Progress& progress);

}  // namespace margin
