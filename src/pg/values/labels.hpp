// Labels: a Datum of any supported type as a class name or as a number.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// Reads labels of one type, chosen once per query.
class LabelReader {
 public:
  /// A class label: its text, and a key that orders classes. The text lives as long as the row's memory context.
  struct ClassName {
    std::string_view text;
    double key;
  };

  /// Throws Error(wrong_type) for a type that cannot be a label.
  /// `what` the value is, for messages.
  explicit LabelReader(Oid type, const char* what = "label");

  /// Text form of the label. Throws Error(invalid_value) for NaN and infinity.
  ClassName name(Datum value) const;
  /// The label as a target of a regression. Throws Error: wrong_type, invalid_value.
  double number(Datum value) const;
  /// The label as a closed interval of targets: a range, or a number as an interval of one point. Ends that a range
  /// leaves out count as its own, but integer ranges become closed ones of whole numbers. Throws Error: wrong_type,
  /// invalid_value (an empty range, NaN).
  struct Interval {
    double lower, upper;
  };
  Interval interval(Datum value) const;

  Oid type() const { return type_; }
  /// Labels are integers, floats or numerics.
  bool numbers() const;

 private:
  Oid type_;
};

/// Class indices of the labels seen lately, so that a row costs no text and no hash table. Plain memory: it may be
/// abandoned with its context.
class LabelCache {
 public:
  /// Index of `value`, from the cache or from resolve(name).
  template <class Resolve>
  std::int32_t find(const LabelReader& reader, Datum value, Resolve&& resolve) {
    Slot& slot = slots_[hash(reader, value)];
    if (slot.matches(*this, value)) return slot.index;
    const std::int32_t index = resolve(reader.name(value));
    slot.remember(*this, value, index);
    return index;
  }

 private:
  static constexpr std::size_t slot_count = 64, longest = 24;
  struct Slot {
    std::int32_t index = -1;
    std::uint32_t size = 0;  // of the remembered bytes; 0: by value, or nothing remembered
    Datum value = 0;
    char bytes[longest];

    bool matches(const LabelCache& cache, Datum d) const;
    void remember(const LabelCache& cache, Datum d, std::int32_t i);
  };

  std::size_t hash(const LabelReader& reader, Datum value);

  Slot slots_[slot_count];
  bool by_value_ = false;
  const void* raw_ = nullptr;  // the bytes of the label at hand, for types by reference
  std::uint32_t raw_size_ = 0;
};

}  // namespace margin::pg
