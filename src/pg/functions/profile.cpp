// margin_profile(row), margin_profile(names, column, ...): one row as a profile, and margin_sum, which adds them up. Types
// travel by their names and columns by theirs, never by OIDs: a profile means the same on any server.
#include "core/profile/profile.hpp"

#include "pg/functions/named_columns.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/row_columns.hpp"
#include "pg/values/scan_values.hpp"
#include "pg/values/state_object.hpp"

namespace margin::pg {
namespace {

/// The name of a type for a profile: that of a built-in one as SQL writes it, of another without its schema, which every
/// session shows or hides as its search_path says.
std::string plain_type_name(Oid declared) {
  const Oid type = backend([=] { return OidIsValid(declared) ? getBaseType(declared) : declared; });
  if (!OidIsValid(type) || type < FirstNormalObjectId) return type_name_of(type);
  return backend([=] {
    HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
    if (!HeapTupleIsValid(tuple)) return pstrdup("unknown");
    char* name = pstrdup(NameStr(reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typname));
    ReleaseSysCache(tuple);
    return name;
  });
}

/// Columns of rows that all have the same, and the row that is being written.
class RowWriter {
 public:
  struct Cell {
    std::string name;
    std::size_t at;  // of the values
    std::optional<CellType> type;
  };

  explicit RowWriter(const std::vector<OpenRow::Attribute>& attributes) {
    std::vector<ProfiledColumn> columns;
    for (const OpenRow::Attribute& a : attributes) {
      Cell cell{a.name, a.at, cell_type_of(a.type)};
      columns.push_back({a.name, plain_type_name(a.type), std::nullopt});
      if (cell.type.has_value()) columns.back().kind = cell.type->kind;
      cells_.push_back(std::move(cell));
    }
    std::sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) { return a.name < b.name; });
    for (std::size_t j = 1; j < cells_.size(); ++j)
      if (cells_[j].name == cells_[j - 1].name)
        throw Error(ErrorKind::wrong_type, "there are two columns named \"" + cells_[j].name + "\"",
                    "Rename one of them: a profile knows columns by their names.");
    row_.emplace(profiled_bytes(columns));
  }

  Datum write(const OpenRow& row) {
    row_->begin();
    for (const Cell& cell : cells_) {
      if (row.nulls[cell.at] != 0)
        row_->null();
      else
        put(cell, row.values[cell.at]);
    }
    varlena* out = allocate_scan_value(row_->size(), profile_type);
    row_->write(scan_room(out));
    return PointerGetDatum(out);
  }

 private:
  void put(const Cell& cell, Datum value) {
    if (!cell.type.has_value() || cell.type->kind == ColumnKind::sparse)
      row_->counted();
    else if (cell.type->number != nullptr)
      row_->number(cell.type->number(value));
    else if (cell.type->block != nullptr)
      put_block(cell, value);
    else if (cell.type->kind == ColumnKind::set)
      put_set(cell, value);
    else
      put_text(text_of(*cell.type, value));
  }

  void put_block(const Cell& cell, Datum value) {
    FeatureRow x{};
    const auto error = row_error([&] { x = cell.type->block(value); });
    if (error.has_value())
      throw Error(error->kind(), "column \"" + cell.name + "\": " + error->message(), error->hint(), error->detail());
    row_->block(x);
  }

  void put_set(const Cell& cell, Datum value) {
    std::vector<std::string> elements;
    const auto once = [&] {
      std::sort(elements.begin(), elements.end());
      elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    };
    std::size_t next = 64;  // memory is that of different elements, however often a row repeats them
    for_each_element(cell.name, *cell.type, value, [&](std::string_view text) {
      if (elements.size() >= next) {
        once();
        next = std::max(next, 2 * elements.size());
      }
      elements.push_back(kept(text));
    });
    once();
    row_->set(elements);
  }

  void put_text(std::string_view text) {
    if (text.size() <= most_text)
      row_->text(text);
    else
      row_->text(kept(text));
  }

  /// What is kept of a text.
  static std::string kept(std::string_view text) {
    if (text.size() <= most_text) return std::string(text);
    const auto size = static_cast<int>(text.size());
    const char* from = text.data();
    const int end = backend([=] { return pg_mbcliplen(from, size, static_cast<int>(most_text) - 24); });
    return shortened(text, text.substr(0, static_cast<std::size_t>(end)));
  }

  std::vector<Cell> cells_;
  std::optional<ProfileRow> row_;
};

/// f1, f2, ...: what the server calls the columns of ROW(a, b), and of a whole row that came to a foreign server.
bool unnamed(const OpenRow& row) {
  for (const OpenRow::Attribute& a : row.attributes)
    if (a.name != "f" + std::to_string(a.at + 1)) return false;
  return true;
}

struct RowCall {
  explicit RowCall(FunctionCallInfo fcinfo) : opener(fcinfo->flinfo->fn_mcxt) {
    const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
    if (is_row(type)) return;
    throw Error(ErrorKind::wrong_type, "margin_profile takes a row with named columns, not " + type_name_of(type),
                is_jsonb(type) ? "Objects do not say what the types of their columns are: give "
                                 "jsonb_populate_record(NULL::t, object)."
                               : "Give a row of the table, margin_profile(t) FROM t, or columns with their names, "
                                 "margin_profile('[\"a\", \"b\"]', a, b).");
  }

  RowWriter& writer(const OpenRow& row) {
    if (written.has_value() && layout == row.layout) return *written;
    if (row.attributes.empty()) throw Error(ErrorKind::wrong_type, "the row has no columns");
    if (unnamed(row))
      throw Error(ErrorKind::wrong_type, "the columns of the row have no names",
                  "Whole rows of foreign tables lose them on their way. Give columns with their names: "
                  "margin_profile('[\"a\", \"b\"]', a, b).");
    written.emplace(row.attributes);
    layout = row.layout;
    return *written;
  }

  RowOpener opener;
  std::uint64_t layout = 0;
  std::optional<RowWriter> written;
};

struct ProfileColumnsCall {
  explicit ProfileColumnsCall(FunctionCallInfo fcinfo) : columns(fcinfo, 0, "margin_profile") {}

  Datum write(FunctionCallInfo fcinfo) {
    const OpenRow& row = columns.open(fcinfo);
    if (!written.has_value() || layout != row.layout) {
      written.emplace(row.attributes);
      layout = row.layout;
    }
    return written->write(row);
  }

  NamedColumns columns;
  std::uint64_t layout = 0;
  std::optional<RowWriter> written;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_profile_of_row) {
  auto& call = query_state<RowCall>(fcinfo);
  const OpenRow& row = call.opener.open(PG_GETARG_DATUM(0));
  return call.writer(row).write(row);
}

// Not strict: a column that is NULL is counted as such.
MARGIN_FUNCTION(margin_profile_of_columns) { return query_state<ProfileColumnsCall>(fcinfo).write(fcinfo); }

/// (margin_profile, margin_profile) -> margin_profile: the step of margin_sum, and what combines two of its states.
MARGIN_FUNCTION(margin_merge_profile) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  StateArgument<margin::Profile> state(fcinfo);
  InterruptProgress progress;
  const Datum other = PG_GETARG_DATUM(1);
  if (StateObject<margin::Profile>::find(other) == nullptr) {
    const std::string_view bytes = scan_bytes(other);
    if (margin::Profile::of_row(bytes)) {
      state.state().add(bytes, memory_limit(), progress);
      return state.result();
    }
  }
  merge_state(other, state.state(), progress);
  return state.result();
}
