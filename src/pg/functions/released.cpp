// Entry points that the scripts of released versions name and later ones do not: a database whose extension has not been
// updated calls them.
#include "pg/server/postgres.hpp"

#define MARGIN_RELEASED(was, is)                     \
  extern "C" {                                       \
  Datum is(PG_FUNCTION_ARGS);                        \
  PG_FUNCTION_INFO_V1(was);                          \
  Datum was(PG_FUNCTION_ARGS) { return is(fcinfo); } \
  }

// 0.1.0
MARGIN_RELEASED(margin_train_step_options, margin_train_step)
MARGIN_RELEASED(margin_train_step_weight_options, margin_train_step)
MARGIN_RELEASED(margin_path_step_options, margin_path_step)
MARGIN_RELEASED(margin_path_step_weight_options, margin_path_step)
MARGIN_RELEASED(margin_cross_validate_step_options, margin_cross_validate_step)
MARGIN_RELEASED(margin_evaluate_combine, margin_pass_combine)
MARGIN_RELEASED(margin_evaluate_serialize, margin_pass_serialize)
MARGIN_RELEASED(margin_evaluate_deserialize, margin_pass_deserialize)
MARGIN_RELEASED(margin_verify_combine, margin_pass_combine)
MARGIN_RELEASED(margin_verify_serialize, margin_pass_serialize)
MARGIN_RELEASED(margin_verify_deserialize, margin_pass_deserialize)
