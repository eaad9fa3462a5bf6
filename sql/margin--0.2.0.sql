\echo Use "CREATE EXTENSION margin" to load this file. \quit

-- ---------------------------------------------------------------------------------------------------------- types

CREATE TYPE margin_evaluation AS (
  rows             bigint,
  skipped          bigint,
  accuracy         float8,
  classes          text[],
  confusion        bigint[],
  precision        float8[],
  recall           float8[],
  f1               float8[],
  margin_quantiles float8[],
  auc              float8,
  log_loss         float8,
  mse              float8,
  mae              float8,
  r2               float8,
  pinball          float8,
  average_precision float8,
  mcc              float8,
  brier            float8,
  deviance         float8,
  weight           float8,
  weighted_confusion float8[],
  top_k            float8[]
);
COMMENT ON TYPE margin_evaluation IS 'how good a model is on labelled rows';
COMMENT ON COLUMN margin_evaluation.rows IS 'rows counted';
COMMENT ON COLUMN margin_evaluation.skipped IS 'rows with a NULL';
COMMENT ON COLUMN margin_evaluation.accuracy IS 'share of rows predicted right';
COMMENT ON COLUMN margin_evaluation.classes IS 'the model''s classes';
COMMENT ON COLUMN margin_evaluation.confusion IS 'k x k counts: row = true class, column = predicted class';
COMMENT ON COLUMN margin_evaluation.precision IS 'per class: right among those predicted so; NULL for none';
COMMENT ON COLUMN margin_evaluation.recall IS 'per class: right among those that are so; NULL for none';
COMMENT ON COLUMN margin_evaluation.f1 IS 'per class: harmonic mean of the two';
COMMENT ON COLUMN margin_evaluation.margin_quantiles IS 'of the rows'' margins divided by the norm of the weights: at 0, 0.05, 0.25, 0.5, 0.75, 0.95, 1';
COMMENT ON COLUMN margin_evaluation.auc IS 'two classes, both present: area under the ROC curve';
COMMENT ON COLUMN margin_evaluation.log_loss IS 'logistic and calibrated models: mean of -ln P(true class)';
COMMENT ON COLUMN margin_evaluation.mse IS 'regression: mean squared error';
COMMENT ON COLUMN margin_evaluation.mae IS 'regression: mean absolute error';
COMMENT ON COLUMN margin_evaluation.r2 IS 'regression: 1 - sum(y - f)^2/sum(y - mean y)^2; NULL when all targets are equal';
COMMENT ON COLUMN margin_evaluation.pinball IS 'loss quantile: its mean';
COMMENT ON COLUMN margin_evaluation.average_precision IS 'two classes, both present: area under the curve of precision against recall, in steps';
COMMENT ON COLUMN margin_evaluation.mcc IS 'Matthews'' correlation of the predicted and the true class; NULL when either is always the same';
COMMENT ON COLUMN margin_evaluation.brier IS 'two classes, logistic and calibrated models: mean of (P(second class) - 1 where it is that)^2';
COMMENT ON COLUMN margin_evaluation.deviance IS 'loss poisson: mean deviance';
COMMENT ON COLUMN margin_evaluation.weight IS 'sum of the weights of the rows; without weights their number';
COMMENT ON COLUMN margin_evaluation.weighted_confusion IS 'rows with weights: sums of weights in place of counts';
COMMENT ON COLUMN margin_evaluation.top_k IS 'more than two classes: share of rows whose class is among the k with the best scores, for k = 1 and on';

CREATE TYPE margin_operating_point AS (
  rows      bigint,
  skipped   bigint,
  threshold float8,
  precision float8,
  recall    float8,
  f1        float8,
  accuracy  float8,
  mcc       float8,
  cost      float8,
  confusion float8[]
);
COMMENT ON TYPE margin_operating_point IS 'a threshold of the scores of two classes, and what it does on labelled rows';
COMMENT ON COLUMN margin_operating_point.rows IS 'rows counted';
COMMENT ON COLUMN margin_operating_point.skipped IS 'rows with a NULL';
COMMENT ON COLUMN margin_operating_point.threshold IS 'rows with at least this score are called the second class; Infinity: none is';
COMMENT ON COLUMN margin_operating_point.precision IS 'of the second class; NULL where none is called so';
COMMENT ON COLUMN margin_operating_point.recall IS 'of the second class';
COMMENT ON COLUMN margin_operating_point.f1 IS 'of the second class';
COMMENT ON COLUMN margin_operating_point.accuracy IS 'share of rows called right';
COMMENT ON COLUMN margin_operating_point.mcc IS 'Matthews'' correlation; 0 where all rows are called one class';
COMMENT ON COLUMN margin_operating_point.cost IS 'goal costs: mean cost of a row';
COMMENT ON COLUMN margin_operating_point.confusion IS '2 x 2 rows or weights: row = true class, column = called class';

CREATE TYPE margin_verification AS (
  rows         bigint,
  skipped      bigint,
  errors       bigint,
  margin_lower float8,
  margin_upper float8,
  primal       float8,
  dual         float8,
  gap          float8,
  certain      bigint
);
COMMENT ON TYPE margin_verification IS 'the certificate of a model, recomputed over a table';
COMMENT ON COLUMN margin_verification.rows IS 'rows counted';
COMMENT ON COLUMN margin_verification.skipped IS 'rows with a NULL';
COMMENT ON COLUMN margin_verification.errors IS 'rows whose margin is not positive, of a one-class machine rows with a score of 0 or less; NULL for a regression';
COMMENT ON COLUMN margin_verification.margin_lower IS 'smallest margin of the model on these rows, divided by the norm of the weights; also for soft margins with classes';
COMMENT ON COLUMN margin_verification.margin_upper IS 'hard margin with dual weights, not of stumps: no separator of these rows has a larger margin; else NULL';
COMMENT ON COLUMN margin_verification.primal IS 'soft margin: P over these rows. Hard margin: margin_lower';
COMMENT ON COLUMN margin_verification.dual IS 'soft margin with dual weights: D over these rows. Hard margin: margin_upper';
COMMENT ON COLUMN margin_verification.gap IS 'width of the interval, where both bounds are known';
COMMENT ON COLUMN margin_verification.certain IS 'soft margin with classes: rows whose predicted class is certainly the one that the optimum of the training predicts; else NULL';

CREATE TYPE margin_selection AS (
  metric      text,
  folds       integer,
  rows        bigint,
  skipped     bigint,
  lambdas     float8[],
  losses      text[],
  means       float8[],
  deviations  float8[],
  fold_values float8[],
  best        integer,
  best_mean   float8,
  options     jsonb,
  unfinished  bigint,
  seconds     float8,
  settings    jsonb,
  one_standard_error         integer,
  one_standard_error_options jsonb,
  certificate jsonb,
  predictions float8[]
);
COMMENT ON TYPE margin_selection IS 'settings compared by cross-validation, and the best of them';
COMMENT ON COLUMN margin_selection.metric IS 'what was measured on the held-out rows';
COMMENT ON COLUMN margin_selection.folds IS 'number of folds';
COMMENT ON COLUMN margin_selection.rows IS 'rows used';
COMMENT ON COLUMN margin_selection.skipped IS 'rows left out because label or features was NULL';
COMMENT ON COLUMN margin_selection.lambdas IS 'lambda of each setting; the settings are grid x losses x lambdas, in the order of the lists';
COMMENT ON COLUMN margin_selection.losses IS 'loss of each setting';
COMMENT ON COLUMN margin_selection.means IS 'mean of the metric over the folds; NULL where no fold has a value';
COMMENT ON COLUMN margin_selection.deviations IS 'its sample standard deviation over the folds (n - 1)';
COMMENT ON COLUMN margin_selection.fold_values IS 'settings x folds; NULL where the metric is not defined on a fold (auc of one class, r2 of equal targets)';
COMMENT ON COLUMN margin_selection.best IS 'number of the best setting from 1: of the largest mean, of errors and losses the smallest; of equals the one of largest lambda, then the first. NULL when no setting has a mean';
COMMENT ON COLUMN margin_selection.best_mean IS 'its mean';
COMMENT ON COLUMN margin_selection.options IS 'the options given, with the best setting''s lambda and loss in place of the lists: ready for train_margin';
COMMENT ON COLUMN margin_selection.unfinished IS 'models that did not reach their tolerance';
COMMENT ON COLUMN margin_selection.seconds IS 'time of all trainings and measurements, without reading the rows';
COMMENT ON COLUMN margin_selection.settings IS 'each setting as an object of its lambda, its loss and its values from the grid';
COMMENT ON COLUMN margin_selection.one_standard_error IS 'number of the setting of largest lambda, of those like the best but for lambda, whose mean is within one standard error of the best mean';
COMMENT ON COLUMN margin_selection.one_standard_error_options IS 'as options, with that setting';
COMMENT ON COLUMN margin_selection.certificate IS 'with the option certified: asked, proven (no lambda of the interval has an error more than this below the best one''s), error, lower and bounds, the least error that any lambda from "from" to "to" has';
COMMENT ON COLUMN margin_selection.predictions IS 'with the option predictions: of each row, in their order, what the best setting''s model of the other folds says of it: its scores, of a regression its prediction';

-- ------------------------------------------------------------------------------------------------- sparse vectors

CREATE TYPE margin_sparse;
COMMENT ON TYPE margin_sparse IS 'features as index and value of the non-zeros';

CREATE FUNCTION _margin_sparse_in(cstring) RETURNS margin_sparse
  AS 'MODULE_PATHNAME', 'margin_sparse_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_sparse_in(cstring) IS 'part of the type margin_sparse: input';

CREATE FUNCTION _margin_sparse_out(margin_sparse) RETURNS cstring
  AS 'MODULE_PATHNAME', 'margin_sparse_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_sparse_out(margin_sparse) IS 'part of the type margin_sparse: output';

CREATE FUNCTION _margin_sparse_recv(internal) RETURNS margin_sparse
  AS 'MODULE_PATHNAME', 'margin_sparse_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_sparse_recv(internal) IS 'part of the type margin_sparse: binary input';

CREATE FUNCTION _margin_sparse_send(margin_sparse) RETURNS bytea
  AS 'MODULE_PATHNAME', 'margin_sparse_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_sparse_send(margin_sparse) IS 'part of the type margin_sparse: binary output';

