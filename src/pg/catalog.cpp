// What the library offers: margin_version(), margin_solvers(), margin_losses().
#include "boundary.hpp"
#include "composite.hpp"
#include "result_set.hpp"

using namespace margin::pg;

MARGIN_FUNCTION(margin_version) { return text_datum(MARGIN_VERSION); }

MARGIN_FUNCTION(margin_solvers) {
  ResultSet rows(fcinfo);
  for (const margin::Solver* solver : margin::all_solvers())
    rows.add({text_datum(solver->name()), text_datum(solver->problem()), text_datum(solver->summary())});
  return 0;
}

MARGIN_FUNCTION(margin_losses) {
  ResultSet rows(fcinfo);
  for (const std::string_view name : margin::loss_names()) {
    const auto loss = margin::make_loss(name, margin::Settings{});
    rows.add({text_datum(name), text_datum(loss->classification() ? "classes" : "numbers"),
              BoolGetDatum(loss->has_probability())});
  }
  return 0;
}
