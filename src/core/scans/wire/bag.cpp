#include "core/scans/wire/bag.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/random.hpp"
#include "core/data/sparse_vector.hpp"
#include "core/scans/wire/term.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {

enum Flags : std::int32_t { sparse = 1, wide = 2 };

/// The beginning of a kept row's bytes; values, indices and the label follow.
struct Head {
  std::int32_t count, dimensions, flags, label_size, label_class, unused;
  double label_key, lower, upper, weight;
};
static_assert(sizeof(Head) == 56);

struct Layout {
  explicit Layout(const Head& h) {
    indices = sizeof(Head) + static_cast<std::size_t>(h.count) * ((h.flags & wide) != 0 ? 8 : 4);
    label = indices + ((h.flags & sparse) != 0 ? 4 * static_cast<std::size_t>(h.count) : 0);
    end = label + static_cast<std::size_t>(h.label_size);
  }
  std::size_t indices, label, end;
};

std::string bytes_of(const Term& t) {
  const Head h{t.x.count,
               t.x.dimensions,
               (t.x.indices != nullptr ? sparse : 0) | (t.x.wide ? wide : 0),
               static_cast<std::int32_t>(t.label.size()),
               t.label_class,
               0,
               t.label_key,
               t.lower,
               t.upper,
               t.weight};
  const Layout at(h);
  std::string bytes(at.end, '\0');
  std::memcpy(bytes.data(), &h, sizeof h);
  if (t.x.count > 0) std::memcpy(bytes.data() + sizeof h, t.x.values, at.indices - sizeof h);
  if (t.x.indices != nullptr && t.x.count > 0)
    std::memcpy(bytes.data() + at.indices, t.x.indices, at.label - at.indices);
  std::copy(t.label.begin(), t.label.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at.label));
  return bytes;
}

KeptRow view(const std::string& bytes) {
  Head h;
  std::memcpy(&h, bytes.data(), sizeof h);
  const Layout at(h);
  KeptRow r;
  r.x.values = bytes.data() + sizeof h;
  r.x.indices = (h.flags & sparse) != 0 ? reinterpret_cast<const std::int32_t*>(bytes.data() + at.indices) : nullptr;
  r.x.count = h.count;
  r.x.wide = (h.flags & wide) != 0;
  r.x.dimensions = h.dimensions;
  r.label = std::string_view(bytes).substr(at.label);
  r.label_key = h.label_key;
  r.label_class = h.label_class;
  r.lower = h.lower;
  r.upper = h.upper;
  r.weight = h.weight;
  return r;
}

void require_sound(const std::string& bytes, const ByteReader& in) {
  in.require(bytes.size() >= sizeof(Head), "a kept row ends early");
  Head h;
  std::memcpy(&h, bytes.data(), sizeof h);
  in.require(h.count >= 0 && h.label_size >= 0 && h.dimensions >= 0 && h.label_class >= -1 && h.unused == 0 &&
                 (h.flags & ~(sparse | wide)) == 0 && Layout(h).end == bytes.size(),
             "a kept row contradicts itself");
  in.require(!std::isnan(h.label_key) && !std::isnan(h.lower) && !std::isnan(h.upper) && h.weight >= 0 &&
                 std::isfinite(h.weight),
             "a number of a kept row is NaN");
  const KeptRow r = view(bytes);
  const auto n = static_cast<std::size_t>(r.x.count);
  in.require(r.x.wide ? simd().finite_d(r.x.doubles(), n) : simd().finite_f(r.x.floats(), n),
             "a feature is not finite");
  in.require(r.x.indices != nullptr ? sound_indices(r.x) : r.x.dimensions == r.x.count, "bad indices");
}

}  // namespace

std::uint64_t row_identity(const KeptRow& row) {
  std::uint64_t h = static_cast<std::uint64_t>(static_cast<std::uint32_t>(row.label_class));
  const auto mix = [&](double v) {
    std::uint64_t word;
    std::memcpy(&word, &v, sizeof word);
    h = (h ^ word) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  };
  for (const double v : {row.lower, row.upper, row.weight}) mix(v + 0.0);
  for (std::int32_t k = 0; k < row.x.count; ++k) {
    const double v = row.x.value(k);
    if (v == 0) continue;
    mix(row.x.indices != nullptr ? row.x.indices[k] : k);
    mix(v);
  }
  return Random(h).next();
}

void Bag::add(const Term& term, double key) {
  if (wants(key)) put({key, bytes_of(term)});
}

void Bag::put(Entry entry) {
  // An equal one may be another row of the same bytes, for which there was room.
  if (dropped_ && (entry.key != dropped_key_ ? entry.key > dropped_key_ : entry.bytes > dropped_bytes_)) return;
  bytes_ += static_cast<std::int64_t>(entry.bytes.size());
  entries_.push_back(std::move(entry));
  std::push_heap(entries_.begin(), entries_.end());
  while (rows() > most_rows_ || bytes_ > most_bytes_) drop();
}

void Bag::drop() {
  std::pop_heap(entries_.begin(), entries_.end());
  Entry& last = entries_.back();
  bytes_ -= static_cast<std::int64_t>(last.bytes.size());
  dropped_ = true;
  dropped_key_ = last.key;
  dropped_bytes_ = std::move(last.bytes);
  entries_.pop_back();
}

void Bag::merge(const Bag& other) {
  if (other.dropped_) {
    const Entry theirs{other.dropped_key_, other.dropped_bytes_};
    if (!dropped_ || theirs < Entry{dropped_key_, dropped_bytes_}) {
      dropped_ = true;
      dropped_key_ = theirs.key;
      dropped_bytes_ = theirs.bytes;
    }
    while (!entries_.empty() && theirs < entries_.front()) {
      std::pop_heap(entries_.begin(), entries_.end());
      bytes_ -= static_cast<std::int64_t>(entries_.back().bytes.size());
      entries_.pop_back();
    }
  }
  for (const Entry& e : other.entries_) put(e);
}

void Bag::sort() { std::sort(entries_.begin(), entries_.end()); }

KeptRow Bag::row(std::int64_t i) const { return view(row_bytes(i)); }

void Bag::write(ByteWriter& out) const {
  out(most_rows_);
  out(most_bytes_);
  out(dropped_);
  out(dropped_key_);
  out(dropped_bytes_);
  std::vector<const Entry*> sorted;
  for (const Entry& e : entries_) sorted.push_back(&e);
  std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) { return *a < *b; });
  out(static_cast<std::uint64_t>(sorted.size()));
  for (const Entry* const e : sorted) {
    out(e->key);
    out(e->bytes);
  }
}

void Bag::read(ByteReader& in) {
  in(most_rows_);
  in(most_bytes_);
  in(dropped_);
  in(dropped_key_);
  in(dropped_bytes_);
  in.require(most_rows_ >= 0 && most_bytes_ >= 0 && !std::isnan(dropped_key_), "a bad bag");
  const std::size_t n = in.count(16);
  entries_.clear();
  bytes_ = 0;
  for (std::size_t k = 0; k < n; ++k) {
    Entry e;
    in(e.key);
    in(e.bytes);
    in.require(!std::isnan(e.key), "a key is NaN");
    require_sound(e.bytes, in);
    in.require(!dropped_ || !(Entry{dropped_key_, dropped_bytes_} < e), "a kept row that was left out");
    bytes_ += static_cast<std::int64_t>(e.bytes.size());
    entries_.push_back(std::move(e));
  }
  in.require(rows() <= most_rows_ && bytes_ <= most_bytes_, "a bag holds more than it may");
  std::make_heap(entries_.begin(), entries_.end());
}

}  // namespace margin
