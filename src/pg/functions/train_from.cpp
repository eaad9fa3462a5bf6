// train_margin_from(query [, options]) and train_one_class_from(): training on the rows of a query by a few scans of it;
// margin_path_from() and margin_cross_validate_from(): several trainings in the same scans; margin_scan_query(): the statement of the first one.
#include "core/loss/loss.hpp"
#include "core/problem/one_class.hpp"
#include "core/profile/profile_encoder.hpp"
#include "core/scans/calibrate_scans.hpp"
#include "core/scans/cross_validate_scans.hpp"
#include "core/scans/train_together.hpp"
#include "core/train/fold_encoding.hpp"
#include "core/train/path.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/functions/sql_source.hpp"
#include "pg/functions/training_warnings.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/scan_values.hpp"
#include "pg/values/selection_datum.hpp"

namespace margin::pg {
namespace {

/// The arguments (query, options), the latter with lists where several models are trained.
struct Request {
  enum class For { training, one_class, path, selection };
  explicit Request(FunctionCallInfo fcinfo, For purpose = For::training) {
    if (PG_ARGISNULL(0))
      throw Error(ErrorKind::null_value, "the query is NULL, expected the text of a SELECT",
                  purpose == For::one_class ? "Give one SELECT of features and, optionally, weight."
                                            : "Give one SELECT of label, features and, optionally, weight.");
    if (PG_NARGS() > 1 && PG_ARGISNULL(1))
      throw Error(ErrorKind::null_value, "the options are NULL, expected a jsonb object",
                  purpose == For::one_class ? "Leave them out for the defaults."
                                            : "Leave them out for the defaults, a hard margin.");
    const std::string_view text = payload(PG_GETARG_DATUM(0));
    query = text;
    if (PG_NARGS() > 1) options = options_from(PG_GETARG_DATUM(1));
    if (purpose == For::training || purpose == For::one_class) {
      settings = parse_options(options);
      if (purpose == For::one_class) settings = one_class_options(settings);
    } else {
      lists = purpose == For::path ? parse_path(options) : parse_cross_validation(options);
      settings = lists->settings;
      if (lists->lambdas.empty())
        throw Error(ErrorKind::invalid_option,
                    std::string(purpose == For::path ? "margin_path_from" : "margin_cross_validate_from") +
                        " needs the option \"lambdas\"",
                    "Name them: '{\"lambdas\": [0.1, 0.01, 0.001]}'; a list of its own would take one more scan.");
    }
    // Read here: what trains the rows that fit into memory need not know them.
    auto& given = settings.given;
    const auto of_scans = [](std::string_view name) { return name == "shard" || name == "sample_rows"; };
    given.erase(std::remove_if(given.begin(), given.end(), of_scans), given.end());
    function = fcinfo->flinfo->fn_oid;
  }

  bool calibrates() const { return settings.calibration != Calibrate::none; }
  /// What a training selects beside features.
  Beside beside() const {
    return is_one_class(settings) ? Beside::nothing : calibrates() ? Beside::label_and_fold : Beside::label;
  }

