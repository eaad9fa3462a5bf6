#include "core/scans/wire/term.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/data/sparse_vector.hpp"

namespace margin {

namespace {

constexpr std::uint32_t term_magic = 0x354d544dU;  // "MTM5"
// Sums over vectors, of which a term says only how many there are, for each number: 64 rings of four sides for a value,
// 4,096 groups of rows (question.cpp) for eight.
constexpr std::size_t most_vectors = 512;
enum TermFlags : std::uint32_t {
  skipped = 1,
  sparse_input = 2,
  sparse_row = 4,
  wide_row = 8,
  labels = 16,
  number = 32,
  columns = 64,
  all = 127
};

/// The beginning of the bytes; the arrays follow, those of doubles first.
struct TermHead {
  std::uint32_t magic, flags;
  std::uint64_t question;
  std::int32_t numbers, vectors, matrices, form_dimensions, bags, form_cells, form_sketches, coefficients, cells,
      points;
  std::int32_t count, dimensions, label_size, label_class, parts, bag_small;
  double constant;
  std::int64_t bag_rows, bag_bytes;
  double label_key, lower, upper, weight;
  Fingerprint fingerprint;
};
static_assert(sizeof(TermHead) == 152 && std::is_trivially_copyable_v<TermHead>);

/// Where the parts lie, from the head alone.
struct TermLayout {
  explicit TermLayout(const TermHead& h) {
    const auto size = [](std::int32_t n) { return static_cast<std::size_t>(n); };
    numbers = sizeof(TermHead);
    curvatures = numbers + 8 * size(h.numbers);
    keys = curvatures + 8 * size(h.matrices);
    coefficients = keys + 8 * size(h.bags);
    cells = coefficients + sizeof(Entry) * size(h.coefficients);
    points = cells + sizeof(Entry) * size(h.cells);
    values = points + sizeof(Entry) * size(h.points);
    indices = values + size(h.count) * ((h.flags & wide_row) != 0 ? 8 : 4);
    reductions = indices + ((h.flags & sparse_row) != 0 ? 4 * size(h.count) : 0);
    label = reductions + size(h.numbers);
    end = label + size(h.label_size);
  }
  std::size_t numbers, curvatures, keys, coefficients, cells, points, values, indices, reductions, label, end;
};

TermHead head_of(const Term& t) {
  TermHead h{};
  h.magic = term_magic;
  h.flags = (t.skipped ? skipped : 0U) | (t.sparse_input ? sparse_input : 0U) |
            (t.x.indices != nullptr ? sparse_row : 0U) | (t.x.wide ? wide_row : 0U) | (t.form.labels ? labels : 0U) |
            (t.label_number ? number : 0U) | (t.form.columns ? columns : 0U);
  h.question = t.form.question;
  h.numbers = static_cast<std::int32_t>(t.form.reductions.size());
  h.vectors = t.form.vectors;
  h.matrices = t.form.matrices;
  h.form_dimensions = t.form.dimensions;
  h.bags = t.form.bags;
  h.form_cells = t.form.cells;
  h.form_sketches = t.form.sketches;
  h.coefficients = t.coefficient_count;
  h.cells = t.cell_count;
  h.points = t.point_count;
  h.count = t.skipped ? 0 : t.x.count;
  h.dimensions = t.x.dimensions;
  h.label_size = static_cast<std::int32_t>(t.label.size());
  h.label_class = t.label_class;
  h.constant = t.form.constant;
  h.bag_rows = t.form.bag_rows;
  h.bag_bytes = t.form.bag_bytes;
  h.parts = t.form.parts;
  h.bag_small = t.form.bag_small;
  h.label_key = t.label_key;
  h.lower = t.lower;
  h.upper = t.upper;
  h.weight = t.weight;
  h.fingerprint = t.fingerprint;
  return h;
}

Term term_of(const TermHead& h, const char* bytes) {
  const TermLayout at(h);
  const auto doubles = [&](std::size_t offset) { return reinterpret_cast<const double*>(bytes + offset); };
  const auto entries = [&](std::size_t offset) { return reinterpret_cast<const Entry*>(bytes + offset); };
  const std::size_t numbers = static_cast<std::size_t>(h.numbers);
  // In the order of the members, each of which is written once: a term is read
  // for every row.
  return {{h.question,
           {bytes + at.reductions, numbers},
           h.vectors,
           h.matrices,
           h.form_dimensions,
           h.constant,
           h.bags,
           h.bag_rows,
           h.bag_bytes,
           h.bag_small,
           h.parts,
           (h.flags & labels) != 0,
           (h.flags & columns) != 0,
           h.form_cells,
           h.form_sketches},
          (h.flags & skipped) != 0,
          doubles(at.numbers),
          entries(at.coefficients),
          doubles(at.curvatures),
          entries(at.cells),
          entries(at.points),
          h.coefficients,
          h.cells,
          h.points,
          {{bytes + at.values,
            (h.flags & sparse_row) != 0 ? reinterpret_cast<const std::int32_t*>(bytes + at.indices) : nullptr, h.count,
            (h.flags & wide_row) != 0},
           h.dimensions},
          (h.flags & sparse_input) != 0,
          {bytes + at.label, static_cast<std::size_t>(h.label_size)},
          h.label_key,
          (h.flags & number) != 0,
          h.label_class,
          h.lower,
          h.upper,
          h.weight,
          h.fingerprint,
          doubles(at.keys)};
}

void require(bool sound, const char* problem) {
  if (!sound) throw Error(ErrorKind::malformed, std::string("malformed margin_term: ") + problem);
}

void require_sound(const Term& t) {
  require(t.form.vectors >= 0 && t.form.bags >= 0 && t.form.bag_rows >= 0 && t.form.bag_bytes >= 0 &&
              t.form.bag_small >= 0 && t.form.parts >= 1 && t.form.parts <= most_parts && t.form.dimensions >= 0 &&
              t.form.cells >= 0,
          "a size is negative");
  require(static_cast<std::size_t>(t.form.vectors) <= most_vectors * (t.form.reductions.size() + 8), "too many sums");
  require(t.form.sketches >= 0 && t.form.sketches <= most_sketches, "a bad number of sketches");
  require(t.form.reductions.find_first_not_of("+<>") == std::string_view::npos, "an unknown reduction");
  require(std::isfinite(t.form.constant) && t.form.constant >= 0, "a bad constant feature");
  require(!t.form.labels || t.form.bags > 0, "labels without a bag");
  require(t.weight >= 0 && std::isfinite(t.weight), "a bad weight");
  for (std::int32_t k = 0; k < t.form.bags; ++k) require(!std::isnan(t.keys[k]), "a key is NaN");
  require(!std::isnan(t.label_key) && !std::isnan(t.lower) && !std::isnan(t.upper), "a number is NaN");
  require(t.label_class >= -1, "a negative class");
  for (std::int32_t k = 0; k < t.coefficient_count; ++k)
    require(t.coefficients[k].at >= 0 && t.coefficients[k].at < t.form.vectors, "a coefficient of an unknown sum");
  for (std::int32_t k = 0; k < t.cell_count; ++k)
    require(t.cells[k].at >= 0 && t.cells[k].at < t.form.cells && std::isfinite(t.cells[k].value), "a bad cell");
  for (std::int32_t k = 0; k < t.point_count; ++k)
    require(t.points[k].at >= 0 && t.points[k].at < t.form.sketches && t.weight > 0, "a bad point of a sketch");
  const FeatureRow& x = t.x;
  const bool whole = x.indices == nullptr && !t.skipped;
  require(x.dimensions >= 0 && (!whole || x.dimensions == x.count), "a bad number of features");
  require(!whole || t.form.dimensions == 0 || t.form.dimensions == x.dimensions, "features that the form has not");
  const auto n = static_cast<std::size_t>(x.count);
  require(x.wide ? simd().finite_d(x.doubles(), n) : simd().finite_f(x.floats(), n), "a feature is not finite");
  require(x.indices == nullptr || sound_indices(x), "indices that do not increase, or are out of range");
  const std::int32_t most = t.form.dimensions > 0 ? t.form.dimensions : x.dimensions;
  require(most == 0 || reach(x) <= most, "a feature beyond the number of features");
  for (std::int32_t k = 0; k < t.form.matrices; ++k)
    require(t.curvatures[k] >= 0 && std::isfinite(t.curvatures[k]), "a bad curvature");
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t h = seed ^ (0x9e3779b97f4a7c15ULL * (bytes.size() + 1));
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min<std::size_t>(8, bytes.size());
    std::memcpy(&word, bytes.data(), size);
    h = (h ^ word) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
    bytes.remove_prefix(size);
  }
  return Random(h).next();
}

TermWriter::TermWriter(const Term& t) : term_(t) {
  const auto size = [](std::int32_t n) { return static_cast<std::size_t>(n); };
  const std::size_t n = t.skipped ? 0 : size(t.x.count);
  values_ = sizeof(TermHead) + 8 * (t.form.reductions.size() + size(t.form.matrices) + size(t.form.bags)) +
            sizeof(Entry) * (size(t.coefficient_count) + size(t.cell_count) + size(t.point_count));
  indices_ = values_ + n * (t.x.wide ? 8 : 4);
  end_ = indices_ + (t.x.indices != nullptr ? 4 * n : 0) + t.form.reductions.size() + t.label.size();
}

void TermWriter::write(char* to) const {
  const Term& t = term_;
  new (to) TermHead(head_of(t));  // in its place: a copy would wait for the parts just written
  char* at = to + sizeof(TermHead);
  const auto put = [&](const void* from, std::size_t size) {
    if (size > 0) std::memcpy(at, from, size);
    at += size;
  };
  const auto size = [](std::int32_t n) { return static_cast<std::size_t>(n); };
  put(t.numbers, 8 * t.form.reductions.size());
  put(t.curvatures, 8 * size(t.form.matrices));
  put(t.keys, 8 * size(t.form.bags));
  put(t.coefficients, sizeof(Entry) * size(t.coefficient_count));
  put(t.cells, sizeof(Entry) * size(t.cell_count));
  put(t.points, sizeof(Entry) * size(t.point_count));
  put(t.x.values, indices_ - values_);
  put(t.x.indices, end_ - t.form.reductions.size() - t.label.size() - indices_);
  put(t.form.reductions.data(), t.form.reductions.size());
  put(t.label.data(), t.label.size());
}

std::string term_bytes(const Term& term) {
  const TermWriter writer(term);
  std::string bytes(writer.size(), '\0');
  writer.write(bytes.data());
  return bytes;
}

Term read_trusted_term(const char* bytes) { return term_of(*reinterpret_cast<const TermHead*>(bytes), bytes); }

Term read_term(std::string_view bytes) {
  require(bytes.size() >= sizeof(TermHead), "it ends early");
  TermHead h;
  std::memcpy(&h, bytes.data(), sizeof h);
  require(h.magic == term_magic, "bad magic number");
  require((h.flags & ~static_cast<std::uint32_t>(all)) == 0, "unknown flags");
  for (const std::int32_t n : {h.numbers, h.matrices, h.bags, h.coefficients, h.cells, h.points, h.count, h.label_size})
    require(n >= 0 && static_cast<std::size_t>(n) <= bytes.size(), "a count is larger than what follows");
  require(TermLayout(h).end == bytes.size(), "its length does not match its parts");
  const Term t = term_of(h, bytes.data());
  require_sound(t);
  return t;
}

}  // namespace margin
