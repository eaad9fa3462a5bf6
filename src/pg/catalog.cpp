// What the library offers: margin_version(), margin_solvers(), margin_losses().
#include "boundary.hpp"
#include "composite.hpp"

namespace margin::pg {
namespace {

/// The result set of a set-returning function, filled at once.
class Rows {
 public:
  explicit Rows(FunctionCallInfo fcinfo) {
    auto* info = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    if (info == nullptr || !IsA(info, ReturnSetInfo) || (info->allowedModes & SFRM_Materialize) == 0)
      throw Error(ErrorKind::unsupported, "this function returns a set: use it in FROM");
    store_ = backend([=] {
      MemoryContext caller = MemoryContextSwitchTo(info->econtext->ecxt_per_query_memory);
      TupleDesc descriptor = nullptr;
      if (get_call_result_type(fcinfo, nullptr, &descriptor) == TYPEFUNC_COMPOSITE) {
        info->returnMode = SFRM_Materialize;
        info->setDesc = descriptor;
        info->setResult = tuplestore_begin_heap((info->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
      }
      MemoryContextSwitchTo(caller);
      return info->setResult;
    });
    if (store_ == nullptr) throw Error(ErrorKind::wrong_type, "the function must return rows");
    descriptor_ = info->setDesc;
  }

  void add(std::vector<Datum> values) {
    std::vector<char> nulls(values.size(), 0);
    Tuplestorestate* store = store_;
    TupleDesc descriptor = descriptor_;
    const Datum* at = values.data();
    const bool* missing = reinterpret_cast<const bool*>(nulls.data());
    backend([=] { tuplestore_putvalues(store, descriptor, const_cast<Datum*>(at), const_cast<bool*>(missing)); });
  }

 private:
  Tuplestorestate* store_;
  TupleDesc descriptor_;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_version) { return text_datum(MARGIN_VERSION); }

MARGIN_FUNCTION(margin_solvers) {
  Rows rows(fcinfo);
  for (const margin::Solver* solver : margin::all_solvers())
    rows.add({text_datum(solver->name()), text_datum(solver->problem()), text_datum(solver->summary())});
  return 0;
}

MARGIN_FUNCTION(margin_losses) {
  Rows rows(fcinfo);
  for (const std::string_view name : margin::loss_names()) {
    const auto loss = margin::make_loss(name, margin::Settings{});
    rows.add({text_datum(name), text_datum(loss->classification() ? "classes" : "numbers"),
              BoolGetDatum(loss->has_probability())});
  }
  return 0;
}