  std::string query;
  Value::Object options;
  Options settings;
  std::optional<SelectionOptions> lists;
  Oid function;
};

/// What the statement of the encoder reads of the options.
Value::Object encoder_options(Value::Object options) {
  for (const char* name :
       {"shard", "sample_rows", "initial", "on_error", "lambdas", "losses", "grid", "metric", "split", "encoder"})
    options.erase(name);
  return options;
}

void require_options_of_rows(const ScanStatement& statement, const Options& settings) {
  const std::string_view option = option_of_rows(settings);
  if (!statement.of_rows() && !option.empty())
    throw Error(ErrorKind::unsupported,
                "option \"" + std::string(option) + "\" is about columns, and the features are an array",
                "Select a row with named columns as features: SELECT t.label, t AS features FROM t.");
  if (statement.of_rows() && settings.standardize && outcome_of(settings) == Dataset::Outcome::targets)
    throw Error(ErrorKind::unsupported,
                "train_margin_from does not scale the labels of a regression on rows with named columns",
                "Leave standardize out: the columns are standardised all the same.");
}

/// Whether the encoder is to know the deviation of the label: of counts beside an offset nothing is in units of it.
bool with_label(const Options& settings, const EncoderRules& rules) {
  if (outcome_of(settings) != Dataset::Outcome::targets || !rules.standardize) return false;
  return rules.offset.empty() || !make_loss(settings.loss, settings)->log_link();
}

/// Whether a profile tells all of it: not the deviation of the label less an offset.
bool by_profile(const ScanStatement& statement, const Options& settings, const EncoderRules& rules) {
  return statement.profiled(rules) && (rules.offset.empty() || !with_label(settings, rules));
}

/// The encoder of the rows by one scan of them; null where there are none.
std::unique_ptr<const Encoder> scanned_encoder(ScanStatement& statement, SqlSource& source, const Request& request,
                                               const Progress& progress) {
  EncoderRules rules = encoder_rules(request.settings);
  std::unique_ptr<const Encoder> encoder;
  Datum json = 0;
  if (by_profile(statement, request.settings, rules)) {
    const bool labelled = with_label(request.settings, rules);
    Profile profile = source.profile(statement.profile_call(rules, labelled), progress);
    if (profile.empty()) return nullptr;
    keep_groupings(rules);  // the profile is of what is read alone
    encoder = encoder_of(profile, rules, labelled ? statement.label_name() : "", labelled, progress);
    json = jsonb_from(encoder->to_value());
  } else {
    const std::optional<Datum> found = source.encoder(jsonb_from(encoder_options(request.options)));
    if (!found.has_value()) return nullptr;
    json = *found;
    encoder = Encoder::from_value(value_from(json));
  }
  statement.encode_with(json);
  return encoder;
}

/// The statement that it runs.
std::string encoder_text(ScanStatement& statement, const Request& request) {
  const EncoderRules rules = encoder_rules(request.settings);
  return by_profile(statement, request.settings, rules)
             ? statement.profile_text(rules, with_label(request.settings, rules))
             : statement.encoder_text(jsonb_from(encoder_options(request.options)));
}

/// Of rows with named columns, which are encoded once for all points of the grid.
void settle_columns(GridPoint& point, const Encoder* encoder) {
  if (encoder == nullptr) return;
  if (point.values.count("standardize") > 0)
    throw Error(ErrorKind::unsupported,
                "option \"grid\" takes \"standardize\" for arrays only: rows with named columns are encoded once",
                "Compare two calls, with standardize => true and false.");
  point.settings.standardize = false;
  name_features(point.settings, *encoder);
}

/// Trains on what the query returns; false: there is no model, which is no error by the options, or the query has no rows.
template <class Train>
bool trained(Request& request, std::shared_ptr<const Encoder>& encoder, Train&& train, Beside beside) {
  Options& settings = request.settings;
  ScanStatement statement(request.query, settings.shard, request.function, beside);
  const bool about_margin = (features_of(settings) & feature::hard_margin) != 0;
  SessionProgress::Clock::time_point last_line{};
  SessionProgress progress(settings.log_level, about_margin, last_line);
  SqlSource source(statement, progress, settings.null_for_error);
  require_options_of_rows(statement, settings);
  if (beside == Beside::label_and_fold) source.find_folds();
  bool without_rows = source.without_rows();
  if (without_rows) return false;
  const auto error = row_error([&] {
    if (statement.of_rows()) {
      encoder = scanned_encoder(statement, source, request, progress);
      without_rows = encoder == nullptr;
      if (without_rows) return;
      settings.standardize = false;
      if (settings.initial.has_value()) start_by_name(*settings.initial, *encoder);
      name_features(settings, *encoder);
    }
    train(source, progress, MemoryBudget(memory_limit()));
  });
  if (without_rows) return false;
  if (!error.has_value()) return true;
  if (source.without_rows() || (source.one_class() && settings.null_for_one_class)) return false;
  if (!settings.null_for_error) throw Error(*error);
  warn("the query has no model: " + error->message(), error->detail() + " The result is NULL.");
  return false;
}

/// A model for each of the settings.
std::vector<Model> models_of(SqlSource& source, const std::vector<Options>& settings, const Request& request,
                             const std::shared_ptr<const Encoder>& encoder, const Progress& progress,
                             MemoryBudget memory) {
  if (request.calibrates()) return calibrate_scans(source, settings, request.options, encoder, progress, memory);
  std::vector<Training> trainings;
  for (const Options& own : settings) trainings.push_back({own});
  return train_together(source, trainings, progress, memory);
}

/// train_margin_from() and train_one_class_from().
Datum one_model(FunctionCallInfo fcinfo, Request request) {
  std::shared_ptr<const Encoder> encoder;
  Model model;
  const auto train = [&](SqlSource& source, const SessionProgress& progress, MemoryBudget memory) {
    model = request.calibrates()
                ? std::move(models_of(source, {request.settings}, request, encoder, progress, memory).front())
                : train_scans(source, request.settings, progress, memory);
  };
  if (!trained(request, encoder, train, request.beside())) PG_RETURN_NULL();
  model.encoder = std::move(encoder);
  TrainingWarnings().give(model, request.settings);
  return trained_model(fcinfo, model, std::move(request.options));
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(train_margin_from) { return one_model(fcinfo, Request(fcinfo)); }

MARGIN_FUNCTION(train_one_class_from) { return one_model(fcinfo, Request(fcinfo, Request::For::one_class)); }

MARGIN_FUNCTION(margin_path_from) {
  Request request(fcinfo, Request::For::path);
  std::shared_ptr<const margin::Encoder> encoder;
  std::vector<margin::Model> models;
  const auto train = [&](SqlSource& source, const SessionProgress& progress, margin::MemoryBudget memory) {
    std::vector<margin::Options> settings(request.lists->lambdas.size(), request.settings);
    for (std::size_t k = 0; k < settings.size(); ++k) settings[k].lambda = request.lists->lambdas[k];
    models = models_of(source, settings, request, encoder, progress, memory);
  };
  if (!trained(request, encoder, train, request.beside())) PG_RETURN_NULL();
  for (const char* name : {"lambdas", "initial"}) request.options.erase(name);
  std::vector<Datum> values;
  for (margin::Model& model : models) {
    model.encoder = encoder;
    keep_options(model, request.options);
    model.options["lambda"] = {request.lists->lambdas[values.size()]};
    values.push_back(model_datum(fcinfo, model));
  }
  warn_of_path(models, request.settings.tolerance);
  return composite_array(values);
}

MARGIN_FUNCTION(margin_cross_validate_from) {
  Request request(fcinfo, Request::For::selection);
  margin::SelectionOptions& options = *request.lists;
  std::shared_ptr<const margin::Encoder> encoder;
  margin::ScannedSelection found;
  const auto train = [&](SqlSource& source, const SessionProgress& progress, margin::MemoryBudget memory) {
    for (margin::GridPoint& point : options.grid) settle_columns(point, encoder.get());
    found = margin::cross_validate_scans(source, options, request.options, encoder, progress, memory);
  };
  if (!trained(request, encoder, train, Beside::label_and_fold)) PG_RETURN_NULL();
  warn_of_selection(found.selection);
  if (encoder != nullptr) margin::name_pairs(request.options, *encoder);
  return selection_datum(fcinfo, found.selection, options, {found.rows, found.skipped}, request.options);
}

MARGIN_FUNCTION(margin_scan_query) {
  const Request request(fcinfo);
  ScanStatement statement(request.query, request.settings.shard, request.function, request.beside());
  if (statement.of_rows()) return text_datum(encoder_text(statement, request));
  margin::Question question = margin::first_question(request.settings, margin::MemoryBudget(memory_limit()));
  question.parts = statement.tasks();
  return text_datum(statement.text_with(scan_value(question.bytes(), question_type)));
}

/// The question of the first scan.
MARGIN_FUNCTION(margin_question_of_options) {
  const margin::Options settings = margin::parse_options(options_from(PG_GETARG_DATUM(0)));
  const margin::Question question = margin::first_question(settings, margin::MemoryBudget(memory_limit()));
  return scan_value(question.bytes(), question_type);
}
