// margin_compact: a model without what only its training and a proof of it need.
#include "pg/server/boundary.hpp"
#include "pg/server/composite_header.hpp"

using namespace margin::pg;

MARGIN_FUNCTION(margin_compact) {
  const Datum model = PG_GETARG_DATUM(0);
  return backend([=] {
    HeapTupleHeader row = composite_header(model);
    TupleDesc attributes = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
    HeapTupleData tuple{};
    tuple.t_len = HeapTupleHeaderGetDatumLength(row);
    tuple.t_data = row;
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<std::size_t>(attributes->natts)));
    auto* nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<std::size_t>(attributes->natts)));
    heap_deform_tuple(&tuple, attributes, values, nulls);
    for (int i = 0; i < attributes->natts; ++i) {
      const char* name = NameStr(TupleDescAttr(attributes, i)->attname);
      for (const char* const large : {"history", "dual_weights", "curvature"})
        if (strcmp(name, large) == 0) nulls[i] = true;
    }
    const Datum compact = HeapTupleGetDatum(heap_form_tuple(attributes, values, nulls));
    ReleaseTupleDesc(attributes);
    return compact;
  });
}
