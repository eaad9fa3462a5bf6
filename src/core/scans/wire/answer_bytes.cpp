// The answer as bytes, and back: everything that is read is checked, as it may be anybody's.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/scans/wire/answer.hpp"

namespace margin {

namespace {

constexpr std::uint32_t magic = 0x3653544dU;  // "MTS6"

constexpr std::size_t arrived_at = sizeof magic + 1;  // behind whether anything is known

constexpr std::int32_t piece = 65536;  // numbers between two looks at the interrupts

void write(ByteWriter& out, const ExactSum& s) {
  out(s.rounded());
  out(s.lost());
}
ExactSum read_sum(ByteReader& in) {
  double rounded, lost;
  in(rounded);
  in(lost);
  return ExactSum::of(rounded, lost);
}

// Archives for Sketch::exchange.
struct SketchWriter {
  ByteWriter& out;
  void operator()(double& v) { out(v); }
  void operator()(std::int64_t& v) { out(v); }
  void operator()(std::vector<WeightedSketch::Item>& v) { out.sized(v.data(), v.size(), sizeof v[0]); }
};
struct SketchReader {
  ByteReader& in;
  void operator()(double& v) { in(v); }
  void operator()(std::int64_t& v) { in(v); }
  void operator()(std::vector<WeightedSketch::Item>& v) {
    v.resize(in.count(sizeof v[0]));
    in.raw(v.data(), v.size() * sizeof v[0]);
  }
};
static_assert(sizeof(WeightedSketch::Item) == 16);

}  // namespace

std::string Answer::bytes(const Progress& progress) {
  flush_block(progress);
  flush_matrices(progress);
  ByteWriter out;
  out(magic);
  out(known_);
  out(arrived_);
  if (!known_) return std::move(out.bytes());
  out(form_.question);
  out(reductions_);
  for (const std::int32_t n :
       {form_.vectors, form_.matrices, form_.dimensions, form_.bags, form_.cells, form_.sketches})
    out(n);
  out(form_.constant);
  out(form_.bag_rows);
  out(form_.bag_bytes);
  out(form_.bag_small);
  out(form_.parts);
  out(form_.labels);
  out(form_.columns);
  for (const std::int64_t n : {rows_, skipped_, blocks_, longest_}) out(n);
  out(fingerprint_.low);
  out(fingerprint_.high);
  out(dimensions_);
  out(fixed_dimensions_);
  out(sparse_input_);
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    if (reductions_[k] == '+')
      write(out, sums_.at(k));
    else
      out(extremes_[k]);
  }
  for (std::int32_t k = 0; k < form_.vectors; ++k) {
    write(out, masses_[static_cast<std::size_t>(k)]);
    const double* const sum = total_.row(k).data();
    const std::int32_t columns = has_sums() ? dimensions_ : 0;
    for (std::int32_t from = 0; from < columns; from += piece) {
      const std::int32_t size = std::min(piece, columns - from);
      out.raw(sum + from, 8 * static_cast<std::size_t>(size));
      progress.work(4.0 * size);
    }
  }
  for (const std::unique_ptr<Matrix>& m : matrices_) {
    const std::size_t size = m == nullptr ? 0 : m->sum.size();
    for (std::size_t i = 0; i < size; ++i) {
      out.raw(m->sum.row(i) + i, 8 * (size - i));
      progress.work(static_cast<double>(size - i));
    }
  }
  if (form_.columns) features_.write(out);
  for (const Bag& bag : bags_) bag.write(out, progress);
  out(static_cast<std::uint64_t>(classes_.size()));
  for (const auto& [name, c] : classes_) {
    out(name);
    out(c.key);
    out(c.number);
    out(c.rows);
    write(out, c.weight);
    c.first.write(out, progress);
  }
  const std::vector<CellSums::Cell> filled = cells_.all();
  out(static_cast<std::uint64_t>(filled.size()));
  for (const CellSums::Cell& cell : filled) {
    out(cell.at);
    write(out, cell.sum);
  }
  SketchWriter archive{out};
  for (WeightedSketch& sketch : sketches_) {
    sketch.exchange(archive);
    progress.work(16.0 * WeightedSketch::exact_limit);
  }
  return std::move(out.bytes());
}

template <class Classes>
static void read_classes(ByteReader& in, std::int64_t rows, Classes& into, const Progress& progress) {
  const std::size_t count = in.count(8);
  for (std::size_t k = 0; k < count; ++k) {
    std::string name;
    typename Classes::mapped_type c;
    in(name);
    in(c.key);
    in(c.number);
    in(c.rows);
    c.weight = read_sum(in);
    c.first.read(in, progress);
    in.require(!std::isnan(c.key) && c.rows >= 0 && c.rows <= rows, "a bad class");
    in.require(into.emplace(std::move(name), std::move(c)).second, "a class occurs twice");
  }
}

