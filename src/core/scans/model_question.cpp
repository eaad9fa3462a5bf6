#include "core/scans/model_question.hpp"

#include "core/loss/joint.hpp"
#include "core/model/products.hpp"
#include "core/model/statement_of.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/row_terms.hpp"

namespace margin {

namespace {

constexpr std::int64_t kept_bytes = 32 << 20;
// Weights that are written out where the model lists only some of them: rows may then have features that it lacks.
constexpr std::int64_t most_zeros = 1 << 20;

void require_plain(const Model& model, const Options& options) {
  unsigned features = features_of(model, options);
  // Margins are in the units of the features, and nothing holds weights at lambda 0 that units would matter to.
  if (model.about_margin() || model.likelihood()) features &= ~unsigned{feature::standardize};
  require_features(question_product, features, "this model");
  if (model.joint() && options.free_intercept() && model.classes.size() > most_flow_classes)
    throw Error(ErrorKind::unsupported,
                "margin_question takes free intercepts of jointly trained classes with at most " +
                    std::to_string(most_flow_classes) + " classes, and the model has " +
                    std::to_string(model.classes.size()),
                "margin_verify(model, label, features) recomputes the interval.");
}

}  // namespace

Question model_question(const Model& model, const Options& options) {
  require_plain(model, options);
  Question q;
  q.kind = !model.hard_margin()   ? Question::Kind::risk
           : model.interpolates() ? Question::Kind::interpolation
                                  : Question::Kind::margin;
  q.outcome = model.interpolates() ? Dataset::Outcome::intervals
              : model.regression() ? Dataset::Outcome::targets
                                   : Dataset::Outcome::classes;
  static_cast<Statement&>(q) = objective_of(model, options);
  q.class_names = model.classes;
  q.dimensions = model.dimensions > 0 ? model.dimensions : model.terms();
  q.curvature = q.spread = model.likelihood();
  const bool all_columns = model.columns.empty(), few = std::int64_t{q.dimensions} * model.outputs() <= most_zeros;
  if (all_columns || model.likelihood() || !few) {
    q.columns = model.columns;
    q.weights = model.weights;
  } else {
    q.weights = Weights::Zero(model.outputs(), q.dimensions);
    for (std::int32_t j = 0; j < model.terms(); ++j) q.weights.col(model.feature(j)) = model.weights.col(j);
    if (q.offset >= 0) q.offset = model.feature(q.offset);
  }
  q.weights /= q.target_scale;
  q.intercepts = (model.intercept.array() - q.target_center) / q.target_scale;
  q.seed = options.seed;
  q.bag_rows = options.sample_rows.value_or(0);
  q.bag_bytes = q.bag_rows > 0 ? kept_bytes : 0;
  return q;
}

Certificate answered_certificate(const Question& question, Answer answer, const Progress& progress) {
  if (question.kind == Question::Kind::summary)
    throw Error(ErrorKind::unsupported, "a summary asks nothing about weights",
                "Give the question of a model: margin_question(options, model).");
  require_own_answer(question, answer, progress);
  if (question.likelihood()) return LikelihoodAnswer(question, answer, progress).check().certificate(progress);
  if (joint_of(question.loss.get()) != nullptr) return answered_joint(question, answer).certificate(progress);
  if (question.kind == Question::Kind::risk) return answered_risk(question, answer, progress).certificate(progress);
  const ModelVectors vectors{question.weights.data(), question.intercept ? question.intercepts.data() : nullptr,
                             nullptr};
  const std::unique_ptr<Check> check = make_check(question.objective(), vectors, false);
  std::vector<double> numbers = answer.numbers();
  const std::size_t size = check->reductions().size();
  bool sound = numbers.size() >= size;
  if (sound) {
    numbers.resize(size);
    sound = check->merge(numbers);
  }
  if (!sound) throw Error(ErrorKind::malformed, "the margin_state is not an answer to this question");
  return check->certificate(progress);
}

}  // namespace margin
