// How many rows a small table of models has. The server takes a table that was never analysed for ten pages full of
// rows, some 1,400 models, and autovacuum never looks at a table of a few: a prediction of all rows of a table by
// its one model would be planned as 1,400 times as much, with JIT compilation and workers that cost more than the
// predictions.
#include "pg/server/planner.h"

#include "pg/server/boundary.hpp"

extern "C" {
#include <access/table.h>
#include <catalog/pg_am.h>
#include <nodes/pathnodes.h>
#if PG_VERSION_NUM >= 190000
#include <optimizer/pathnode.h>
#else
#include <optimizer/plancat.h>
#endif
#include <storage/bufmgr.h>
#include <utils/rel.h>
}

namespace margin::pg {
namespace {

/// Where the server stops to count pages of a table that was never analysed as this many.
constexpr BlockNumber presumed_pages = 10;

#if PG_VERSION_NUM >= 190000
build_simple_rel_hook_type next_hook = nullptr;
#else
get_relation_info_hook_type next_hook = nullptr;
#endif

/// Membership in the extension tells: anyone may have a type of the same name.
bool is_model(Oid type) {
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return false;
  const auto* form = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
  const bool named = form->typtype == TYPTYPE_COMPOSITE && std::strcmp(NameStr(form->typname), "margin_model") == 0;
  ReleaseSysCache(tuple);
  if (!named) return false;
  const Oid extension = getExtensionOfObject(TypeRelationId, type);
  const char* name = OidIsValid(extension) ? get_extension_name(extension) : nullptr;
  return name != nullptr && std::strcmp(name, "margin") == 0;
}

bool holds_models(TupleDesc descriptor) {
  for (int i = 0; i < descriptor->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(descriptor, i);
    if (!attribute->attisdropped && attribute->attlen == -1 && is_model(attribute->atttypid)) return true;
  }
  return false;
}

/// The rows that the pages of the table have, also those that this snapshot does not see.
double rows_of_pages(Relation table, BlockNumber pages) {
  double rows = 0;
  for (BlockNumber n = 0; n < pages; ++n) {
    const Buffer buffer = ReadBuffer(table, n);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Page page = BufferGetPage(buffer);
    if (!PageIsNew(page))
      for (OffsetNumber k = FirstOffsetNumber; k <= PageGetMaxOffsetNumber(page); ++k)
        if (ItemIdIsNormal(PageGetItemId(page, k))) ++rows;
    UnlockReleaseBuffer(buffer);
  }
  return rows;
}

void count_models(Oid relation, RelOptInfo* rel) {
  // The planner has it open, and holds a lock until the end of the statement.
  Relation table = table_open(relation, NoLock);
  const Form_pg_class form = table->rd_rel;
  const bool never_analysed = form->reltuples < 0 && !form->relhassubclass && !RELATION_IS_OTHER_TEMP(table) &&
                              (form->relkind == RELKIND_RELATION || form->relkind == RELKIND_MATVIEW) &&
                              form->relam == HEAP_TABLE_AM_OID;
  if (never_analysed && holds_models(RelationGetDescr(table))) {
    const BlockNumber pages = RelationGetNumberOfBlocks(table);
    if (pages > 0 && pages < presumed_pages) {
      rel->pages = pages;
      rel->tuples = std::max(1.0, rows_of_pages(table, pages));
      ListCell* cell = nullptr;
      foreach (cell, rel->indexlist) {
        auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
        index->tuples = std::min(index->tuples, rel->tuples);
      }
    }
  }
  table_close(table, NoLock);
}

void estimate(Oid relation, bool parent, RelOptInfo* rel) {
  if (parent || rel->rtekind != RTE_RELATION || rel->pages != presumed_pages) return;
  struct Call {
    Oid relation;
    RelOptInfo* rel;
  } call{relation, rel};
  callback(
      [](void* p) {
        const Call c = *static_cast<Call*>(p);
        backend([=] { count_models(c.relation, c.rel); });
      },
      &call, "the planner's hook");
}

#if PG_VERSION_NUM >= 190000
// Called right after the server has looked the relation up.
void relation_built(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* table) {
  if (next_hook != nullptr) next_hook(root, rel, table);
  estimate(table->relid, table->inh, rel);
}
#else
void relation_info(PlannerInfo* root, Oid relation, bool parent, RelOptInfo* rel) {
  if (next_hook != nullptr) next_hook(root, relation, parent, rel);
  estimate(relation, parent, rel);
}
#endif

}  // namespace
}  // namespace margin::pg

void watch_planner() {
#if PG_VERSION_NUM >= 190000
  margin::pg::next_hook = build_simple_rel_hook;
  build_simple_rel_hook = margin::pg::relation_built;
#else
  margin::pg::next_hook = get_relation_info_hook;
  get_relation_info_hook = margin::pg::relation_info;
#endif
}
