// What the library offers: margin_version(), margin_solvers(), margin_losses(), margin_kernels(), margin_option_list().
#include "core/options/catalogue.hpp"
#include "pg/server/boundary.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/result_set.hpp"

using namespace margin::pg;

MARGIN_FUNCTION(margin_version) { return text_datum(MARGIN_VERSION); }

MARGIN_FUNCTION(margin_solvers) {
  ResultSet rows(fcinfo);
  for (const margin::Solver* solver : margin::all_solvers())
    rows.add(
        {text_datum(solver->name()), text_datum(solver->record().problem()), text_datum(solver->record().summary)});
  return 0;
}

MARGIN_FUNCTION(margin_losses) {
  ResultSet rows(fcinfo);
  for (const std::string_view name : margin::loss_names()) {
    const auto loss = margin::make_loss(name, margin::Options{});
    rows.add({text_datum(name), text_datum(loss->classification() ? "classes" : "numbers"),
              BoolGetDatum(loss->has_probability())});
  }
  return 0;
}

MARGIN_FUNCTION(margin_kernels) {
  ResultSet rows(fcinfo);
  for (const margin::KernelText& kernel : margin::kernel_texts())
    rows.add({text_datum(kernel.name), text_datum(kernel.formula), text_datum(kernel.options)});
  return 0;
}

MARGIN_FUNCTION(margin_option_list) {
  ResultSet rows(fcinfo);
  for (const margin::OptionText& option : margin::option_texts())
    rows.add({text_datum(option.name), text_datum(option.type), text_datum(option.meaning), text_datum(option.fallback),
              text_datum(option.used_by)});
  return 0;
}
