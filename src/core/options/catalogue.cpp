#include "core/options/catalogue.hpp"

namespace margin {

const std::vector<OptionText>& option_texts() {
  static const std::vector<OptionText> texts = {
      {"norm", "\"any\"", "1 <= p <= 2: the p of the lp norm that measures the margin; 'sparse': 1 + 1/ln d", "2",
       "every hard margin, interpolation"},
      {"lambda", "double precision", "1e-300 to 1e300", "none: hard margin", "every soft margin"},
      {"loss", "text",
       "a loss; without lambda: exponential or logistic, with a first-order solver named or norm => 1, "
       "or interpolate",
       "hinge with lambda, else exponential", "all but cutting_plane, batch_perceptron, dual_ascent"},
      {"solver", "text", "auto or a solver", "auto", ""},
      {"tolerance", "double precision", "0 <= t < 1: relative width of the certified interval at which training stops",
       "0.001", "every solver"},
      {"max_iterations", "bigint", "1 to 10^15", "by solver; \"per output\": each output may take as many",
       "every solver"},
      {"max_seconds", "double precision", "above 0: seconds that the solver may take; certifying comes on top", "none",
       "every solver"},
      {"intercept", "boolean", "fit an intercept", "true", "every solver"},
      {"intercept_scale", "double precision", "1e-150 to 1e150: value of the constant feature", "1",
       "every soft margin"},
      {"standardize", "boolean", "train on centred columns, and labels of a regression, of unit variance", "false",
       "every solver"},
      {"class_weight", "\"any\"", "'balanced', or an object of label: weight as jsonb or text, weights of 0 or more",
       "every class 1", "soft margins with classes"},
      {"seed", "bigint", "0 to 2^53", "0",
       "sdca, sgd, boosting, perceptron, mirror_descent, sampling, the own steps of dual_ascent; "
       "kernel ntk_finite; folds of calibration and cross-validation"},
      {"history", "boolean", "return the interval after every iteration or epoch", "false", "every solver"},
      {"dual_weights", "boolean", "return the dual vector, one value per row (and class) in input order", "false",
       "every solver"},
      {"initial", "margin_model", "a model to start from", "none", "sdca, newton, newton_cg"},
      {"log_level", "text", "off, debug1, log, info, notice", "margin.log_level", ""},
      {"order", "text", "permutation (a fresh one every epoch), random (with replacement), cyclic", "permutation",
       "sdca, perceptron, mirror_descent, the own steps of dual_ascent"},
      {"output", "text", "last iterate, average of the last iterates, a random one of them", "last", "sdca"},
      {"start", "text", "zero, sgd (an epoch of Modified-SGD)", "zero", "sdca"},
      {"l1_ratio", "double precision", "0 <= rho < 1: share of the l1 norm in the regulariser (elastic net)", "0",
       "sdca"},
      {"epsilon", "double precision", "0 to 1e150: half-width of the tube", "0.1",
       "losses epsilon_insensitive, squared_epsilon_insensitive"},
      {"smoothing", "double precision", "1e-150 to 1e150: gamma of the loss", "1", "losses smoothed_hinge, huber"},
      {"calibration", "text", "none, platt, isotonic: how scores become probabilities", "none",
       "soft margins with classes"},
      {"unseen", "text", "error, ignore: what becomes of features of a sparse row that the training did not have",
       "error", "who uses the model"},
      {"one_class", "text",
       "error, null: what a training gives whose rows all have one label; NULL lets the other groups "
       "of a GROUP BY have their models",
       "error", "every solver"},
      {"shrinkage", "double precision", "0 < nu <= 1: factor of every step of boosting", "0.1", "boosting"},
      {"step", "text",
       "quadratic, wolfe, adaboost, optimal (boosting); optimal, quadratic (dual_ascent); theory "
       "(sampling)",
       "by solver", "boosting, dual_ascent, sampling"},
      {"learners", "text", "features, stumps: what an l1 margin combines", "features", "boosting"},
      {"accelerated", "boolean", "take accelerated steps", "by solver", "dual_ascent"},
      {"working_set", "boolean",
       "solve on a small working set of rows that passes over all rows certify and grow; false: the method's "
       "own steps over all rows",
       "true with solver auto, else false", "boosting, dual_ascent"},
      {"kernel", "text", "a kernel; linear alone leaves the model linear", "linear",
       "smo, sampling, kernel_batch_perceptron"},
      {"gamma", "\"any\"",
       "a positive number; 'scale': 1/(d Var(x)) with the variance of all features of all rows, as in "
       "scikit-learn; 'auto': 1/d",
       "scale", "kernels rbf, polynomial"},
      {"degree", "integer", "1 to 100: of the polynomial kernel", "3", "kernel polynomial"},
      {"coef0", "double precision", "0 or more: constant of the polynomial kernel", "0", "kernel polynomial"},
      {"width", "integer", "1 to 10^6: hidden units, drawn from seed", "1024", "kernel ntk_finite"},
      {"on_error", "text", "error, null: what a training gives for rows that cannot be trained on", "error",
       "every solver"},
  };
  return texts;
}

const std::vector<KernelText>& kernel_texts() {
  static const std::vector<KernelText> texts = {
      {"linear", "<x, x'>", "none; taken as a kernel by the solvers for kernels alone"},
      {"rbf", "exp(-gamma |x - x'|^2)", "gamma"},
      {"polynomial", "(gamma <x, x'> + c)^p", "gamma, degree p, coef0 c"},
      {"ntk",
       "[<x, x'> (pi - theta) + |x||x'| (sin theta + (pi - theta) cos theta)] / 2pi, theta the angle between x and x': "
       "the "
       "tangent kernel of a two-layer ReLU network of infinite width",
       "none"},
      {"ntk_finite",
       "the same of a network of width hidden units u with standard normal weights: (1/m) sum [1{u.x > "
       "0} 1{u.x' > 0} <x, x'> + relu(u.x) relu(u.x')]",
       "width, seed"},
  };
  return texts;
}

}  // namespace margin