/// What was asked, as far as the bytes bound it: the sizes of what follows are still to be held against them.
static AnswerForm read_form(ByteReader& in, std::string& reductions) {
  AnswerForm f;
  in(f.question);
  in(reductions);
  in.require(reductions.find_first_not_of("+<>") == std::string::npos, "an unknown reduction");
  for (std::int32_t* const n : {&f.vectors, &f.matrices, &f.dimensions, &f.bags, &f.cells, &f.sketches}) {
    in(*n);
    in.require(*n >= 0, "a size is negative");
  }
  in.require(f.sketches <= most_sketches, "a bad number of sketches");
  // Without columns a matrix has no bytes that would bound their number.
  in.require(static_cast<std::size_t>(f.matrices) <= reductions.size(), "more matrices than numbers");
  in(f.constant);
  in(f.bag_rows);
  in(f.bag_bytes);
  in(f.bag_small);
  in(f.parts);
  in(f.labels);
  in(f.columns);
  in.require(std::isfinite(f.constant) && f.constant >= 0 && f.bag_rows >= 0 && f.bag_bytes >= 0 && f.bag_small >= 0 &&
                 f.parts >= 1 && f.parts <= most_parts,
             "a bad form");
  return f;
}

void Answer::mark_arrived(char* bytes) { bytes[arrived_at] = 1; }

/// Its numbers, vectors of `columns` and matrices, for which there is room.
void Answer::read_sums(ByteReader& in, std::int32_t columns, const Progress& progress) {
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    if (reductions_[k] == '+')
      sums_.set(k, read_sum(in));
    else
      in(extremes_[k]);
  }
  for (std::int32_t k = 0; k < form_.vectors; ++k) {
    masses_[static_cast<std::size_t>(k)] = read_sum(in);
    double* const sum = total_.row(k).data();
    for (std::int32_t from = 0; from < columns; from += piece) {
      const std::int32_t size = std::min(piece, columns - from);
      in.raw(sum + from, 8 * static_cast<std::size_t>(size));
      progress.work(4.0 * size);
    }
  }
  for (const std::unique_ptr<Matrix>& m : matrices_) {
    const std::size_t size = m == nullptr ? 0 : m->sum.size();
    for (std::size_t i = 0; i < size; ++i) {
      in.raw(m->sum.row(i) + i, 8 * (size - i));
      progress.work(static_cast<double>(size - i));
    }
  }
}

Answer Answer::from_bytes(std::string_view bytes, const Progress& progress) {
  ByteReader in(bytes, "margin_state");
  std::uint32_t first;
  in(first);
  in.require(first == magic, "bad magic number");
  Answer a;
  bool known, arrived;
  in(known);
  in(arrived);
  if (!known) {
    in.finish();
    return a;
  }
  std::string reductions;
  AnswerForm f = read_form(in, reductions);
  f.reductions = reductions;
  std::int64_t rows, skipped, blocks, longest;
  for (std::int64_t* const n : {&rows, &skipped, &blocks, &longest}) {
    in(*n);
    in.require(*n >= 0 && *n <= (std::int64_t{1} << 53), "a bad count");
  }
  in(a.fingerprint_.low);
  in(a.fingerprint_.high);
  in.require(rows > 0 || a.fingerprint_ == Fingerprint(), "a fingerprint of no row");
  std::int32_t dimensions;
  bool fixed;
  in(dimensions);
  in(fixed);
  in(a.sparse_input_);
  in.require(dimensions >= 0 && (f.dimensions == 0 || (dimensions == f.dimensions && fixed)),
             "a bad number of features");
  // What follows has at least these bytes: nothing is allocated for less.
  const double columns = dimensions + (f.constant != 0 ? 1.0 : 0.0);
  const bool narrow = dimensions <= most_matrix_columns;
  const double matrices = narrow ? f.matrices * columns * (columns + 1) / 2 : 0;
  const std::int32_t summed = !f.columns || narrow ? dimensions : 0;
  in.require(8.0 * f.vectors * (summed + 2.0) + 8 * matrices + 33.0 * f.bags <= static_cast<double>(in.left()),
             "it ends early");
  const std::int32_t asked = f.dimensions;
  f.dimensions = 0;  // so that nothing is made of a size that the rows do not have
  a.take_form(f);
  a.form_.dimensions = asked;
  a.fixed_dimensions_ = fixed;
  a.rows_ = rows;
  a.skipped_ = skipped;
  a.blocks_ = blocks;
  a.longest_ = longest;
  a.resize(dimensions, progress);
  a.read_sums(in, summed, progress);
  if (f.columns) a.features_.read(in, dimensions);
  for (Bag& bag : a.bags_) bag.read(in, progress);
  if (arrived) a.set_arrived();
  read_classes(in, rows, a.classes_, progress);
  const std::size_t filled = in.count(24);
  std::int64_t last = -1;
  for (std::size_t k = 0; k < filled; ++k) {
    std::int64_t at;
    in(at);
    in.require(at > last && at < f.cells, "a bad cell");
    last = at;
    a.cells_.add(at, read_sum(in));
  }
  SketchReader archive{in};
  for (WeightedSketch& sketch : a.sketches_) {
    in.require(sketch.exchange(archive), "a bad sketch");
    progress.work(16.0 * WeightedSketch::exact_limit);
  }
  in.finish();
  return a;
}

}  // namespace margin
