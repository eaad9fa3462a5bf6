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
  r2               float8
);
COMMENT ON TYPE margin_evaluation IS 'how good a model is on labelled rows';

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
  seconds     float8
);
COMMENT ON TYPE margin_selection IS 'settings compared by cross-validation, and the best of them';

-- ------------------------------------------------------------------------------------------------- sparse vectors

CREATE TYPE margin_sparse;
COMMENT ON TYPE margin_sparse IS 'features as index and value of the non-zeros';

CREATE FUNCTION margin_sparse_in(cstring) RETURNS margin_sparse
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse_in(cstring) IS 'input of margin_sparse';

CREATE FUNCTION margin_sparse_out(margin_sparse) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse_out(margin_sparse) IS 'output of margin_sparse';

CREATE FUNCTION margin_sparse_recv(internal) RETURNS margin_sparse
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse_recv(internal) IS 'part of the type margin_sparse: binary input';

CREATE FUNCTION margin_sparse_send(margin_sparse) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_sparse_send(margin_sparse) IS 'binary output of margin_sparse';

CREATE TYPE margin_sparse (
  INPUT = margin_sparse_in, OUTPUT = margin_sparse_out, RECEIVE = margin_sparse_recv, SEND = margin_sparse_send,
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
  sparse_support_vectors margin_sparse[]
);
COMMENT ON TYPE margin_model IS 'a trained model with its certificate';

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

