// What the library offers: margin_version(), margin_solvers(), margin_capabilities(), margin_losses(), margin_kernels(),
// margin_option_list().
#include "core/model/products.hpp"
#include "core/scans/train_scans.hpp"
#include "core/solvers/readers.hpp"
#include "core/train/certified_selection.hpp"
#include "pg/server/boundary.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/result_set.hpp"

namespace margin::pg {
namespace {

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "none" : text;
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_version) { return text_datum(MARGIN_VERSION); }

MARGIN_FUNCTION(margin_solvers) {
  ResultSet rows(fcinfo);
  for (const margin::Solver* solver : margin::all_solvers()) {
    const margin::SolverRecord& record = solver->record();
    rows.add({text_datum(record.name), text_datum(record.problem()), text_datum(record.summary),
              text_datum(joined(record.options)), text_datum(joined(margin::reported_names(*solver)))});
  }
  return 0;
}

MARGIN_FUNCTION(margin_capabilities) {
  ResultSet rows(fcinfo);
  unsigned all = 0;
  for (const margin::FeatureRecord& feature : margin::feature_records()) all |= feature.bit;
  const auto add = [&](const std::string& name, unsigned takes, unsigned refuses) {
    rows.add({text_datum(name), text_datum(margin::names_of(takes)), text_datum(margin::names_of(refuses))});
  };
  for (const margin::Consumer* consumer :
       {&margin::scan_training, &margin::one_class_scan_training, &margin::certified_option,
        &margin::score_interval_product, &margin::gap_at_product, &margin::update_product, &margin::curvature_product,
        &margin::influence_product, &margin::leave_one_out_product, &margin::audit_product, &margin::question_product})
    add(std::string(consumer->name), consumer->takes, all & ~consumer->takes);
  for (const margin::Solver* solver : margin::all_solvers()) {
    const unsigned takes = solver->record().takes();
    add("solver \"" + std::string(solver->name()) + "\"", takes, all & ~takes & ~margin::feature::around);
  }
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
  for (const margin::KernelRecord& kernel : margin::kernel_records())
    rows.add({text_datum(kernel.name), text_datum(kernel.formula), text_datum(joined(kernel.parameters))});
  return 0;
}

MARGIN_FUNCTION(margin_option_list) {
  ResultSet rows(fcinfo);
  for (const margin::OptionRecord& option : margin::option_records())
    rows.add({text_datum(option.name), text_datum(option.type), text_datum(option.meaning), text_datum(option.fallback),
              text_datum(margin::readers_of(option))});
  return 0;
}
