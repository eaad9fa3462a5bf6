// A composite value as a tuple, whatever the minor release that the server and these headers are of.
#pragma once

#include "pg/server/boundary.hpp"

#ifndef DatumGetHeapTupleHeader
// A function since the minor releases that mark composite values (15.20 and its like), a macro before. Weak, so that a library
// built with their headers loads into an older minor release, which has no such function and needs none.
#pragma weak DatumGetHeapTupleHeader
#endif

namespace margin::pg {

/// The value detoasted, its header marked where the server wants that. May raise: within backend().
inline HeapTupleHeader composite_header(Datum composite) {
#ifndef DatumGetHeapTupleHeader
  if (&::DatumGetHeapTupleHeader == nullptr) return reinterpret_cast<HeapTupleHeader>(PG_DETOAST_DATUM(composite));
#endif
  return DatumGetHeapTupleHeader(composite);
}

}  // namespace margin::pg
