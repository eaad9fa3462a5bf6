// A margin_state or margin_profile while an aggregate is at it: an expanded object of the server's around an Answer or a
// Profile, which every row changes in place. Whoever stores or sends it gets its bytes.
#pragma once

#include <optional>

#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {

/// What such an object takes of the two: its SQL type, its bytes, and how two of them become one.
inline const char* state_name(const Answer&) { return state_type; }
inline const char* state_name(const Profile&) { return profile_type; }
inline void read_state(Answer& to, std::string_view bytes, const Progress& p) { to = Answer::from_bytes(bytes, p); }
inline void read_state(Profile& to, std::string_view bytes, const Progress& p) {
  to = Profile::from_bytes(bytes, memory_limit(), p);
}
inline void merge_states(Answer& to, const Answer& from, const Progress& p) { to.merge(from, p); }
inline void merge_states(Profile& to, const Profile& from, const Progress& p) { to.merge(from, memory_limit(), p); }

/// What C++ has of the object: destroyed with the object's memory context.
template <class T>
struct StateContent {
  T state;
  std::string bytes;  // between the two calls that make a flat copy
};

template <class T>
struct StateObject {
  ExpandedObjectHeader header;
  StateContent<T>* content;

  static StateObject* of(ExpandedObjectHeader* header) { return reinterpret_cast<StateObject*>(header); }

  static Size flat_size(ExpandedObjectHeader* header) {
    struct FlatCall {
      StateContent<T>* content;
      std::size_t size;
    } call{of(header)->content, 0};
    callback(
        [](void* p) {
          auto* c = static_cast<FlatCall*>(p);
          InterruptProgress progress;
          c->content->bytes = c->content->state.bytes(progress);
          c->size = scan_value_size(c->content->bytes.size(), state_name(c->content->state));
        },
        &call, "margin_sum");
    return call.size;
  }

  static void flatten_into(ExpandedObjectHeader* header, void* result, Size size) {
    std::string& bytes = of(header)->content->bytes;
    Assert(size == scan_header + bytes.size());
    fill_scan_value(static_cast<varlena*>(result), size, bytes);
    std::string().swap(bytes);
  }

  static StateObject* create(MemoryContext parent);
  /// The object behind a Datum, null for values and for objects of others.
  static StateObject* find(Datum state);
};

template <class T>
inline constexpr ExpandedObjectMethods state_methods = {StateObject<T>::flat_size, StateObject<T>::flatten_into};

template <class T>
StateObject<T>* StateObject<T>::create(MemoryContext parent) {
  static_assert(std::is_standard_layout_v<StateObject>, "the server sees the header alone");
  MemoryContext context = backend([=] { return AllocSetContextCreate(parent, "margin_sum", ALLOCSET_SMALL_SIZES); });
  auto* object = static_cast<StateObject*>(allocate_in(context, sizeof(StateObject)));
  EOH_init_header(&object->header, &state_methods<T>, context);
  object->content = create_in<StateContent<T>>(context);
  return object;
}

template <class T>
StateObject<T>* StateObject<T>::find(Datum state) {
  const auto* pointer = DatumGetPointer(state);
  if (!VARATT_IS_EXTERNAL_EXPANDED(pointer)) return nullptr;
  ExpandedObjectHeader* header = DatumGetEOHP(state);
  return header->eoh_methods == &state_methods<T> ? of(header) : nullptr;
}

/// Merges a value, or an object, into a state.
template <class T>
void merge_state(Datum state, T& into, const Progress& progress) {
  if (const auto* object = StateObject<T>::find(state)) {
    merge_states(into, object->content->state, progress);
    return;
  }
  T other;
  read_state(other, scan_bytes(state), progress);
  if (into.empty())
    into = std::move(other);  // the same bits, and no second copy of large sums
  else
    merge_states(into, other, progress);
}

/// The state behind a value for a function that may be a step of an aggregate, (state, ...) -> state.
template <class T>
class StateArgument {
 public:
  /// Argument 0 of the running function; NULL is a state without rows. The server keeps an object without copying it
  /// when its context is a child of the aggregate's.
  explicit StateArgument(FunctionCallInfo fcinfo) {
    MemoryContext context = nullptr;
    const bool aggregate = AggCheckCallContext(fcinfo, &context) != 0;
    const bool null = PG_ARGISNULL(0);
    if (aggregate) {
      const Datum before = null ? Datum{0} : PG_GETARG_DATUM(0);
      StateObject<T>* object = null ? nullptr : StateObject<T>::find(before);
      if (object == nullptr || !VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(before))) {
        object = StateObject<T>::create(context);
        if (!null) merge_state(before, object->content->state, InterruptProgress());
      }
      state_ = &object->content->state;
      object_ = EOHPGetRWDatum(&object->header);
    } else if (!null) {
      read_state(own_.emplace(), scan_bytes(PG_GETARG_DATUM(0)), InterruptProgress());
    } else {
      own_.emplace();
    }
    if (own_.has_value()) state_ = &*own_;
  }
  StateArgument(const StateArgument&) = delete;
  StateArgument& operator=(const StateArgument&) = delete;

  T& state() { return *state_; }
  /// The state for the next step: of an aggregate the same object, otherwise a value.
  Datum result() { return object_ != 0 ? object_ : scan_value(own_->bytes(InterruptProgress()), state_name(*own_)); }

 private:
  std::optional<T>
      own_;  // outside of an aggregate alone: a state takes a while to make, and there is one call for each row
  T* state_ = nullptr;
  Datum object_ = 0;  // of an aggregate
};

}  // namespace margin::pg