CREATE TYPE margin_sparse (
  INPUT = _margin_sparse_in, OUTPUT = _margin_sparse_out, RECEIVE = _margin_sparse_recv, SEND = _margin_sparse_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);

CREATE TYPE margin_model AS (
  solver       text,
  loss         text,
  norm         float8,
  lambda       float8,
  status       text,
  classes      text[],
  weights      float8[],
  intercept    float8[],
  margin_lower float8,
  margin_upper float8,
  primal       float8,
  dual         float8,
  gap          float8,
  iterations   bigint,
  rows         bigint,
  skipped      bigint,
  dimensions   integer,
  support      bigint,
  seconds      float8,
  options      jsonb,
  history      float8[],
  dual_weights float8[],
  calibration  float8[],
  stumps       float8[],
  kernel       text,
  kernel_parameters      jsonb,
  support_vectors        float8[],
  sparse_support_vectors margin_sparse[],
  columns      integer[],
  target_center float8,
  target_scale  float8,
  encoder       jsonb,
  ball          float8[],
  curvature     float8[],
  prices        float8[]
);
COMMENT ON TYPE margin_model IS 'a trained model with its certificate';
COMMENT ON COLUMN margin_model.solver IS 'what ran';
COMMENT ON COLUMN margin_model.loss IS 'the loss; NULL for a hard margin whose solver follows none';
COMMENT ON COLUMN margin_model.norm IS 'p of the norm of the margin: 2, or below as the option says';
COMMENT ON COLUMN margin_model.lambda IS 'as given; NULL: hard margin';
COMMENT ON COLUMN margin_model.status IS 'see Status';
COMMENT ON COLUMN margin_model.classes IS 'the labels as text, in order; NULL for a regression';
COMMENT ON COLUMN margin_model.weights IS 'two classes and regression: one weight per feature (per listed feature where there are columns), or per stump or tree. More: one row per class. A hard margin''s have (lp, or Frobenius) norm 1, so that scores are distances (not with standardize)';
COMMENT ON COLUMN margin_model.intercept IS 'one per row of weights; 0 without intercept';
COMMENT ON COLUMN margin_model.margin_lower IS 'hard margin: the smallest margin of this model, rounded down, in the units of the features (of stumps, for weights of sum 1; with a kernel, in its space); interpolation: the smallest slack; else NULL';
COMMENT ON COLUMN margin_model.margin_upper IS 'hard margin: no separator has a margin above it; else NULL';
COMMENT ON COLUMN margin_model.primal IS 'soft margin: P of this model, an upper bound of the optimum. Hard margin: margin_lower. Interpolation: half the squared norm';
COMMENT ON COLUMN margin_model.dual IS 'soft margin, interpolation: a lower bound of the optimum. Hard margin: margin_upper';
COMMENT ON COLUMN margin_model.gap IS 'the width of the interval: primal - dual, or margin_upper - margin_lower';
COMMENT ON COLUMN margin_model.iterations IS 'scans, passes, rounds, epochs or steps, see Solvers, of all outputs together (sdca, sgd: epochs of the output that took most); summed over +';
COMMENT ON COLUMN margin_model.rows IS 'rows trained on';
COMMENT ON COLUMN margin_model.skipped IS 'rows left out because label or features was NULL';
COMMENT ON COLUMN margin_model.dimensions IS 'number of features';
COMMENT ON COLUMN margin_model.support IS 'rows with a dual weight other than 0';
COMMENT ON COLUMN margin_model.seconds IS 'time of training, without reading the rows: standardising, solving, certifying';
COMMENT ON COLUMN margin_model.options IS 'the options as given, without initial';
COMMENT ON COLUMN margin_model.history IS 'with the option: one row of (iteration, seconds, lower, upper) per iteration or epoch, as the solver saw it; of rounds of boosting (..., step, learner): which weight was changed, and by what; for a soft margin lower is the dual and upper the primal value. Ends may be infinite at first, and the measuring takes time that a training without history does not need';
COMMENT ON COLUMN margin_model.dual_weights IS 'with the option: one value per trained row, in input order; more than two classes: one row of k values per trained row';
COMMENT ON COLUMN margin_model.calibration IS 'with the option: platt: one row (a, b) per output. isotonic: rows of (output from 1, score, probability), rising in score and probability for each output';
COMMENT ON COLUMN margin_model.stumps IS 'with learners => ''stumps'': one row (feature from 1, threshold) for each weight of an output. The stump is +1 where the feature is above the threshold, else -1. With learners => ''trees'': that of the split, then of the stumps below and above it; a negative feature stands for the negative of its stump, and 0 for the constant in place of the threshold';
COMMENT ON COLUMN margin_model.kernel IS 'of a kernel model: its kernel; weights then has one weight for each support vector (more than two classes: one row of weights per class)';
COMMENT ON COLUMN margin_model.kernel_parameters IS 'what the kernel was made with: gamma as a number, degree, coef0, width, seed, where the kernel has them';
COMMENT ON COLUMN margin_model.support_vectors IS 'the rows with a weight that is not 0, one after another; NULL where they are sparse';
COMMENT ON COLUMN margin_model.sparse_support_vectors IS 'the same for a training on sparse rows, or on rows with few non-zeros';
COMMENT ON COLUMN margin_model.columns IS 'of a training on wide sparse rows: the features from 1 that weights belongs to, ascending, weight by weight; all others have the weight 0. NULL: weights has all of 1 to dimensions';
COMMENT ON COLUMN margin_model.target_center IS 'regression with lambda and an intercept: where the intercept''s penalty is 0, see Centred targets';
COMMENT ON COLUMN margin_model.target_scale IS 'regression with lambda and standardize: the standard deviation of the label, by which it was divided';
COMMENT ON COLUMN margin_model.encoder IS 'of a training on rows with named columns: the columns, and how their values become features; NULL: features came as numbers';
COMMENT ON COLUMN margin_model.ball IS 'of soft margins that are linear in features of known units, what score intervals need of the dual weights: for each row of weights W, what of the gap is not half of lambda times the square of v - w, how far the following may be off, and v - w: of the intercept, then, where they matter, of the weights; in a last row what W is beyond its double, and how far both may be off';
COMMENT ON COLUMN margin_model.curvature IS 'as margin_with_curvature makes it, what score intervals need of how the objective curves: for each row of weights W, how far the following holds, how far matrices and gradient may be off, the gradient, and the upper triangles of four matrices: the metric of how far, the Hessian''s middle on the way to an optimum nearby, its spread there, and the square of that over the middle';
COMMENT ON COLUMN margin_model.prices IS 'with bounds of weights or constraints: of each weight, what the least objective changes by per unit of the bound that it is at, in the units of weights: below 0 for an upper bound, above 0 for a lower one, 0 between; then the same of each constraint';

CREATE FUNCTION margin_sparse(indices integer[], "values" float8[], dimensions integer DEFAULT NULL) RETURNS margin_sparse
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse(integer[], float8[], integer) IS 'sparse vector of indices from 1, values, and the number of dimensions (NULL: as far as the indices go)';

CREATE FUNCTION margin_sparse(real[]) RETURNS margin_sparse
  AS 'MODULE_PATHNAME', 'margin_sparse_from_real' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse(real[]) IS 'the non-zeros of an array';

CREATE FUNCTION margin_sparse(float8[]) RETURNS margin_sparse
  AS 'MODULE_PATHNAME', 'margin_sparse_from_double' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse(float8[]) IS 'the non-zeros of an array';

CREATE FUNCTION margin_sparse(jsonb) RETURNS margin_sparse
  AS 'MODULE_PATHNAME', 'margin_sparse_from_jsonb' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_sparse(jsonb) IS 'sparse vector of an object of index: value';

