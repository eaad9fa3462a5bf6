// The nodes of a plan.
#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include <nodes/plannodes.h>
}

namespace margin::pg {

/// Whether found(node) holds of a node of the plan, from the top on; what a foreign table or an extension makes of its own is not
/// looked into.
template <class Found>
bool any_node(const Plan* plan, const Found& found) {
  if (plan == nullptr) return false;
  if (found(plan)) return true;
  if (IsA(plan, ForeignScan) || IsA(plan, CustomScan)) return false;
  if (IsA(plan, SubqueryScan)) return any_node(reinterpret_cast<const SubqueryScan*>(plan)->subplan, found);
  const List* parts = IsA(plan, Append)        ? reinterpret_cast<const Append*>(plan)->appendplans
                      : IsA(plan, MergeAppend) ? reinterpret_cast<const MergeAppend*>(plan)->mergeplans
                                               : NIL;
  ListCell* part = nullptr;
  foreach (part, parts)
    if (any_node(static_cast<const Plan*>(lfirst(part)), found)) return true;
  return any_node(plan->lefttree, found) || any_node(plan->righttree, found);
}

}  // namespace margin::pg