CREATE FUNCTION margin_sparse_eq(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_eq(margin_sparse, margin_sparse) IS 'equal: dimensions, indices and values';

CREATE FUNCTION margin_sparse_ne(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_ne(margin_sparse, margin_sparse) IS 'not equal';

CREATE FUNCTION margin_sparse_lt(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_lt(margin_sparse, margin_sparse) IS 'before in the order of the type';

CREATE FUNCTION margin_sparse_le(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_le(margin_sparse, margin_sparse) IS 'before or equal in the order of the type';

CREATE FUNCTION margin_sparse_gt(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_gt(margin_sparse, margin_sparse) IS 'after in the order of the type';

CREATE FUNCTION margin_sparse_ge(margin_sparse, margin_sparse) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_ge(margin_sparse, margin_sparse) IS 'after or equal in the order of the type';

CREATE FUNCTION margin_sparse_cmp(margin_sparse, margin_sparse) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_cmp(margin_sparse, margin_sparse) IS 'order of two vectors: by dimensions, then by their non-zeros from the first on';

CREATE FUNCTION margin_sparse_hash(margin_sparse) RETURNS integer
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_hash(margin_sparse) IS 'hash of a sparse vector';

CREATE FUNCTION margin_sparse_hash_extended(margin_sparse, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION margin_sparse_hash_extended(margin_sparse, bigint) IS 'hash of a sparse vector with a seed';

CREATE OPERATOR = (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = margin_sparse_eq, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (margin_sparse, margin_sparse) IS 'equal: dimensions, indices and values';
CREATE OPERATOR <> (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = margin_sparse_ne, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (margin_sparse, margin_sparse) IS 'not equal';
CREATE OPERATOR < (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = margin_sparse_lt, COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (margin_sparse, margin_sparse) IS 'before in the order of the type';
CREATE OPERATOR <= (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = margin_sparse_le, COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (margin_sparse, margin_sparse) IS 'before or equal in the order of the type';
CREATE OPERATOR > (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = margin_sparse_gt, COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (margin_sparse, margin_sparse) IS 'after in the order of the type';
CREATE OPERATOR >= (
  LEFTARG = margin_sparse, RIGHTARG = margin_sparse, FUNCTION = margin_sparse_ge, COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (margin_sparse, margin_sparse) IS 'after or equal in the order of the type';

CREATE OPERATOR CLASS margin_sparse_ops DEFAULT FOR TYPE margin_sparse USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 margin_sparse_cmp(margin_sparse, margin_sparse);
COMMENT ON OPERATOR CLASS margin_sparse_ops USING btree IS 'for GROUP BY, DISTINCT and ORDER BY';
COMMENT ON OPERATOR FAMILY margin_sparse_ops USING btree IS 'for GROUP BY, DISTINCT and ORDER BY';

CREATE OPERATOR CLASS margin_sparse_ops DEFAULT FOR TYPE margin_sparse USING hash AS
  OPERATOR 1 =,
  FUNCTION 1 margin_sparse_hash(margin_sparse), FUNCTION 2 margin_sparse_hash_extended(margin_sparse, bigint);
COMMENT ON OPERATOR CLASS margin_sparse_ops USING hash IS 'for GROUP BY, DISTINCT and hash joins';
COMMENT ON OPERATOR FAMILY margin_sparse_ops USING hash IS 'for GROUP BY, DISTINCT and hash joins';

-- ------------------------------------------------------------------------------------------------ features of columns

CREATE FUNCTION margin_features(VARIADIC columns "any") RETURNS margin_sparse
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_features(VARIADIC "any")
  IS 'columns as features: numbers and booleans one each, then text and enums hashed into 262144 of 0 and 1';

CREATE FUNCTION margin_hashed_features(width integer, VARIADIC columns "any") RETURNS margin_sparse
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_hashed_features(integer, VARIADIC "any")
  IS 'margin_features with text and enums hashed into width features';

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
  max_iterations  bigint       DEFAULT NULL,
  max_seconds     float8       DEFAULT NULL,
  intercept       boolean      DEFAULT NULL,
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
  start           text         DEFAULT NULL,
  l1_ratio        float8       DEFAULT NULL,
  epsilon         float8       DEFAULT NULL,
  smoothing       float8       DEFAULT NULL,
  calibration     text         DEFAULT NULL,
  unseen          text         DEFAULT NULL,
  one_class       text         DEFAULT NULL,
  shrinkage       float8       DEFAULT NULL,
  step            text         DEFAULT NULL,
  learners        text         DEFAULT NULL,
  accelerated     boolean      DEFAULT NULL,
  working_set     boolean      DEFAULT NULL,
  kernel          text         DEFAULT NULL,
  gamma           "any"        DEFAULT NULL,
  degree          integer      DEFAULT NULL,
  coef0           float8       DEFAULT NULL,
  width           integer      DEFAULT NULL
) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_options("any", float8, text, text, float8, bigint, float8, boolean, float8, boolean, "any",
  bigint, boolean, boolean, margin_model, text, text, text, text, float8, float8, float8, text, text, text, float8, text, text,
  boolean, boolean, text, "any", integer, float8, integer)
  IS 'options of train_margin, checked: only the given ones, as jsonb';

-- ------------------------------------------------------------------------------------------------------- training

CREATE FUNCTION margin_train_step(internal, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_train_step(internal, "any", "any") IS 'part of the aggregate train_margin';

CREATE FUNCTION margin_train_step(internal, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_train_step_options' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_train_step(internal, "any", "any", jsonb) IS 'part of the aggregate train_margin';

CREATE FUNCTION margin_train_step(internal, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_train_step_weight_options' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_train_step(internal, "any", "any", float8, jsonb) IS 'part of the aggregate train_margin';

-- STABLE, not IMMUTABLE: the model carries the time that its training took.
CREATE FUNCTION margin_train_final(internal) RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION margin_train_final(internal) IS 'part of the aggregate train_margin';

-- The state holds all rows of a group. The large SSPACE makes GROUP BY sort, so that one group's rows are in memory
-- at a time; there is no combine function, because moving such states costs more than moving the rows.
CREATE AGGREGATE train_margin(label "any", features "any") (
  SFUNC = margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = margin_train_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_margin("any", "any") IS 'trains a maximum-margin model from rows of a label and features';

CREATE AGGREGATE train_margin(label "any", features "any", options jsonb) (
  SFUNC = margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = margin_train_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_margin("any", "any", jsonb) IS 'trains a model with the options of margin_options';

CREATE AGGREGATE train_margin(label "any", features "any", weight float8, options jsonb) (
  SFUNC = margin_train_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = margin_train_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE train_margin("any", "any", float8, jsonb) IS 'trains a model on weighted rows';

-- ---------------------------------------------------------------------------------------------------- using a model

CREATE FUNCTION margin_score(model margin_model, features "any") RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_score(margin_model, "any")
  IS 'score of a row: positive for the second class; the predicted number of a regression model';

CREATE FUNCTION margin_scores(model margin_model, features "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 40;
COMMENT ON FUNCTION margin_scores(margin_model, "any")
  IS 'scores of a row: one per class, or a single one for two classes and for regression';

CREATE FUNCTION margin_predict(model margin_model, features "any") RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_predict(margin_model, "any") IS 'predicted label of a row, as text';

-- STABLE: the input functions of some types depend on settings of the session.
CREATE FUNCTION margin_predict(model margin_model, features "any", witness anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'margin_predict_as' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_predict(margin_model, "any", anyelement)
  IS 'predicted label of a row, in the type of the third argument (its value is not used: give NULL::type)';

CREATE FUNCTION margin_probability(model margin_model, features "any") RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_probability(margin_model, "any")
  IS 'probability of the second class, for a logistic or calibrated model of two classes';

CREATE FUNCTION margin_probabilities(model margin_model, features "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 40;
COMMENT ON FUNCTION margin_probabilities(margin_model, "any")
  IS 'probability of each class, in the order of the model''s classes, for a logistic or calibrated model';

-- ------------------------------------------------------------------------------------------------------- evaluation

CREATE FUNCTION margin_evaluate_step(internal, margin_model, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_evaluate_step(internal, margin_model, "any", "any") IS 'part of the aggregate margin_evaluate';

CREATE FUNCTION margin_evaluate_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_evaluate_combine(internal, internal) IS 'part of the aggregate margin_evaluate';

CREATE FUNCTION margin_evaluate_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_evaluate_serialize(internal) IS 'part of the aggregate margin_evaluate';

CREATE FUNCTION margin_evaluate_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_evaluate_deserialize(bytea, internal) IS 'part of the aggregate margin_evaluate';

CREATE FUNCTION margin_evaluate_final(internal) RETURNS margin_evaluation
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_evaluate_final(internal) IS 'part of the aggregate margin_evaluate';

CREATE AGGREGATE margin_evaluate(model margin_model, label "any", features "any") (
  SFUNC = margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = margin_evaluate_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = margin_evaluate_combine, SERIALFUNC = margin_evaluate_serialize, DESERIALFUNC = margin_evaluate_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_evaluate(margin_model, "any", "any") IS 'accuracy, confusion matrix, margins and more of a model on labelled rows';

-- Charts of the same state: with the same arguments in one query, PostgreSQL makes one pass for all of these aggregates.

CREATE FUNCTION margin_roc_final(internal) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_roc_final(internal) IS 'part of the aggregate margin_roc';

CREATE AGGREGATE margin_roc(model margin_model, label "any", features "any") (
  SFUNC = margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = margin_roc_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = margin_evaluate_combine, SERIALFUNC = margin_evaluate_serialize, DESERIALFUNC = margin_evaluate_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_roc(margin_model, "any", "any") IS 'ROC curve of a model of two classes on labelled rows, as SVG';

CREATE FUNCTION margin_reliability_final(internal) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_reliability_final(internal) IS 'part of the aggregate margin_reliability';

CREATE AGGREGATE margin_reliability(model margin_model, label "any", features "any") (
  SFUNC = margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = margin_reliability_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = margin_evaluate_combine, SERIALFUNC = margin_evaluate_serialize, DESERIALFUNC = margin_evaluate_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_reliability(margin_model, "any", "any") IS 'predicted probabilities against observed shares, as SVG';

CREATE FUNCTION margin_histogram_final(internal) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_histogram_final(internal) IS 'part of the aggregate margin_histogram';

CREATE AGGREGATE margin_histogram(model margin_model, label "any", features "any") (
  SFUNC = margin_evaluate_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = margin_histogram_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = margin_evaluate_combine, SERIALFUNC = margin_evaluate_serialize, DESERIALFUNC = margin_evaluate_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_histogram(margin_model, "any", "any") IS 'the margins of labelled rows, as SVG';

-- ----------------------------------------------------------------------------------------------------- verification

CREATE FUNCTION margin_verify_step(internal, margin_model, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION margin_verify_step(internal, margin_model, "any", "any") IS 'part of the aggregate margin_verify';

CREATE FUNCTION margin_verify_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_verify_combine(internal, internal) IS 'part of the aggregate margin_verify';

CREATE FUNCTION margin_verify_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_verify_serialize(internal) IS 'part of the aggregate margin_verify';

CREATE FUNCTION margin_verify_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_verify_deserialize(bytea, internal) IS 'part of the aggregate margin_verify';

CREATE FUNCTION margin_verify_final(internal) RETURNS margin_verification
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_verify_final(internal) IS 'part of the aggregate margin_verify';

CREATE AGGREGATE margin_verify(model margin_model, label "any", features "any") (
  SFUNC = margin_verify_step, STYPE = internal, SSPACE = 16384,
  FINALFUNC = margin_verify_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = margin_verify_combine, SERIALFUNC = margin_verify_serialize, DESERIALFUNC = margin_verify_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_verify(margin_model, "any", "any") IS 'recomputes the certificate of a model over any rows, without its solver; the upper end needs dual weights and the order of the training rows';

-- -------------------------------------------------------------------------------------------------- model selection

CREATE FUNCTION margin_path_step(internal, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_path_step(internal, "any", "any") IS 'part of the aggregate margin_path';

CREATE FUNCTION margin_path_step(internal, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_path_step_options' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_path_step(internal, "any", "any", jsonb) IS 'part of the aggregate margin_path';

CREATE FUNCTION margin_path_step(internal, "any", "any", float8, jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_path_step_weight_options' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_path_step(internal, "any", "any", float8, jsonb) IS 'part of the aggregate margin_path';

CREATE FUNCTION margin_path_final(internal) RETURNS margin_model[]
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION margin_path_final(internal) IS 'part of the aggregate margin_path';

CREATE AGGREGATE margin_path(label "any", features "any") (
  SFUNC = margin_path_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = margin_path_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_path("any", "any") IS 'models along a default list of lambdas';

CREATE AGGREGATE margin_path(label "any", features "any", options jsonb) (
  SFUNC = margin_path_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = margin_path_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_path("any", "any", jsonb) IS 'models along a list of lambdas, each started from the one before';

CREATE AGGREGATE margin_path(label "any", features "any", weight float8, options jsonb) (
  SFUNC = margin_path_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = margin_path_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_path("any", "any", float8, jsonb) IS 'the same with row weights';

CREATE FUNCTION margin_cross_validate_step(internal, "any", "any") RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_cross_validate_step(internal, "any", "any") IS 'part of the aggregate margin_cross_validate';

CREATE FUNCTION margin_cross_validate_step(internal, "any", "any", jsonb) RETURNS internal
  AS 'MODULE_PATHNAME', 'margin_cross_validate_step_options' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION margin_cross_validate_step(internal, "any", "any", jsonb) IS 'part of the aggregate margin_cross_validate';

CREATE FUNCTION margin_cross_validate_final(internal) RETURNS margin_selection
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION margin_cross_validate_final(internal) IS 'part of the aggregate margin_cross_validate';

CREATE AGGREGATE margin_cross_validate(label "any", features "any") (
  SFUNC = margin_cross_validate_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = margin_cross_validate_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_cross_validate("any", "any") IS 'compares lambdas on held-out rows, in one scan';

CREATE AGGREGATE margin_cross_validate(label "any", features "any", options jsonb) (
  SFUNC = margin_cross_validate_step, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = margin_cross_validate_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE margin_cross_validate("any", "any", jsonb) IS 'compares lambdas and losses on held-out rows, in one scan';

-- ------------------------------------------------------------------------------------------------------- inspecting

CREATE FUNCTION margin_weights(model margin_model, OUT feature integer, OUT class text, OUT weight float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100;
COMMENT ON FUNCTION margin_weights(margin_model) IS 'the weights of a model, the largest first';

CREATE FUNCTION margin_certificate(model margin_model, OUT problem text, OUT objective text, OUT status text, OUT lower float8,
  OUT upper float8, OUT gap float8, OUT relative_gap float8, OUT distance float8) RETURNS record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_certificate(margin_model)
  IS 'the certified interval of a model, what it is about, and how far the optimal weights can be';

CREATE FUNCTION margin_history(model margin_model, OUT iteration bigint, OUT seconds float8, OUT lower float8, OUT upper float8)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100;
COMMENT ON FUNCTION margin_history(margin_model) IS 'the course of a training with the option history, one row per iteration';

CREATE FUNCTION margin_plot(model margin_model) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION margin_plot(margin_model) IS 'the certified interval against iterations, as SVG; for models trained with the option history';

CREATE FUNCTION margin_summary(model margin_model) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_summary(margin_model) IS 'a model in some lines for a person to read';

CREATE FUNCTION margin_to_json(model margin_model) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_to_json(margin_model) IS 'a model as jsonb, every bit of its numbers';

CREATE FUNCTION margin_from_json(model jsonb) RETURNS margin_model
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_from_json(jsonb) IS 'the model that margin_to_json wrote, checked in full';

CREATE FUNCTION margin_pmml(model margin_model, feature_names text[] DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION margin_pmml(margin_model, text[]) IS 'a model as a PMML 4.4 document, for programs outside of the database';

-- ---------------------------------------------------------------------------------------------------------- catalog

CREATE FUNCTION margin_solvers(OUT name text, OUT problem text, OUT summary text) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 ROWS 10;
COMMENT ON FUNCTION margin_solvers() IS 'the solvers that the option solver can name';

CREATE FUNCTION margin_losses(OUT name text, OUT outcome text, OUT probability boolean) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1 ROWS 10;
COMMENT ON FUNCTION margin_losses() IS 'the losses that the option loss can name when lambda is given';

CREATE FUNCTION margin_version() RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION margin_version() IS 'version of the installed library';
