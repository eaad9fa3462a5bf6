#include "pg/server/scan_call.hpp"

namespace margin::pg {

Oid own_function(Oid caller, const char* name, const std::vector<Oid>& types) {
  const Oid* const list = types.data();
  const int size = static_cast<int>(types.size());
  const Oid found = backend([=] {
    const auto owner_of = [](HeapTuple tuple) { return reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner; };
    HeapTuple own = SearchSysCache1(PROCOID, ObjectIdGetDatum(caller));
    if (!HeapTupleIsValid(own)) return InvalidOid;
    const Oid owner = owner_of(own), schema = reinterpret_cast<Form_pg_proc>(GETSTRUCT(own))->pronamespace;
    ReleaseSysCache(own);
    HeapTuple tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
                                      PointerGetDatum(buildoidvector(list, size)), ObjectIdGetDatum(schema));
    if (!HeapTupleIsValid(tuple)) return InvalidOid;
    const Oid function = owner_of(tuple) == owner ? reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->oid : InvalidOid;
    ReleaseSysCache(tuple);
    return function;
  });
  if (found == InvalidOid)
    throw Error(ErrorKind::unsupported,
                std::string("the extension has no function ") + name + " of its own for the arguments of this scan",
                "ALTER EXTENSION margin UPDATE; all functions of the extension have one owner.");
  return found;
}

}  // namespace margin::pg
