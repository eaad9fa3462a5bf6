#include "pg/values/result_set.hpp"

namespace margin::pg {

ResultSet::ResultSet(FunctionCallInfo fcinfo) {
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
  values_.resize(static_cast<std::size_t>(descriptor_->natts));
  nulls_.resize(values_.size());
}

void ResultSet::add(const std::vector<std::optional<Datum>>& values) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i] = values[i].value_or(0);
    nulls_[i] = values[i].has_value() ? 0 : 1;
  }
  static_assert(sizeof(bool) == 1);
  Tuplestorestate* store = store_;
  TupleDesc descriptor = descriptor_;
  Datum* at = values_.data();
  bool* missing = reinterpret_cast<bool*>(nulls_.data());
  backend([=] { tuplestore_putvalues(store, descriptor, at, missing); });
}

}  // namespace margin::pg