CREATE FUNCTION margin_sparse_to_real(margin_sparse) RETURNS real[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse_to_real(margin_sparse) IS 'dense array of a sparse vector, as long as its dimensions';

CREATE FUNCTION margin_sparse_to_double(margin_sparse) RETURNS float8[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse_to_double(margin_sparse) IS 'dense array of a sparse vector, as long as its dimensions';

CREATE FUNCTION margin_sparse_to_jsonb(margin_sparse) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_sparse_to_jsonb(margin_sparse) IS 'object of index: value of a sparse vector';

CREATE CAST (real[] AS margin_sparse) WITH FUNCTION margin_sparse(real[]) AS ASSIGNMENT;
COMMENT ON CAST (real[] AS margin_sparse) IS 'the non-zeros';
CREATE CAST (float8[] AS margin_sparse) WITH FUNCTION margin_sparse(float8[]) AS ASSIGNMENT;
COMMENT ON CAST (float8[] AS margin_sparse) IS 'the non-zeros';
CREATE CAST (jsonb AS margin_sparse) WITH FUNCTION margin_sparse(jsonb);
COMMENT ON CAST (jsonb AS margin_sparse) IS 'the non-zeros';
CREATE CAST (margin_sparse AS real[]) WITH FUNCTION margin_sparse_to_real(margin_sparse);
COMMENT ON CAST (margin_sparse AS real[]) IS 'every element, or every non-zero';
CREATE CAST (margin_sparse AS float8[]) WITH FUNCTION margin_sparse_to_double(margin_sparse);
COMMENT ON CAST (margin_sparse AS float8[]) IS 'every element, or every non-zero';
CREATE CAST (margin_sparse AS jsonb) WITH FUNCTION margin_sparse_to_jsonb(margin_sparse);
COMMENT ON CAST (margin_sparse AS jsonb) IS 'every element, or every non-zero';

CREATE FUNCTION _margin_sparse_eq(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME', 'margin_sparse_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_eq(margin_sparse, margin_sparse) IS 'part of the type margin_sparse: equal: dimensions, indices and values';

CREATE FUNCTION _margin_sparse_ne(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME', 'margin_sparse_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_ne(margin_sparse, margin_sparse) IS 'part of the type margin_sparse: not equal';

CREATE FUNCTION _margin_sparse_lt(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME', 'margin_sparse_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_lt(margin_sparse, margin_sparse) IS 'part of the type margin_sparse: before in the order of the type';

CREATE FUNCTION _margin_sparse_le(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME', 'margin_sparse_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_le(margin_sparse, margin_sparse) IS 'part of the type margin_sparse: before or equal in the order of the type';

CREATE FUNCTION _margin_sparse_gt(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME', 'margin_sparse_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_gt(margin_sparse, margin_sparse) IS 'part of the type margin_sparse: after in the order of the type';

CREATE FUNCTION _margin_sparse_ge(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME', 'margin_sparse_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_ge(margin_sparse, margin_sparse) IS 'part of the type margin_sparse: after or equal in the order of the type';

CREATE FUNCTION _margin_sparse_cmp(margin_sparse, margin_sparse) RETURNS integer
  AS 'MODULE_PATHNAME', 'margin_sparse_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_cmp(margin_sparse, margin_sparse) IS 'part of the type margin_sparse: order of two vectors: by dimensions, then by their non-zeros from the first on';

CREATE FUNCTION _margin_sparse_hash(margin_sparse) RETURNS integer
  AS 'MODULE_PATHNAME', 'margin_sparse_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_hash(margin_sparse) IS 'part of the type margin_sparse: hash of a sparse vector';

CREATE FUNCTION _margin_sparse_hash_extended(margin_sparse, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'margin_sparse_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION _margin_sparse_hash_extended(margin_sparse, bigint) IS 'part of the type margin_sparse: hash of a sparse vector with a seed';

CREATE OPERATOR = (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = _margin_sparse_eq, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (margin_sparse, margin_sparse) IS 'equal: dimensions, indices and values';
CREATE OPERATOR <> (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = _margin_sparse_ne, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (margin_sparse, margin_sparse) IS 'not equal';
CREATE OPERATOR < (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = _margin_sparse_lt, COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (margin_sparse, margin_sparse) IS 'before in the order of the type';
CREATE OPERATOR <= (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = _margin_sparse_le, COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (margin_sparse, margin_sparse) IS 'before or equal in the order of the type';
CREATE OPERATOR > (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = _margin_sparse_gt, COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (margin_sparse, margin_sparse) IS 'after in the order of the type';
CREATE OPERATOR >= (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = _margin_sparse_ge, COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (margin_sparse, margin_sparse) IS 'after or equal in the order of the type';

CREATE OPERATOR CLASS margin_sparse_ops DEFAULT FOR TYPE margin_sparse USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 _margin_sparse_cmp(margin_sparse, margin_sparse);
COMMENT ON OPERATOR CLASS margin_sparse_ops USING btree IS 'for GROUP BY, DISTINCT and ORDER BY';
COMMENT ON OPERATOR FAMILY margin_sparse_ops USING btree IS 'for GROUP BY, DISTINCT and ORDER BY';

CREATE OPERATOR CLASS margin_sparse_ops DEFAULT FOR TYPE margin_sparse USING hash AS
  OPERATOR 1 =,
  FUNCTION 1 _margin_sparse_hash(margin_sparse), FUNCTION 2 _margin_sparse_hash_extended(margin_sparse, bigint);
COMMENT ON OPERATOR CLASS margin_sparse_ops USING hash IS 'for GROUP BY, DISTINCT and hash joins';
COMMENT ON OPERATOR FAMILY margin_sparse_ops USING hash IS 'for GROUP BY, DISTINCT and hash joins';

-- ------------------------------------------------------------------------------------------------ features of columns

CREATE FUNCTION margin_finite(features "any") RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION margin_finite("any") IS 'whether the features are finite numbers, none of them NULL: for WHERE, FILTER and CASE';

-- STABLE: the labels of an enum can be renamed.
CREATE FUNCTION margin_features(VARIADIC columns "any") RETURNS margin_sparse
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_features(VARIADIC "any")
  IS 'columns as features: numbers and booleans one each, then text and enums hashed into 262144 of 0 and 1';

CREATE FUNCTION margin_hashed_features(width integer, VARIADIC columns "any") RETURNS margin_sparse
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_hashed_features(integer, VARIADIC "any")
  IS 'margin_features with text and enums hashed into width features';

CREATE FUNCTION margin_fold(key "any", folds integer DEFAULT 5, seed bigint DEFAULT 0) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_fold("any", integer, bigint) IS 'the fold, from 1, of a row with this key: the same whatever other rows there are';

-- Bodies in SQL say pg_catalog: what somebody puts into the extension's schema must not take the place of an operator.
CREATE FUNCTION margin_cyclic(moment timestamp, period text) RETURNS float8[]
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (SELECT ARRAY[pg_catalog.sin(a), pg_catalog.cos(a)] FROM (SELECT 2::float8 OPERATOR(pg_catalog.*) pg_catalog.pi()
    OPERATOR(pg_catalog.*) extract(epoch FROM moment OPERATOR(pg_catalog.-) start)::float8 OPERATOR(pg_catalog./) extract(epoch FROM start
    OPERATOR(pg_catalog.+) CASE WHEN period OPERATOR(pg_catalog.=) 'quarter' THEN interval '3 months' ELSE ('1 ' OPERATOR(pg_catalog.||) period)::interval END
    OPERATOR(pg_catalog.-) start)::float8 FROM (SELECT pg_catalog.date_trunc(period, moment)) AS s (start)) AS t (a));
COMMENT ON FUNCTION margin_cyclic(timestamp, text)
  IS 'the sine and cosine of where in its hour, day, week, month, quarter or year a time lies: the end is next to the start';

CREATE FUNCTION margin_cyclic(moment timestamptz, period text) RETURNS float8[]
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  RETURN margin_cyclic(moment::timestamp, period);
COMMENT ON FUNCTION margin_cyclic(timestamptz, text) IS 'the same in the session''s time zone';

CREATE FUNCTION margin_fourier(features "any", dimensions integer, gamma float8, seed bigint DEFAULT 0) RETURNS real[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_fourier("any", integer, float8, bigint)
  IS 'random Fourier features: their inner products approximate the kernel exp(-gamma ||x - y||^2)';

-- -------------------------------------------------------------------------------------------------------- options

CREATE FUNCTION margin_options(
  norm            "any"        DEFAULT NULL,
  lambda          float8       DEFAULT NULL,
  loss            text         DEFAULT NULL,
  solver          text         DEFAULT NULL,
  tolerance       float8       DEFAULT NULL,
  gap_tolerance   float8       DEFAULT NULL,
  max_iterations  bigint       DEFAULT NULL,
  max_seconds     float8       DEFAULT NULL,
  intercept       "any"        DEFAULT NULL,
  intercept_scale float8       DEFAULT NULL,
  standardize     boolean      DEFAULT NULL,
  class_weight    "any"        DEFAULT NULL,
  seed            bigint       DEFAULT NULL,
  history         boolean      DEFAULT NULL,
  dual_weights    boolean      DEFAULT NULL,
  initial         margin_model DEFAULT NULL,
  log_level       text         DEFAULT NULL,
  "order"         text         DEFAULT NULL,
  output          text         DEFAULT NULL,
  average_from    bigint       DEFAULT NULL,
  draws           bigint       DEFAULT NULL,
  start           text         DEFAULT NULL,
  l1_ratio        float8       DEFAULT NULL,
  penalty_factor  "any"        DEFAULT NULL,
  positive        boolean      DEFAULT NULL,
  bounds          "any"        DEFAULT NULL,
  constraints     jsonb        DEFAULT NULL,
  fairness        jsonb        DEFAULT NULL,
  monotone        jsonb        DEFAULT NULL,
  offset_feature  "any"        DEFAULT NULL,
  epsilon         float8       DEFAULT NULL,
  smoothing       float8       DEFAULT NULL,
  quantile        float8       DEFAULT NULL,
  nu              float8       DEFAULT NULL,
  calibration     text         DEFAULT NULL,
  multiclass      text         DEFAULT NULL,
  unseen          text         DEFAULT NULL,
  one_class       text         DEFAULT NULL,
  shrinkage       float8       DEFAULT NULL,
  step            text         DEFAULT NULL,
  mirror_loss     text         DEFAULT NULL,
  learners        text         DEFAULT NULL,
  accelerated     boolean      DEFAULT NULL,
  working_set     boolean      DEFAULT NULL,
  kernel          text         DEFAULT NULL,
  gamma           "any"        DEFAULT NULL,
  degree          integer      DEFAULT NULL,
  coef0           float8       DEFAULT NULL,
  width           integer      DEFAULT NULL,
  n_components    integer      DEFAULT NULL,
  on_error        text         DEFAULT NULL,
  exclude         text[]       DEFAULT NULL,
  include         text[]       DEFAULT NULL,
  reference       jsonb        DEFAULT NULL,
  collinear       text         DEFAULT NULL,
  missing         text         DEFAULT NULL,
  unknown_features text        DEFAULT NULL,
  max_categories  integer      DEFAULT NULL,
  bins            "any"        DEFAULT NULL,
  interactions    "any"        DEFAULT NULL,
  shard           text         DEFAULT NULL,
  sample_rows     bigint       DEFAULT NULL
) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_options("any", float8, text, text, float8, float8, bigint, float8, "any", float8, boolean, "any",
  bigint, boolean, boolean, margin_model, text, text, text, bigint, bigint, text, float8, "any", boolean, "any", jsonb, jsonb, jsonb, "any", float8, float8, float8, float8, text, text, text, text, float8, text, text, text,
  boolean, boolean, text, "any", integer, float8, integer, integer, text, text[], text[], jsonb, text, text, text, integer, "any", "any", text, bigint)
  IS 'options of train_margin, checked: only the given ones, as jsonb';

-- ------------------------------------------------------------------------------------------------------- training

CREATE FUNCTION _margin_train_step(internal, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_train_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_train_step(internal, "any", "any") IS 'part of the aggregate train_margin';

CREATE FUNCTION _margin_train_step(internal, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_train_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_train_step(internal, "any", "any", jsonb) IS 'part of the aggregate train_margin';

CREATE FUNCTION _margin_train_step(internal, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_train_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_train_step(internal, "any", "any", float8, jsonb) IS 'part of the aggregate train_margin';

-- STABLE, not IMMUTABLE: the model carries the time that its training took.
CREATE FUNCTION _margin_train_final(internal) RETURNS margin_model
  AS 'MODULE_PATHNAME', 'margin_train_final' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _margin_train_final(internal) IS 'part of the aggregate train_margin';

-- The state holds all rows of a group. The large SSPACE makes GROUP BY sort, so that one group's rows are in memory
-- at a time; there is no combine function, because moving such states costs more than moving the rows.
CREATE AGGREGATE train_margin(label "any", features "any") (
  SFUNC = _margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_train_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_margin("any", "any") IS 'trains a maximum-margin model from rows of a label and features';

CREATE AGGREGATE train_margin(label "any", features "any", options jsonb) (
  SFUNC = _margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_train_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_margin("any", "any", jsonb) IS 'trains a model with the options of margin_options';

CREATE AGGREGATE train_margin(label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_train_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_margin("any", "any", float8, jsonb) IS 'trains a model on weighted rows';

CREATE FUNCTION _margin_one_class_step(internal, "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_one_class_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_one_class_step(internal, "any") IS 'part of the aggregate train_one_class';

CREATE FUNCTION _margin_one_class_step(internal, "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_one_class_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_one_class_step(internal, "any", jsonb) IS 'part of the aggregate train_one_class';

CREATE FUNCTION _margin_one_class_step(internal, "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_one_class_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_one_class_step(internal, "any", float8, jsonb) IS 'part of the aggregate train_one_class';

CREATE FUNCTION _margin_one_class_final(internal) RETURNS margin_model
  AS 'MODULE_PATHNAME', 'margin_one_class_final' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _margin_one_class_final(internal) IS 'part of the aggregate train_one_class';

CREATE AGGREGATE train_one_class(features "any") (
  SFUNC = _margin_one_class_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_one_class_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_one_class("any") IS 'trains a one-class machine, which tells rows like these from others';

CREATE AGGREGATE train_one_class(features "any", options jsonb) (
  SFUNC = _margin_one_class_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_one_class_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_one_class("any", jsonb) IS 'trains a one-class machine with the options of margin_options';

CREATE AGGREGATE train_one_class(features "any", weight float8, options jsonb) (
  SFUNC = _margin_one_class_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_one_class_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_one_class("any", float8, jsonb) IS 'trains a one-class machine on weighted rows';

CREATE FUNCTION _margin_hard_core_final(internal) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'margin_hard_core_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION _margin_hard_core_final(internal) IS 'part of the aggregate margin_hard_core';

CREATE AGGREGATE margin_hard_core(label "any", features "any") (
  SFUNC = _margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_hard_core_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_hard_core("any", "any") IS 'the rows of two classes on which no margin is gained but at the cost of others: their weights in a combination that is 0';

-- What the rows of a training say of their columns, alone: of train_margin_from, where no profile says enough.
CREATE FUNCTION _margin_encoder_final(internal) RETURNS jsonb
  AS 'MODULE_PATHNAME', 'margin_encoder_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _margin_encoder_final(internal) IS 'part of the aggregates _margin_encoder';

CREATE AGGREGATE _margin_encoder(label "any", features "any", options jsonb) (
  SFUNC = _margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_encoder_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE _margin_encoder("any", "any", jsonb) IS 'part of the functions train_margin_from and margin_scan_query: the encoder of rows that are gathered';

CREATE AGGREGATE _margin_encoder(label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_encoder_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE _margin_encoder("any", "any", float8, jsonb) IS 'part of the functions train_margin_from and margin_scan_query: the same with row weights';

CREATE FUNCTION margin_encode(encoder jsonb, features "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_encode(jsonb, "any") IS 'a row with named columns as the numbers that a model is trained on';

CREATE FUNCTION margin_encode_sparse(encoder jsonb, features "any") RETURNS margin_sparse
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_encode_sparse(jsonb, "any") IS 'the same, without the zeros';

CREATE FUNCTION margin_encode(encoder jsonb, names jsonb, VARIADIC columns "any") RETURNS float8[]
  AS 'MODULE_PATHNAME', 'margin_encode_columns' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_encode(jsonb, jsonb, VARIADIC "any") IS 'columns and their names as the numbers that a model is trained on';

CREATE FUNCTION _margin_encode_sparse(encoder jsonb, names jsonb, VARIADIC columns "any") RETURNS margin_sparse
  AS 'MODULE_PATHNAME', 'margin_encode_sparse_columns' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_encode_sparse(jsonb, jsonb, VARIADIC "any") IS 'part of the functions train_margin_from and margin_scan_query: columns and their names, without the zeros';

-- ------------------------------------------------------------------------------------------------------------- scans

CREATE TYPE margin_question;
COMMENT ON TYPE margin_question IS 'what is asked of all rows: an iterate, and which sums and rows are wanted at it';

CREATE FUNCTION _margin_question_in(cstring) RETURNS margin_question
  AS 'MODULE_PATHNAME', 'margin_question_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_question_in(cstring) IS 'part of the type margin_question: input';

CREATE FUNCTION _margin_question_out(margin_question) RETURNS cstring
  AS 'MODULE_PATHNAME', 'margin_question_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_question_out(margin_question) IS 'part of the type margin_question: output';

CREATE FUNCTION _margin_question_recv(internal) RETURNS margin_question
  AS 'MODULE_PATHNAME', 'margin_question_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_question_recv(internal) IS 'part of the type margin_question: binary input';

CREATE FUNCTION _margin_question_send(margin_question) RETURNS bytea
  AS 'MODULE_PATHNAME', 'margin_question_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_question_send(margin_question) IS 'part of the type margin_question: binary output';

CREATE TYPE margin_question (
  INPUT = _margin_question_in, OUTPUT = _margin_question_out, RECEIVE = _margin_question_recv, SEND = _margin_question_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);

CREATE TYPE margin_term;
COMMENT ON TYPE margin_term IS 'what one row adds to the answer of a question';

CREATE FUNCTION _margin_term_in(cstring) RETURNS margin_term
  AS 'MODULE_PATHNAME', 'margin_term_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_term_in(cstring) IS 'part of the type margin_term: input';

CREATE FUNCTION _margin_term_out(margin_term) RETURNS cstring
  AS 'MODULE_PATHNAME', 'margin_term_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_term_out(margin_term) IS 'part of the type margin_term: output';

CREATE FUNCTION _margin_term_recv(internal) RETURNS margin_term
  AS 'MODULE_PATHNAME', 'margin_term_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_term_recv(internal) IS 'part of the type margin_term: binary input';

CREATE FUNCTION _margin_term_send(margin_term) RETURNS bytea
  AS 'MODULE_PATHNAME', 'margin_term_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_term_send(margin_term) IS 'part of the type margin_term: binary output';

CREATE TYPE margin_term (
  INPUT = _margin_term_in, OUTPUT = _margin_term_out, RECEIVE = _margin_term_recv, SEND = _margin_term_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);

CREATE TYPE margin_state;
COMMENT ON TYPE margin_state IS 'what some rows answer to a question; the states of parts merge into that of all';

CREATE FUNCTION _margin_state_in(cstring) RETURNS margin_state
  AS 'MODULE_PATHNAME', 'margin_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_state_in(cstring) IS 'part of the type margin_state: input';

CREATE FUNCTION _margin_state_out(margin_state) RETURNS cstring
  AS 'MODULE_PATHNAME', 'margin_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_state_out(margin_state) IS 'part of the type margin_state: output';

CREATE FUNCTION _margin_state_recv(internal) RETURNS margin_state
  AS 'MODULE_PATHNAME', 'margin_state_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_state_recv(internal) IS 'part of the type margin_state: binary input';

CREATE FUNCTION _margin_state_send(margin_state) RETURNS bytea
  AS 'MODULE_PATHNAME', 'margin_state_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_state_send(margin_state) IS 'part of the type margin_state: binary output';

CREATE TYPE margin_state (
  INPUT = _margin_state_in, OUTPUT = _margin_state_out, RECEIVE = _margin_state_recv, SEND = _margin_state_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);

CREATE FUNCTION margin_term(question margin_question, label "any", features "any", weight float8 DEFAULT 1) RETURNS margin_term
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_term(margin_question, "any", "any", float8) IS 'what a row, of weight 1 or another, adds to the answer of a question';

CREATE FUNCTION margin_term(model margin_model, label "any", features "any") RETURNS margin_term
  AS 'MODULE_PATHNAME', 'margin_term_of_model' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_term(margin_model, "any", "any")
  IS 'what a row adds to the figures of a model: for margin_verify, margin_evaluate and the charts of the sum';

CREATE FUNCTION _margin_term(model margin_model, label "any", features "any", weight float8) RETURNS margin_term
  AS 'MODULE_PATHNAME', 'margin_term_of_model' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_term(margin_model, "any", "any", float8) IS 'part of the functions margin_cross_validate_from and train_margin_from: what a weighted row adds to the figures of a model';

CREATE FUNCTION _margin_sum_step(margin_state, margin_term) RETURNS margin_state
  AS 'MODULE_PATHNAME', 'margin_sum_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_sum_step(margin_state, margin_term) IS 'part of the aggregate margin_sum: a state with one more term';

CREATE FUNCTION _margin_merge(margin_state, margin_state) RETURNS margin_state
  AS 'MODULE_PATHNAME', 'margin_merge' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _margin_merge(margin_state, margin_state) IS 'part of the aggregates margin_sum: the state of the rows of two states; NULL counts as no rows';

-- The states have a concrete type and a combine function, so that workers, partitions and foreign servers can each sum
-- up their own rows.
CREATE AGGREGATE margin_sum(term margin_term) (
  SFUNC = _margin_sum_step, STYPE = margin_state, SSPACE = 65536, COMBINEFUNC = _margin_merge, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_sum(margin_term) IS 'the answer of all rows to a question, of their terms';

CREATE AGGREGATE margin_sum(state margin_state) (
  SFUNC = _margin_merge, STYPE = margin_state, SSPACE = 65536, COMBINEFUNC = _margin_merge, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_sum(margin_state) IS 'the answer of all rows to a question, of states of parts of them';

CREATE FUNCTION margin_question(options jsonb) RETURNS margin_question
  AS 'MODULE_PATHNAME', 'margin_question_of_options' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_question(jsonb) IS 'the question of the first scan of a training with these options';

CREATE FUNCTION margin_question(options jsonb, model margin_model) RETURNS margin_question
  AS 'MODULE_PATHNAME', 'margin_question_of_model' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_question(jsonb, margin_model) IS 'the question what all rows say of the weights of a model; options take the place of the model''s';

CREATE FUNCTION margin_certificate(question margin_question, state margin_state, OUT problem text, OUT objective text, OUT status text,
  OUT lower float8, OUT upper float8, OUT gap float8, OUT relative_gap float8, OUT distance float8) RETURNS record
  AS 'MODULE_PATHNAME', 'margin_certificate_of_state' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_certificate(margin_question, margin_state)
  IS 'the same of the weights of a question, as the answer of all rows proves it';

CREATE FUNCTION margin_state_info(state margin_state) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_state_info(margin_state) IS 'what is in a state, for a person to read: rows, classes, numbers, kept rows';

-- They run queries: with the rights of the caller, in the snapshot of the statement that calls them. A training is said to be volatile, though it
-- is stable, so that the planner does not copy it: SELECT (m).status, (m).primal FROM (SELECT train_margin_from(...) AS m) AS s trains once.
CREATE FUNCTION train_margin_from(query text, options jsonb DEFAULT '{}') RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION train_margin_from(text, jsonb) IS 'trains a maximum-margin model on the rows of a query, in a few scans of it';

CREATE FUNCTION train_one_class_from(query text, options jsonb DEFAULT '{}') RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION train_one_class_from(text, jsonb) IS 'trains a one-class machine on the rows of a query, in a few scans of it';

CREATE FUNCTION margin_path_from(query text, options jsonb) RETURNS margin_model[]
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION margin_path_from(text, jsonb) IS 'models along a list of lambdas on the rows of a query, all in the same few scans of it';

CREATE FUNCTION margin_cross_validate_from(query text, options jsonb) RETURNS margin_selection
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 10000000;
COMMENT ON FUNCTION margin_cross_validate_from(text, jsonb) IS 'compares lambdas on held-out rows of a query, whose column fold says which are held out together, in a few scans of it';

CREATE FUNCTION margin_scan_query(query text, options jsonb DEFAULT '{}') RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION margin_scan_query(text, jsonb) IS 'the statement of the first scan of train_margin_from, for EXPLAIN';

-- ----------------------------------------------------------------------------------------------------------- profiles

CREATE TYPE margin_profile;
COMMENT ON TYPE margin_profile IS 'what the columns of some rows are: counts, sums, ends, ranks and frequent values; those of parts merge';

CREATE FUNCTION _margin_profile_in(cstring) RETURNS margin_profile
  AS 'MODULE_PATHNAME', 'margin_profile_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_profile_in(cstring) IS 'part of the type margin_profile: input';

CREATE FUNCTION _margin_profile_out(margin_profile) RETURNS cstring
  AS 'MODULE_PATHNAME', 'margin_profile_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_profile_out(margin_profile) IS 'part of the type margin_profile: output';

CREATE FUNCTION _margin_profile_recv(internal) RETURNS margin_profile
  AS 'MODULE_PATHNAME', 'margin_profile_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_profile_recv(internal) IS 'part of the type margin_profile: binary input';

CREATE FUNCTION _margin_profile_send(margin_profile) RETURNS bytea
  AS 'MODULE_PATHNAME', 'margin_profile_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_profile_send(margin_profile) IS 'part of the type margin_profile: binary output';

CREATE TYPE margin_profile (
  INPUT = _margin_profile_in, OUTPUT = _margin_profile_out, RECEIVE = _margin_profile_recv, SEND = _margin_profile_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);

CREATE FUNCTION margin_profile(features "any") RETURNS margin_profile
  AS 'MODULE_PATHNAME', 'margin_profile_of_row' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_profile("any") IS 'a row with named columns as a profile, for margin_sum';

-- Names as jsonb: arguments of a type with a collation, as text[] has, would keep postgres_fdw from sending the call.
CREATE FUNCTION margin_profile(names jsonb, VARIADIC columns "any") RETURNS margin_profile
  AS 'MODULE_PATHNAME', 'margin_profile_of_columns' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_profile(jsonb, VARIADIC "any") IS 'columns and their names as a profile, for margin_sum';

CREATE FUNCTION _margin_profile_merge(margin_profile, margin_profile) RETURNS margin_profile
  AS 'MODULE_PATHNAME', 'margin_merge_profile' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_profile_merge(margin_profile, margin_profile) IS 'part of the aggregate margin_sum: the profile of the rows of two profiles; NULL counts as no rows';

CREATE AGGREGATE margin_sum(profile margin_profile) (
  SFUNC = _margin_profile_merge, STYPE = margin_profile, SSPACE = 1048576, COMBINEFUNC = _margin_profile_merge, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_sum(margin_profile) IS 'the profile of all rows, of those of single rows or of parts of them';

CREATE FUNCTION margin_profile_columns(profile margin_profile, at float8[] DEFAULT '{0.01,0.05,0.25,0.5,0.75,0.95,0.99}',
  top integer DEFAULT 10, OUT name text, OUT type text, OUT count bigint, OUT nulls bigint, OUT nan bigint, OUT infinite bigint,
  OUT mean float8, OUT stddev float8, OUT min float8, OUT max float8, OUT quantiles float8[], OUT rank_error float8,
  OUT distinct_values bigint, OUT top_values text[], OUT top_counts bigint[], OUT count_error bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000 ROWS 20;
COMMENT ON FUNCTION margin_profile_columns(margin_profile, float8[], integer) IS 'a profile as a table, a line for each column';

CREATE FUNCTION margin_encoder(profile margin_profile, options jsonb DEFAULT '{}', label text DEFAULT NULL) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_encoder(margin_profile, jsonb, text) IS 'the encoder that a training on these rows makes';

CREATE FUNCTION margin_drift(before margin_profile, after margin_profile, OUT name text, OUT psi float8, OUT jensen_shannon float8,
  OUT kolmogorov_smirnov float8, OUT rank_error float8, OUT mean_shift float8, OUT nulls_before float8, OUT nulls_after float8, OUT outside float8,
  OUT unseen float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 20;
COMMENT ON FUNCTION margin_drift(margin_profile, margin_profile) IS 'how the columns of rows have moved between two profiles';

-- --------------------------------------------------------------------------------------- parts of aggregates of a model

-- Each state says which aggregate it belongs to.
CREATE FUNCTION _margin_pass_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_pass_combine' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _margin_pass_combine(internal, internal) IS 'part of the aggregates of a model: the state of the rows of two states';

CREATE FUNCTION _margin_pass_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'margin_pass_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _margin_pass_serialize(internal) IS 'part of the aggregates of a model: a state as bytes';

CREATE FUNCTION _margin_pass_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_pass_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _margin_pass_deserialize(bytea, internal) IS 'part of the aggregates of a model: the state of these bytes';

-- ---------------------------------------------------------------------------------------------------- using a model

-- Planning a query that predicts loads the library, whose hook knows how many models a small table holds.
CREATE FUNCTION _margin_planner_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_planner_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _margin_planner_support(internal) IS 'part of the functions of a model and a row: loads the library when one is planned';

CREATE FUNCTION margin_score(model margin_model, features "any") RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
  SUPPORT _margin_planner_support;
COMMENT ON FUNCTION margin_score(margin_model, "any")
  IS 'score of a row: positive for the second class; the predicted number of a regression model';

CREATE FUNCTION margin_scores(model margin_model, features "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 40
  SUPPORT _margin_planner_support;
COMMENT ON FUNCTION margin_scores(margin_model, "any")
  IS 'scores of a row: one per class, or a single one for two classes and for regression';

CREATE FUNCTION margin_score_interval(model margin_model, features "any", OUT lower float8, OUT upper float8, OUT certain boolean)
  RETURNS record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 60
  SUPPORT _margin_planner_support;
COMMENT ON FUNCTION margin_score_interval(margin_model, "any")
  IS 'between which scores that of the optimum lies, and whether it certainly predicts the class that the model does';

CREATE FUNCTION margin_score_intervals(model margin_model, features "any", OUT lower float8[], OUT upper float8[],
  OUT certain boolean) RETURNS record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 80
  SUPPORT _margin_planner_support;
COMMENT ON FUNCTION margin_score_intervals(margin_model, "any")
  IS 'the same with one interval per class, or a single one for two classes and for regression';

CREATE FUNCTION margin_predict(model margin_model, features "any") RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
  SUPPORT _margin_planner_support;
COMMENT ON FUNCTION margin_predict(margin_model, "any") IS 'predicted label of a row, as text';

-- STABLE: the input functions of some types depend on settings of the session.
CREATE FUNCTION margin_predict(model margin_model, features "any", witness anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'margin_predict_as' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20
  SUPPORT _margin_planner_support;
COMMENT ON FUNCTION margin_predict(margin_model, "any", anyelement)
  IS 'predicted label of a row, in the type of the third argument (its value is not used: give NULL::type)';

CREATE FUNCTION margin_probability(model margin_model, features "any") RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
  SUPPORT _margin_planner_support;
COMMENT ON FUNCTION margin_probability(margin_model, "any")
  IS 'probability of the second class, for a logistic or calibrated model of two classes';

CREATE FUNCTION margin_probabilities(model margin_model, features "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 40
  SUPPORT _margin_planner_support;
COMMENT ON FUNCTION margin_probabilities(margin_model, "any")
  IS 'probability of each class, in the order of the model''s classes, for a logistic or calibrated model';

-- --------------------------------------------------------------------------------------------------------- updates

CREATE FUNCTION _margin_with_curvature_step(internal, margin_model, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_with_curvature_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_with_curvature_step(internal, margin_model, "any", "any") IS 'part of the aggregate margin_with_curvature';

CREATE FUNCTION _margin_with_curvature_step(internal, margin_model, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_with_curvature_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_with_curvature_step(internal, margin_model, "any", "any", jsonb) IS 'part of the aggregate margin_with_curvature';

CREATE FUNCTION _margin_with_curvature_step(internal, margin_model, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_with_curvature_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_with_curvature_step(internal, margin_model, "any", "any", float8, jsonb) IS 'part of the aggregate margin_with_curvature';

CREATE FUNCTION _margin_with_curvature_final(internal) RETURNS margin_model
  AS 'MODULE_PATHNAME', 'margin_with_curvature_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _margin_with_curvature_final(internal) IS 'part of the aggregate margin_with_curvature';

CREATE AGGREGATE margin_with_curvature(model margin_model, label "any", features "any") (
  SFUNC = _margin_with_curvature_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_with_curvature_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_with_curvature(margin_model, "any", "any") IS 'the model with the curvature that these rows, those of its training, give its objective: score intervals and margin_update prove more with it';

CREATE AGGREGATE margin_with_curvature(model margin_model, label "any", features "any", options jsonb) (
  SFUNC = _margin_with_curvature_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_with_curvature_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_with_curvature(margin_model, "any", "any", jsonb) IS 'the same with the option share, of the rows that may come or go';

CREATE AGGREGATE margin_with_curvature(model margin_model, label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_with_curvature_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_with_curvature_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_with_curvature(margin_model, "any", "any", float8, jsonb) IS 'the same of weighted rows';

CREATE FUNCTION _margin_update_step(internal, margin_model, "any", "any", boolean) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_update_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 40;
COMMENT ON FUNCTION _margin_update_step(internal, margin_model, "any", "any", boolean) IS 'part of the aggregate margin_update';

CREATE FUNCTION _margin_update_step(internal, margin_model, "any", "any", boolean, float8) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_update_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 40;
COMMENT ON FUNCTION _margin_update_step(internal, margin_model, "any", "any", boolean, float8) IS 'part of the aggregate margin_update';

CREATE FUNCTION _margin_update_final(internal) RETURNS margin_model
  AS 'MODULE_PATHNAME', 'margin_update_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _margin_update_final(internal) IS 'part of the aggregate margin_update';

CREATE AGGREGATE margin_update(model margin_model, label "any", features "any", removed boolean) (
  SFUNC = _margin_update_step, STYPE = internal, SSPACE = 65536,
  FINALFUNC = _margin_update_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_update(margin_model, "any", "any", boolean)
  IS 'the model with the certificate of its rows less those removed and with the others: an aggregate over the changes alone';

CREATE AGGREGATE margin_update(model margin_model, label "any", features "any", removed boolean, weight float8) (
  SFUNC = _margin_update_step, STYPE = internal, SSPACE = 65536,
  FINALFUNC = _margin_update_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_update(margin_model, "any", "any", boolean, float8) IS 'the same of rows with weights';

-- ------------------------------------------------------------------------------------------------------- evaluation

CREATE FUNCTION _margin_evaluate_step(internal, margin_model, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_evaluate_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_evaluate_step(internal, margin_model, "any", "any") IS 'part of the aggregate margin_evaluate';

CREATE FUNCTION _margin_evaluate_final(internal) RETURNS margin_evaluation
  AS 'MODULE_PATHNAME', 'margin_evaluate_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _margin_evaluate_final(internal) IS 'part of the aggregate margin_evaluate';

CREATE AGGREGATE margin_evaluate(model margin_model, label "any", features "any") (
  SFUNC = _margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_evaluate_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_evaluate(margin_model, "any", "any") IS 'accuracy, confusion matrix, margins and more of a model on labelled rows';

-- The same of rows with weights.
CREATE FUNCTION _margin_evaluate_step(internal, margin_model, "any", "any", float8) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_evaluate_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_evaluate_step(internal, margin_model, "any", "any", float8) IS 'part of the aggregate margin_evaluate';

CREATE AGGREGATE margin_evaluate(model margin_model, label "any", features "any", weight float8) (
  SFUNC = _margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_evaluate_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize,
  DESERIALFUNC = _margin_pass_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_evaluate(margin_model, "any", "any", float8) IS 'the same of rows with weights';

-- The same of a sum of terms: of margin_sum(margin_term(model, label, features)).
CREATE FUNCTION margin_evaluate(model margin_model, state margin_state) RETURNS margin_evaluation
  AS 'MODULE_PATHNAME', 'margin_evaluate_of_state' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_evaluate(margin_model, margin_state) IS 'margin_evaluate of the rows whose terms were summed up';

-- Charts of the same state: with the same arguments in one query, PostgreSQL makes one pass for all of these aggregates.

CREATE FUNCTION _margin_roc_final(internal) RETURNS text
  AS 'MODULE_PATHNAME', 'margin_roc_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _margin_roc_final(internal) IS 'part of the aggregate margin_roc';

CREATE AGGREGATE margin_roc(model margin_model, label "any", features "any") (
  SFUNC = _margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_roc_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_roc(margin_model, "any", "any") IS 'ROC curve of a model of two classes on labelled rows, as SVG';

CREATE AGGREGATE margin_roc(model margin_model, label "any", features "any", weight float8) (
  SFUNC = _margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_roc_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_roc(margin_model, "any", "any", float8) IS 'the same of rows with weights';

CREATE FUNCTION margin_roc(model margin_model, state margin_state) RETURNS text
  AS 'MODULE_PATHNAME', 'margin_roc_of_state' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_roc(margin_model, margin_state) IS 'margin_roc of the rows whose terms were summed up';

CREATE FUNCTION _margin_reliability_final(internal) RETURNS text
  AS 'MODULE_PATHNAME', 'margin_reliability_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _margin_reliability_final(internal) IS 'part of the aggregate margin_reliability';

CREATE AGGREGATE margin_reliability(model margin_model, label "any", features "any") (
  SFUNC = _margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_reliability_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_reliability(margin_model, "any", "any") IS 'predicted probabilities against observed shares, as SVG';

CREATE AGGREGATE margin_reliability(model margin_model, label "any", features "any", weight float8) (
  SFUNC = _margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_reliability_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_reliability(margin_model, "any", "any", float8) IS 'the same of rows with weights';

CREATE FUNCTION margin_reliability(model margin_model, state margin_state) RETURNS text
  AS 'MODULE_PATHNAME', 'margin_reliability_of_state' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_reliability(margin_model, margin_state) IS 'margin_reliability of the rows whose terms were summed up';

CREATE FUNCTION _margin_histogram_final(internal) RETURNS text
  AS 'MODULE_PATHNAME', 'margin_histogram_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _margin_histogram_final(internal) IS 'part of the aggregate margin_histogram';

CREATE AGGREGATE margin_histogram(model margin_model, label "any", features "any") (
  SFUNC = _margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_histogram_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_histogram(margin_model, "any", "any") IS 'the margins of labelled rows, as SVG';

CREATE AGGREGATE margin_histogram(model margin_model, label "any", features "any", weight float8) (
  SFUNC = _margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_histogram_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_histogram(margin_model, "any", "any", float8) IS 'the same of rows with weights';

CREATE FUNCTION margin_histogram(model margin_model, state margin_state) RETURNS text
  AS 'MODULE_PATHNAME', 'margin_histogram_of_state' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_histogram(margin_model, margin_state) IS 'margin_histogram of the rows whose terms were summed up';

-- ------------------------------------------------------------------------------------------------------ a threshold

CREATE FUNCTION _margin_threshold_step(internal, margin_model, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_threshold_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_threshold_step(internal, margin_model, "any", "any", jsonb) IS 'part of the aggregate margin_threshold';

CREATE FUNCTION _margin_threshold_step(internal, margin_model, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_threshold_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_threshold_step(internal, margin_model, "any", "any", float8, jsonb) IS 'part of the aggregate margin_threshold';

CREATE FUNCTION _margin_threshold_final(internal) RETURNS margin_operating_point
  AS 'MODULE_PATHNAME', 'margin_threshold_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _margin_threshold_final(internal) IS 'part of the aggregate margin_threshold';

CREATE AGGREGATE margin_threshold(model margin_model, label "any", features "any", options jsonb) (
  SFUNC = _margin_threshold_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_threshold_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_threshold(margin_model, "any", "any", jsonb) IS 'the threshold of the scores of two classes that serves a goal best';

CREATE AGGREGATE margin_threshold(model margin_model, label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_threshold_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_threshold_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_threshold(margin_model, "any", "any", float8, jsonb) IS 'the same of rows with weights';

CREATE FUNCTION margin_threshold(model margin_model, state margin_state, options jsonb) RETURNS margin_operating_point
  AS 'MODULE_PATHNAME', 'margin_threshold_of_state' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_threshold(margin_model, margin_state, jsonb) IS 'margin_threshold of the rows whose terms were summed up';

-- ----------------------------------------------------------------------------------------------------- verification

CREATE FUNCTION _margin_verify_step(internal, margin_model, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_verify_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_verify_step(internal, margin_model, "any", "any") IS 'part of the aggregate margin_verify';

CREATE FUNCTION _margin_verify_final(internal) RETURNS margin_verification
  AS 'MODULE_PATHNAME', 'margin_verify_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _margin_verify_final(internal) IS 'part of the aggregate margin_verify';

CREATE AGGREGATE margin_verify(model margin_model, label "any", features "any") (
  SFUNC = _margin_verify_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_verify_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_verify(margin_model, "any", "any") IS 'recomputes the certificate of a model over any rows, without its solver; the upper bound needs dual weights and the order of the training rows';

CREATE FUNCTION _margin_verify_step(internal, margin_model, "any", "any", float8) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_verify_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_verify_step(internal, margin_model, "any", "any", float8) IS 'part of the aggregate margin_verify';

CREATE AGGREGATE margin_verify(model margin_model, label "any", features "any", weight float8) (
  SFUNC = _margin_verify_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_verify_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_verify(margin_model, "any", "any", float8) IS 'the same of rows with the weights of the training';

CREATE FUNCTION _margin_verify_step(internal, margin_model, "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_verify_one_class_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_verify_step(internal, margin_model, "any") IS 'part of the aggregate margin_verify';

CREATE AGGREGATE margin_verify(model margin_model, features "any") (
  SFUNC = _margin_verify_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = _margin_verify_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_verify(margin_model, "any") IS 'the same of a one-class model, whose rows have no label';

CREATE FUNCTION margin_verify(model margin_model, state margin_state) RETURNS margin_verification
  AS 'MODULE_PATHNAME', 'margin_verify_of_state' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_verify(margin_model, margin_state)
  IS 'margin_verify of the rows whose terms were summed up; without the bound of dual weights, which belong to an order of rows';

-- ------------------------------------------------------------------------------------------------------------ audit

CREATE TYPE margin_audit_result AS (
  rows              bigint,
  skipped           bigint,
  errors            bigint,
  lambda            float8,
  primal            float8,
  dual              float8,
  gap               float8,
  relative_gap      float8,
  best_lambda       float8,
  best_gap          float8,
  best_relative_gap float8
);
COMMENT ON TYPE margin_audit_result IS 'how far from the optimum a model is, proven by rows';
COMMENT ON COLUMN margin_audit_result.rows IS 'rows seen';
COMMENT ON COLUMN margin_audit_result.skipped IS 'rows left out because label or features was NULL';
COMMENT ON COLUMN margin_audit_result.errors IS 'rows of another class than the model predicts; NULL for a regression';
COMMENT ON COLUMN margin_audit_result.lambda IS 'what the model is audited for: its own lambda, or the option';
COMMENT ON COLUMN margin_audit_result.primal IS 'the objective at the model, an upper bound of the optimum';
COMMENT ON COLUMN margin_audit_result.dual IS 'a lower bound of the optimum';
COMMENT ON COLUMN margin_audit_result.gap IS 'primal - dual: the model is no further from the optimum';
COMMENT ON COLUMN margin_audit_result.relative_gap IS 'gap / primal';
COMMENT ON COLUMN margin_audit_result.best_lambda IS 'the lambda at which the gap of this model is smallest; NULL for weights of 0';
COMMENT ON COLUMN margin_audit_result.best_gap IS 'the gap there';
COMMENT ON COLUMN margin_audit_result.best_relative_gap IS 'the same as a share of the objective there';

CREATE FUNCTION _margin_audit_step(internal, margin_model, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_audit_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_audit_step(internal, margin_model, "any", "any") IS 'part of the aggregate margin_audit';

CREATE FUNCTION _margin_audit_step(internal, margin_model, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_audit_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_audit_step(internal, margin_model, "any", "any", jsonb) IS 'part of the aggregate margin_audit';

CREATE FUNCTION _margin_audit_step(internal, margin_model, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_audit_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_audit_step(internal, margin_model, "any", "any", float8, jsonb) IS 'part of the aggregate margin_audit';

CREATE FUNCTION _margin_audit_final(internal) RETURNS margin_audit_result
  AS 'MODULE_PATHNAME', 'margin_audit_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _margin_audit_final(internal) IS 'part of the aggregate margin_audit';

-- The negative SSPACE says that a state may be large (here features x features numbers): PostgreSQL 19 then makes no such state
-- for each row of a join's inside, to be combined above it. Before 19 it means nothing.
CREATE AGGREGATE margin_audit(model margin_model, label "any", features "any") (
  SFUNC = _margin_audit_step, STYPE = internal, SSPACE = -1,
  FINALFUNC = _margin_audit_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_audit(margin_model, "any", "any") IS 'how far a soft margin is from its optimum, whoever made it, from one pass over rows';

CREATE AGGREGATE margin_audit(model margin_model, label "any", features "any", options jsonb) (
  SFUNC = _margin_audit_step, STYPE = internal, SSPACE = -1,
  FINALFUNC = _margin_audit_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_audit(margin_model, "any", "any", jsonb) IS 'the same with the option lambda';

CREATE AGGREGATE margin_audit(model margin_model, label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_audit_step, STYPE = internal, SSPACE = -1,
  FINALFUNC = _margin_audit_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_audit(margin_model, "any", "any", float8, jsonb) IS 'the same of weighted rows';

-- ---------------------------------------------------------------------------------------------------- leave-one-out

CREATE TYPE margin_left_out AS (
  rows            bigint,
  skipped         bigint,
  training_errors bigint,
  errors_lower    bigint,
  errors_upper    bigint,
  undecided       bigint,
  refitted        bigint,
  error_lower     float8,
  error_upper     float8
);
COMMENT ON TYPE margin_left_out IS 'the leave-one-out error, between bounds that are proven';
COMMENT ON COLUMN margin_left_out.rows IS 'rows of a weight above 0';
COMMENT ON COLUMN margin_left_out.skipped IS 'rows left out because label or features was NULL';
COMMENT ON COLUMN margin_left_out.training_errors IS 'rows that a training with all rows predicts wrongly';
COMMENT ON COLUMN margin_left_out.errors_lower IS 'rows that are predicted wrongly by a training without them, at least';
COMMENT ON COLUMN margin_left_out.errors_upper IS 'the same, at most';
COMMENT ON COLUMN margin_left_out.undecided IS 'errors_upper - errors_lower: rows of which neither is proven';
COMMENT ON COLUMN margin_left_out.refitted IS 'rows that a training was run without';
COMMENT ON COLUMN margin_left_out.error_lower IS 'errors_lower / rows';
COMMENT ON COLUMN margin_left_out.error_upper IS 'errors_upper / rows';

CREATE FUNCTION _margin_leave_one_out_step(internal, margin_model, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_leave_one_out_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_leave_one_out_step(internal, margin_model, "any", "any") IS 'part of the aggregate margin_leave_one_out';

CREATE FUNCTION _margin_leave_one_out_step(internal, margin_model, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_leave_one_out_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_leave_one_out_step(internal, margin_model, "any", "any", jsonb) IS 'part of the aggregate margin_leave_one_out';

CREATE FUNCTION _margin_leave_one_out_step(internal, margin_model, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_leave_one_out_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_leave_one_out_step(internal, margin_model, "any", "any", float8, jsonb) IS 'part of the aggregate margin_leave_one_out';

CREATE FUNCTION _margin_leave_one_out_final(internal) RETURNS margin_left_out
  AS 'MODULE_PATHNAME', 'margin_leave_one_out_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _margin_leave_one_out_final(internal) IS 'part of the aggregate margin_leave_one_out';

CREATE AGGREGATE margin_leave_one_out(model margin_model, label "any", features "any") (
  SFUNC = _margin_leave_one_out_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_leave_one_out_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_leave_one_out(margin_model, "any", "any") IS 'how many rows a model predicts wrongly if each is left out of its training: bounds that are proven, without a training for each';

CREATE AGGREGATE margin_leave_one_out(model margin_model, label "any", features "any", options jsonb) (
  SFUNC = _margin_leave_one_out_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_leave_one_out_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_leave_one_out(margin_model, "any", "any", jsonb) IS 'the same with the option refit: undecided rows are left out of trainings of their own';

CREATE AGGREGATE margin_leave_one_out(model margin_model, label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_leave_one_out_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_leave_one_out_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_leave_one_out(margin_model, "any", "any", float8, jsonb) IS 'the same of weighted rows';

CREATE FUNCTION margin_influence(model margin_model, label "any", features "any") RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 80;
COMMENT ON FUNCTION margin_influence(margin_model, "any", "any")
  IS 'how far the optimal weights of a soft margin move, at most, if this row of its training is left out';

-- ------------------------------------------------------------------------------------------------------- inference

CREATE TYPE margin_coefficient AS (
  feature integer,
  estimate float8,
  std_error float8,
  statistic float8,
  p_value float8,
  lower float8,
  upper float8,
  name      text
);
COMMENT ON TYPE margin_coefficient IS 'a coefficient of a model with its standard error, test and interval';
COMMENT ON COLUMN margin_coefficient.feature IS 'number of the feature, from 1; NULL: the intercept';
COMMENT ON COLUMN margin_coefficient.estimate IS 'its weight in the model, per unit of the column';
COMMENT ON COLUMN margin_coefficient.std_error IS 'standard error of that';
COMMENT ON COLUMN margin_coefficient.statistic IS 'estimate / std_error';
COMMENT ON COLUMN margin_coefficient.p_value IS 'probability of a statistic as far from 0, on either side, if the coefficient is 0';
COMMENT ON COLUMN margin_coefficient.lower IS 'lower end of the confidence interval';
COMMENT ON COLUMN margin_coefficient.upper IS 'upper end of the confidence interval';
COMMENT ON COLUMN margin_coefficient.name IS 'of rows with named columns, what the feature is called';

CREATE FUNCTION _margin_inference_step(internal, margin_model, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_inference_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_inference_step(internal, margin_model, "any", "any") IS 'part of the aggregate margin_inference';

CREATE FUNCTION _margin_inference_step(internal, margin_model, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_inference_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_inference_step(internal, margin_model, "any", "any", jsonb) IS 'part of the aggregate margin_inference';

CREATE FUNCTION _margin_inference_step(internal, margin_model, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_inference_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_inference_step(internal, margin_model, "any", "any", float8, jsonb) IS 'part of the aggregate margin_inference';

CREATE FUNCTION _margin_inference_step(internal, margin_model, "any", "any", float8, "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_inference_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION _margin_inference_step(internal, margin_model, "any", "any", float8, "any", jsonb) IS 'part of the aggregate margin_inference';

CREATE FUNCTION _margin_inference_final(internal) RETURNS margin_coefficient[]
  AS 'MODULE_PATHNAME', 'margin_inference_final' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _margin_inference_final(internal) IS 'part of the aggregate margin_inference';

-- SSPACE: as of margin_audit.
CREATE AGGREGATE margin_inference(model margin_model, label "any", features "any") (
  SFUNC = _margin_inference_step, STYPE = internal, SSPACE = -1,
  FINALFUNC = _margin_inference_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_inference(margin_model, "any", "any") IS 'standard errors, tests and confidence intervals of the coefficients of a model of lambda 0, from the rows that it was trained on';

CREATE AGGREGATE margin_inference(model margin_model, label "any", features "any", options jsonb) (
  SFUNC = _margin_inference_step, STYPE = internal, SSPACE = -1,
  FINALFUNC = _margin_inference_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_inference(margin_model, "any", "any", jsonb) IS 'the same with options: covariance and level';

CREATE AGGREGATE margin_inference(model margin_model, label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_inference_step, STYPE = internal, SSPACE = -1,
  FINALFUNC = _margin_inference_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_inference(margin_model, "any", "any", float8, jsonb) IS 'the same of weighted rows';

CREATE AGGREGATE margin_inference(model margin_model, label "any", features "any", weight float8, cluster "any", options jsonb) (
  SFUNC = _margin_inference_step, STYPE = internal, SSPACE = -1,
  FINALFUNC = _margin_inference_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = _margin_pass_combine, SERIALFUNC = _margin_pass_serialize, DESERIALFUNC = _margin_pass_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_inference(margin_model, "any", "any", float8, "any", jsonb) IS 'the same of rows in clusters, which depend on each other';

-- The same of sums of terms: of margin_sum(margin_term(margin_question(NULL, model), label, features)).
CREATE FUNCTION margin_inference(model margin_model, states margin_state[], options jsonb DEFAULT '{}') RETURNS margin_coefficient[]
  AS 'MODULE_PATHNAME', 'margin_inference_of_states' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_inference(margin_model, margin_state[], jsonb)
  IS 'margin_inference of the rows whose terms, of the question of the model, were summed up; for covariance cluster each state is a cluster';

-- -------------------------------------------------------------------------------------------------- model selection

CREATE FUNCTION _margin_path_step(internal, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_path_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_path_step(internal, "any", "any") IS 'part of the aggregate margin_path';

CREATE FUNCTION _margin_path_step(internal, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_path_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_path_step(internal, "any", "any", jsonb) IS 'part of the aggregate margin_path';

CREATE FUNCTION _margin_path_step(internal, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_path_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_path_step(internal, "any", "any", float8, jsonb) IS 'part of the aggregate margin_path';

CREATE FUNCTION _margin_path_final(internal) RETURNS margin_model[]
  AS 'MODULE_PATHNAME', 'margin_path_final' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION _margin_path_final(internal) IS 'part of the aggregate margin_path';

CREATE AGGREGATE margin_path(label "any", features "any") (
  SFUNC = _margin_path_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_path_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_path("any", "any") IS 'models along a default list of lambdas';

CREATE AGGREGATE margin_path(label "any", features "any", options jsonb) (
  SFUNC = _margin_path_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_path_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_path("any", "any", jsonb) IS 'models along a list of lambdas, each started from the one before';

CREATE AGGREGATE margin_path(label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_path_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_path_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_path("any", "any", float8, jsonb) IS 'the same with row weights';

CREATE FUNCTION _margin_cross_validate_step(internal, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_cross_validate_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_cross_validate_step(internal, "any", "any") IS 'part of the aggregate margin_cross_validate';

CREATE FUNCTION _margin_cross_validate_step(internal, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_cross_validate_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_cross_validate_step(internal, "any", "any", jsonb) IS 'part of the aggregate margin_cross_validate';

CREATE FUNCTION _margin_cross_validate_step(internal, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_cross_validate_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_cross_validate_step(internal, "any", "any", float8, jsonb) IS 'part of the aggregate margin_cross_validate';

CREATE FUNCTION _margin_cross_validate_step(internal, "any", "any", float8, integer, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_cross_validate_step' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _margin_cross_validate_step(internal, "any", "any", float8, integer, jsonb) IS 'part of the aggregate margin_cross_validate';

CREATE FUNCTION _margin_cross_validate_final(internal) RETURNS margin_selection
  AS 'MODULE_PATHNAME', 'margin_cross_validate_final' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION _margin_cross_validate_final(internal) IS 'part of the aggregate margin_cross_validate';

CREATE AGGREGATE margin_cross_validate(label "any", features "any") (
  SFUNC = _margin_cross_validate_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_cross_validate_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_cross_validate("any", "any") IS 'compares lambdas on held-out rows, in one scan';

CREATE AGGREGATE margin_cross_validate(label "any", features "any", options jsonb) (
  SFUNC = _margin_cross_validate_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_cross_validate_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_cross_validate("any", "any", jsonb) IS 'compares lambdas, losses and a grid of options on held-out rows, in one scan';

CREATE AGGREGATE margin_cross_validate(label "any", features "any", weight float8, options jsonb) (
  SFUNC = _margin_cross_validate_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_cross_validate_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_cross_validate("any", "any", float8, jsonb) IS 'the same with row weights';

CREATE AGGREGATE margin_cross_validate(label "any", features "any", weight float8, fold integer, options jsonb) (
  SFUNC = _margin_cross_validate_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _margin_cross_validate_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_cross_validate("any", "any", float8, integer, jsonb) IS 'the same with row weights, and rows of one fold held out together';

-- ------------------------------------------------------------------------------------------------------- inspecting

CREATE FUNCTION margin_rules(model margin_model, OUT class text, OUT name text, OUT value float8, OUT relation text, OUT bound float8,
  OUT active boolean, OUT price float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100;
COMMENT ON FUNCTION margin_rules(margin_model) IS 'the bounds of a model''s weights and its constraints, which of them hold it, and what the objective changes by per unit of each';

CREATE FUNCTION margin_weights(model margin_model, OUT feature integer, OUT class text, OUT weight float8, OUT name text,
  OUT standardized float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100;
COMMENT ON FUNCTION margin_weights(margin_model) IS 'the weights of a model, the largest first';

-- STABLE: the labels of an enum can be renamed.
CREATE FUNCTION margin_explain(model margin_model, features "any", OUT feature text, OUT class text, OUT value float8,
  OUT contribution float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100 ROWS 20;
COMMENT ON FUNCTION margin_explain(margin_model, "any") IS 'what each column of a row, and the base, adds to its score, the largest first';

CREATE FUNCTION margin_reasons(model margin_model, features "any", k integer DEFAULT 4, OUT class text, OUT side text, OUT rank integer,
  OUT "column" text, OUT value text, OUT contribution float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100 ROWS 8;
COMMENT ON FUNCTION margin_reasons(margin_model, "any", integer) IS 'the columns that speak most against the score of a row, and most for it, from the mean of the training';

CREATE FUNCTION margin_importance(model margin_model, OUT "column" text, OUT norm float8, OUT share float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 20;
COMMENT ON FUNCTION margin_importance(margin_model) IS 'the columns of a model by how much they move its scores, the largest first';

CREATE FUNCTION margin_shape(model margin_model, "column" text DEFAULT NULL, OUT class text, OUT term text, OUT level text, OUT above float8, OUT upto float8,
  OUT slope float8, OUT contribution float8, OUT lower float8, OUT upper float8, OUT share float8, OUT with_level text, OUT with_above float8, OUT with_upto float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100 ROWS 100;
COMMENT ON FUNCTION margin_shape(margin_model, text) IS 'what each value of a column adds to the score, from the mean of the training: bins, categories, slopes, cells of pairs';

CREATE FUNCTION margin_certificate(model margin_model, OUT problem text, OUT objective text, OUT status text, OUT lower float8,
  OUT upper float8, OUT gap float8, OUT relative_gap float8, OUT distance float8) RETURNS record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_certificate(margin_model)
  IS 'the certified interval of a model, what it is about, and how far the optimal weights can be';

CREATE FUNCTION margin_gap_at(model margin_model, lambda float8, OUT lower float8, OUT upper float8, OUT gap float8,
  OUT relative_gap float8) RETURNS record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_gap_at(margin_model, float8)
  IS 'the certified interval of the objective of the same rows at another lambda, which the weights of the model open';

CREATE FUNCTION margin_history(model margin_model, OUT iteration bigint, OUT seconds float8, OUT lower float8, OUT upper float8,
  OUT step float8, OUT learner bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100;
COMMENT ON FUNCTION margin_history(margin_model) IS 'the course of a training with the option history, one row per iteration';

CREATE FUNCTION margin_bound(theorem text, rows bigint, gap float8, lambda float8 DEFAULT NULL, smoothing float8 DEFAULT NULL,
  lipschitz float8 DEFAULT NULL, margin float8 DEFAULT NULL, failure float8 DEFAULT NULL, distances float8[] DEFAULT NULL)
  RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_bound(text, bigint, float8, float8, float8, float8, float8, float8, float8[])
  IS 'how many iterations a theorem of the papers promises to be enough for a gap';

CREATE FUNCTION margin_plot(model margin_model, "column" text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_plot(margin_model, text)
  IS 'as SVG: the certified interval against iterations, for models trained with the option history; of a column, or of a pair of columns, what its values add to the score';

CREATE FUNCTION margin_summary(model margin_model) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_summary(margin_model) IS 'a model in some lines for a person to read';

CREATE FUNCTION margin_compact(model margin_model) RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_compact(margin_model) IS 'the model without history and dual_weights, to store or to bake into a definition';

CREATE FUNCTION margin_to_json(model margin_model) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_to_json(margin_model) IS 'a model as jsonb, every bit of its numbers';

CREATE FUNCTION margin_from_json(model jsonb) RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_from_json(jsonb) IS 'the model that margin_to_json wrote, checked in full';

CREATE FUNCTION margin_model_from(weights float8[], intercept float8[], classes text[], loss text, lambda float8, options jsonb DEFAULT '{}') RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_model_from(float8[], float8[], text[], text, float8, jsonb) IS 'a linear model from weights of any origin: checked, not proven, ready for margin_audit';

CREATE FUNCTION margin_from_liblinear(document text, lambda float8, options jsonb DEFAULT '{}') RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_from_liblinear(text, float8, jsonb) IS 'the model in a model file of LIBLINEAR, not proven; lambda is 1/(C n)';

CREATE FUNCTION margin_from_libsvm(document text, lambda float8, options jsonb DEFAULT '{}') RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_from_libsvm(text, float8, jsonb) IS 'the model in a model file of LIBSVM, not proven; lambda is 1/(C n)';

CREATE FUNCTION margin_from_pmml(document text, loss text, lambda float8, feature_names text[] DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_from_pmml(text, text, float8, text[], jsonb) IS 'the linear model in a PMML document as margin_pmml writes it, not proven; the loss and lambda are not in it';

CREATE FUNCTION margin_pmml(model margin_model, feature_names text[] DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_pmml(margin_model, text[]) IS 'a model as a PMML 4.4 document, for programs outside of the database';

CREATE FUNCTION margin_sql(model margin_model, features text DEFAULT NULL, alias text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_sql(margin_model, text, text) IS 'the score of a model as a plain SQL expression of the same bits, for generated columns and databases without the extension';

-- ---------------------------------------------------------------------------------------------------------- catalog

CREATE FUNCTION margin_solvers(OUT name text, OUT problem text, OUT summary text, OUT options text, OUT reports text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 ROWS 10;
COMMENT ON FUNCTION margin_solvers() IS 'the solvers that the option solver can name, the options that not all of them read, and the names that their models report';

CREATE FUNCTION margin_capabilities(OUT name text, OUT takes text, OUT refuses text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 ROWS 40;
COMMENT ON FUNCTION margin_capabilities() IS 'which features of trainings and models the ways to train, the products of a model and the solvers take, and which they refuse';

CREATE FUNCTION margin_losses(OUT name text, OUT outcome text, OUT probability boolean) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 ROWS 10;
COMMENT ON FUNCTION margin_losses() IS 'the losses that the option loss can name when lambda is given';

CREATE FUNCTION margin_kernels(OUT name text, OUT formula text, OUT options text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 ROWS 5;
COMMENT ON FUNCTION margin_kernels() IS 'the kernels that the option kernel can name';

CREATE FUNCTION margin_option_list(OUT name text, OUT type text, OUT meaning text, OUT default_value text, OUT used_by text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 ROWS 39;
COMMENT ON FUNCTION margin_option_list() IS 'the options of margin_options, with type, values and meaning, default, and who reads them';

CREATE FUNCTION margin_version() RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION margin_version() IS 'version of the installed library';
