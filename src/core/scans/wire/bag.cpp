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

constexpr std::size_t whole_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

Head head_of_kept(const Term& t) {
  return {t.x.count,
          t.x.dimensions,
          (t.x.indices != nullptr ? sparse : 0) | (t.x.wide ? wide : 0),
          static_cast<std::int32_t>(t.label.size()),
          t.label_class,
          0,
          t.label_key,
          t.lower,
          t.upper,
          t.weight};
}

void write_row(const Head& h, const Term& t, char* to) {
  const Layout at(h);
  std::memcpy(to, &h, sizeof h);
  if (t.x.count > 0) std::memcpy(to + sizeof h, t.x.values, at.indices - sizeof h);
  if (t.x.indices != nullptr && t.x.count > 0) std::memcpy(to + at.indices, t.x.indices, at.label - at.indices);
  std::copy(t.label.begin(), t.label.end(), to + at.label);
}

KeptRow view(std::string_view bytes) {
  Head h;
  std::memcpy(&h, bytes.data(), sizeof h);
  const Layout at(h);
  KeptRow r;
  r.x.values = bytes.data() + sizeof h;
  r.x.indices = (h.flags & sparse) != 0 ? reinterpret_cast<const std::int32_t*>(bytes.data() + at.indices) : nullptr;
  r.x.count = h.count;
  r.x.wide = (h.flags & wide) != 0;
  r.x.dimensions = h.dimensions;
  r.label = bytes.substr(at.label);
  r.label_key = h.label_key;
  r.label_class = h.label_class;
  r.lower = h.lower;
  r.upper = h.upper;
  r.weight = h.weight;
  return r;
}

void require_sound(std::string_view bytes, const ByteReader& in) {
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
  if (!wants(key)) return;
  const Head head = head_of_kept(term);
  write_row(head, term, put(key, Layout(head).end));
  settle_last();
}

/// The row that was put last goes where it comes behind one that was left out. An equal one may be another row of the same bytes,
/// for which there was room.
void Bag::settle_last() {
  const Entry& last = entries_.back();
  if (!left_out(last.key, bytes_of(last))) return;
  bytes_ -= static_cast<std::int64_t>(last.size);
  vacate(last);
  entries_.pop_back();
}

void Bag::vacate(const Entry& e) const { free_.push_back({e.begin, whole_words(e.size)}); }

/// Room for one more row, which is to be written.
char* Bag::put(double key, std::size_t size) {
  constexpr std::size_t few = 16;
  const std::size_t fit = std::max(static_cast<std::size_t>(most_rows_), fitting_);
  if (entries_.size() > fit + fit / 4 + few || bytes_ - most_bytes_ > most_bytes_ / 4) trim();
  std::size_t begin = room_.size();
  if (!free_.empty() && free_.back().size >= size) {
    begin = free_.back().begin;
    free_.pop_back();
  } else {
    room_.resize(begin + whole_words(size));
  }
  entries_.push_back({key, begin, size});
  bytes_ += static_cast<std::int64_t>(size);
  return room_.data() + begin;
}

/// Of more rows than may be, those from `first` on, all of which come behind the others.
void Bag::drop_from(std::size_t first) const {
  const auto from = entries_.begin() + static_cast<std::ptrdiff_t>(first);
  const Entry smallest =
      *std::min_element(from, entries_.end(), [&](const Entry& a, const Entry& b) { return before(a, b); });
  dropped_ = true;  // it comes before what was left out so far: nothing else is here
  dropped_key_ = smallest.key;
  dropped_bytes_ = bytes_of(smallest);
  std::for_each(from, entries_.end(), [&](const Entry& e) { vacate(e); });
  entries_.erase(from, entries_.end());
}

/// How many of the smallest may stay.
std::int64_t Bag::rows_allowed() const {
  if (most_small_ <= most_rows_) return most_rows_;
  const auto small = std::count_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.key < small_key; });
  return std::clamp<std::int64_t>(small, most_rows_, most_small_);
}

