#include "pg/values/state_object.hpp"

#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {

namespace {

/// What C++ has of the object: destroyed with the object's memory context.
struct Content {
  Answer answer;
  std::string bytes;  // between the two calls that make a flat copy
};

struct StateObject {
  ExpandedObjectHeader header;
  Content* content;
};
static_assert(std::is_standard_layout_v<StateObject>, "the server sees the header alone");

StateObject* object_of(ExpandedObjectHeader* header) { return reinterpret_cast<StateObject*>(header); }

struct FlatCall {
  Content* content;
  std::size_t size;
  void* to;
};

Size flat_size(ExpandedObjectHeader* header) {
  FlatCall call{object_of(header)->content, 0, nullptr};
  callback(
      [](void* p) {
        auto* c = static_cast<FlatCall*>(p);
        InterruptProgress progress;
        c->content->bytes = c->content->answer.bytes(progress);
        c->size = scan_value_size(c->content->bytes.size(), state_type);
      },
      &call, "margin_state");
  return call.size;
}

void flatten_into(ExpandedObjectHeader* header, void* result, Size size) {
  std::string& bytes = object_of(header)->content->bytes;
  Assert(size == scan_header + bytes.size());
  fill_scan_value(static_cast<varlena*>(result), size, bytes);
  std::string().swap(bytes);
}

constexpr ExpandedObjectMethods methods = {flat_size, flatten_into};

/// The object behind a Datum, null for values and for objects of others.
StateObject* find_object(Datum state) {
  const auto* pointer = DatumGetPointer(state);
  if (!VARATT_IS_EXTERNAL_EXPANDED(pointer)) return nullptr;
  ExpandedObjectHeader* header = DatumGetEOHP(state);
  return header->eoh_methods == &methods ? object_of(header) : nullptr;
}

StateObject* create_object(MemoryContext parent) {
  MemoryContext context = backend([=] { return AllocSetContextCreate(parent, "margin_state", ALLOCSET_SMALL_SIZES); });
  auto* object = static_cast<StateObject*>(allocate_in(context, sizeof(StateObject)));
  EOH_init_header(&object->header, &methods, context);
  object->content = create_in<Content>(context);
  return object;
}

}  // namespace

// The server keeps an object without copying it when its context is a child of the aggregate's.
StateArgument::StateArgument(FunctionCallInfo fcinfo) {
  MemoryContext context = nullptr;
  const bool aggregate = AggCheckCallContext(fcinfo, &context) != 0;
  const bool null = PG_ARGISNULL(0);
  if (aggregate) {
    const Datum before = null ? Datum{0} : PG_GETARG_DATUM(0);
    StateObject* object = null ? nullptr : find_object(before);
    if (object == nullptr || !VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(before))) {
      object = create_object(context);
      if (!null) merge_state(before, object->content->answer, InterruptProgress());
    }
    answer_ = &object->content->answer;
    object_ = EOHPGetRWDatum(&object->header);
  } else if (!null) {
    own_ = Answer::from_bytes(scan_bytes(PG_GETARG_DATUM(0)));
  }
}

Datum StateArgument::result() {
  return object_ != 0 ? object_ : scan_value(own_.bytes(InterruptProgress()), state_type);
}

void merge_state(Datum state, Answer& into, const Progress& progress) {
  if (const StateObject* object = find_object(state)) {
    into.merge(object->content->answer, progress);
    return;
  }
  Answer other = Answer::from_bytes(scan_bytes(state));
  if (into.empty())
    into = std::move(other);  // the same bits, and no second copy of large sums
  else
    into.merge(other, progress);
}

}  // namespace margin::pg