/// Leaves the longest beginning that fits.
void Bag::trim() const {
  if (entries_.size() <= std::max(static_cast<std::size_t>(most_rows_), fitting_) && bytes_ <= most_bytes_) return;
  const auto order = [&](const Entry& a, const Entry& b) { return before(a, b); };
  const std::int64_t allowed = rows_allowed();
  if (static_cast<std::int64_t>(entries_.size()) > allowed) {
    std::nth_element(entries_.begin(), entries_.begin() + allowed, entries_.end(), order);
    drop_from(static_cast<std::size_t>(allowed));
  }
  const auto sizes = [&](auto f) {
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if (!f(k, bytes += static_cast<std::int64_t>(entries_[k].size))) break;
    return bytes;
  };
  bytes_ = sizes([](std::size_t, std::int64_t) { return true; });
  if (bytes_ > most_bytes_) {
    std::sort(entries_.begin(), entries_.end(), order);
    std::size_t fitting = 0;
    sizes([&](std::size_t k, std::int64_t bytes) {
      fitting = k;
      return bytes <= most_bytes_;
    });
    drop_from(fitting);
    bytes_ = sizes([](std::size_t, std::int64_t) { return true; });
  }
  fitting_ = entries_.size();
  // Of rows of one size as many are free now as are to come.
  if (room_.size() / 3 * 2 > static_cast<std::size_t>(bytes_) + 8 * entries_.size()) pack();
}

/// Rows without gaps, from the first one on: none moves to where one is that has not moved yet.
void Bag::pack() const {
  std::vector<Entry*> order;
  order.reserve(entries_.size());
  for (Entry& e : entries_) order.push_back(&e);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return a->begin < b->begin; });
  std::size_t end = 0;
  for (Entry* const e : order) {
    std::memmove(room_.data() + end, room_.data() + e->begin, e->size);
    e->begin = end;
    end += whole_words(e->size);
  }
  room_.resize(end);
  free_.clear();
}

void Bag::merge(const Bag& other, const Progress& progress) {
  other.trim();
  if (other.dropped_) {
    if (!dropped_ || other.dropped_key_ < dropped_key_ ||
        (other.dropped_key_ == dropped_key_ && other.dropped_bytes_ < dropped_bytes_)) {
      dropped_ = true;
      dropped_key_ = other.dropped_key_;
      dropped_bytes_ = other.dropped_bytes_;
    }
    const auto beyond =
        std::partition(entries_.begin(), entries_.end(), [&](const Entry& e) { return !left_out(e.key, bytes_of(e)); });
    for (auto at = beyond; at != entries_.end(); ++at) {
      bytes_ -= static_cast<std::int64_t>(at->size);
      vacate(*at);
    }
    entries_.erase(beyond, entries_.end());
    fitting_ = 0;  // others may come in the place of these
  }
  for (const Entry& e : other.entries_) {
    const std::string_view row = other.bytes_of(e);
    if (left_out(e.key, row)) continue;
    std::copy(row.begin(), row.end(), put(e.key, row.size()));
    settle_last();
    progress.work(static_cast<double>(row.size()));
  }
}

void Bag::sort() {
  trim();
  std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) { return before(a, b); });
}

KeptRow Bag::row(std::int64_t i) const { return view(row_bytes(i)); }

void Bag::write(ByteWriter& out, const Progress& progress) const {
  trim();
  out(most_rows_);
  out(most_bytes_);
  out(most_small_);
  out(dropped_);
  out(dropped_key_);
  out(dropped_bytes_);
  std::vector<const Entry*> sorted;
  for (const Entry& e : entries_) sorted.push_back(&e);
  std::sort(sorted.begin(), sorted.end(), [&](const Entry* a, const Entry* b) { return before(*a, *b); });
  out(static_cast<std::uint64_t>(sorted.size()));
  for (const Entry* const e : sorted) {
    out(e->key);
    out.sized(bytes_of(*e).data(), e->size, 1);
    progress.work(static_cast<double>(e->size));
  }
}

void Bag::read(ByteReader& in, const Progress& progress) {
  in(most_rows_);
  in(most_bytes_);
  in(most_small_);
  in(dropped_);
  in(dropped_key_);
  in(dropped_bytes_);
  in.require(most_rows_ >= 0 && most_bytes_ >= 0 && most_small_ >= 0 && !std::isnan(dropped_key_), "a bad bag");
  const std::size_t n = in.count(16);
  const bool grown = static_cast<std::int64_t>(n) > most_rows_;
  in.require(!grown || static_cast<std::int64_t>(n) <= most_small_, "a bag holds more than it may");
  entries_.clear();
  room_.clear();
  free_.clear();
  bytes_ = 0;
  fitting_ = n;
  for (std::size_t k = 0; k < n; ++k) {
    double key;
    in(key);
    in.require(!std::isnan(key), "a key is NaN");
    in.require(!grown || key < small_key, "a bag holds more than it may");
    const std::size_t size = in.count(1);
    in.raw(put(key, size), size);
    require_sound(row_bytes(static_cast<std::int64_t>(k)), in);
    in.require(!left_out(key, row_bytes(static_cast<std::int64_t>(k))), "a kept row that was left out");
    in.require(bytes_ <= most_bytes_, "a bag holds more than it may");
    progress.work(static_cast<double>(size));
  }
}

}  // namespace margin
