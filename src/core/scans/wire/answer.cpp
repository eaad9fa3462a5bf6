#include "core/scans/wire/answer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/rounding.hpp"
#include "core/scans/wire/question.hpp"
#include "core/scans/wire/sum_bytes.hpp"

namespace margin {

namespace {

constexpr std::int64_t rows_of_a_class = 4;
constexpr std::int64_t most_rows = std::int64_t{1} << 53;  // counts are exact as doubles
// What PostgreSQL can hold in one value, less what else is in an answer.
constexpr double most_bytes = 9e8;

/// Calls f(row, first column, columns) for all of a matrix in pieces, between which a cancel is heard.
template <class F>
void for_pieces(Eigen::Index rows, Eigen::Index columns, const Progress& progress, F&& f) {
  constexpr Eigen::Index piece = 65536;
  for (Eigen::Index k = 0; k < rows; ++k)
    for (Eigen::Index from = 0; from < columns; from += piece) {
      const Eigen::Index size = std::min(piece, columns - from);
      f(k, from, size);
      progress.work(4.0 * static_cast<double>(size));
    }
}

double nothing(char reduction) { return reduction == '+' ? 0 : reduction == '<' ? infinity : -infinity; }

}  // namespace

void Answer::take_form(const AnswerForm& form) {
  form_ = form;
  reductions_ = std::string(form.reductions);
  form_.reductions = {};  // reductions_ owns it
  require_room(form.dimensions);
  known_ = true;
  sums_ = ExactSums(reductions_.size());
  extremes_.resize(reductions_.size());
  kept_.clear();
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    extremes_[k] = nothing(reductions_[k]);
    if (reductions_[k] != '+') kept_.push_back(k);
  }
  masses_.assign(static_cast<std::size_t>(form.vectors), {});
  total_ = block_ = Weights::Zero(form.vectors, 0);
  matrices_.resize(static_cast<std::size_t>(form.matrices));
  bags_.assign(static_cast<std::size_t>(form.bags),
               Bag(form.share_of_rows(), form.share_of_bytes(), form.share_of_small()));
  cells_ = CellSums(form.cells);
  sketches_.assign(static_cast<std::size_t>(form.sketches), {});
  fixed_dimensions_ = form.dimensions > 0;
}

/// Of several parts: they meet here.
void Answer::set_arrived() {
  arrived_ = true;
  for (Bag& bag : bags_) bag.widen(form_.bag_rows, form_.bag_bytes, form_.bag_small);
}

void Answer::require_form(const AnswerForm& f) const {
  if (f.question == form_.question && f.reductions == reductions_ && f.vectors == form_.vectors &&
      f.matrices == form_.matrices && f.dimensions == form_.dimensions && f.constant == form_.constant &&
      f.bags == form_.bags && f.bag_rows == form_.bag_rows && f.bag_bytes == form_.bag_bytes &&
      f.bag_small == form_.bag_small && f.parts == form_.parts && f.labels == form_.labels &&
      f.columns == form_.columns && f.cells == form_.cells && f.sketches == form_.sketches)
    return;
  throw Error(ErrorKind::invalid_value, "the terms of different questions or models cannot be added up",
              "Use GROUP BY, so that each sum has the terms of one only.");
}

void Answer::require_room(std::int32_t dimensions) const {
  if (sum_bytes(form_, dimensions) + 2 * features_.bytes() <= most_bytes) return;
  throw Error(ErrorKind::limit_exceeded,
              "the sums over rows of " + std::to_string(dimensions) + " features do not fit into a margin_state",
              "Leave features out, or hash them into fewer (margin_hashed_features).");
}

void Answer::resize(std::int32_t dimensions, const Progress& progress) {
  dimensions_ = dimensions;
  require_room(dimensions);
  if (!has_sums()) {
    total_ = block_ = Weights::Zero(form_.vectors, 0);
  } else if (total_.cols() < dimensions) {
    // By halves more than needed where rows do not say how far they reach.
    const Eigen::Index room = dimensions + (fixed_dimensions_ ? Eigen::Index{0} : Eigen::Index{dimensions} / 2);
    const Eigen::Index before = total_.cols();
    for (Weights* const sum : {&total_, &block_}) {
      Weights wider(sum->rows(), room);
      for_pieces(sum->rows(), room, progress, [&](Eigen::Index k, Eigen::Index from, Eigen::Index size) {
        wider.row(k).segment(from, size).setZero();
      });
      for_pieces(sum->rows(), before, progress, [&](Eigen::Index k, Eigen::Index from, Eigen::Index size) {
        wider.row(k).segment(from, size) = sum->row(k).segment(from, size);
      });
      sum->swap(wider);
    }
  }
  for (std::unique_ptr<Matrix>& m : matrices_) {
    if (dimensions > most_matrix_columns) {
      m.reset();
      continue;
    }
    const auto size = static_cast<std::size_t>(dimensions);
    auto wider = std::make_unique<Matrix>(size, form_.constant, progress);
    if (m != nullptr) {
      m->block.flush(1.0, m->sum, progress);
      const std::size_t constant = form_.constant != 0 ? 1 : 0, before = m->sum.size() - constant;
      const auto place = [&](std::size_t j) { return j < before ? j : size; };
      for (std::size_t i = 0; i < m->sum.size(); ++i) {
        for (std::size_t j = i; j < m->sum.size(); ++j) wider->sum.row(place(i))[place(j)] = m->sum.row(i)[j];
        progress.work(static_cast<double>(m->sum.size() - i));
      }
    }
    m = std::move(wider);
  }
}

void Answer::reach_dimensions(const FeatureRow& x, const Progress& progress) {
  const bool sparse = x.indices != nullptr;
  const std::int32_t needed = reach(x), stated = x.dimensions;
  if (!sparse || stated > 0) {
    if (fixed_dimensions_ ? stated != dimensions_ : stated < dimensions_)
      throw Error(ErrorKind::wrong_dimensions,
                  "expected " + std::to_string(dimensions_) + " features, not " + std::to_string(stated),
                  "All rows of one training must have the same number of features.");
    const bool first = !fixed_dimensions_;
    fixed_dimensions_ = true;
    if (first) resize(stated, progress);
  }
  if (needed > dimensions_) {
    if (fixed_dimensions_)
      throw Error(ErrorKind::wrong_dimensions, "feature " + std::to_string(needed) + " is beyond the " +
                                                   std::to_string(dimensions_) + " features of the other rows");
    resize(needed, progress);
  }
}

void Answer::keep(std::size_t k, double value) {
  extremes_[k] = reductions_[k] == '<' ? std::min(extremes_[k], value) : std::max(extremes_[k], value);
}

void Answer::add_class(const Term& t) {
  auto found = classes_.find(t.label);
  if (found == classes_.end()) {
    if (classes_.size() == most_classes)
      throw Error(ErrorKind::limit_exceeded,
                  "the label has more than " + std::to_string(most_classes) + " distinct values",
                  "For a regression give loss => 'squared' (and lambda).");
    found = classes_.emplace(std::string(t.label), SeenClass{}).first;
    found->second.key = t.label_key;
    found->second.number = t.label_number;
    found->second.first = Bag(rows_of_a_class, std::numeric_limits<std::int64_t>::max());
    require_room(dimensions_);
  }
  SeenClass& c = found->second;
  ++c.rows;
  c.weight.add(t.weight);
  c.first.add(t, t.keys[0]);
}

void Answer::add(const Term& t, const Progress& progress) {
  if (known_) {
    require_form(t.form);
  } else {
    take_form(t.form);
    resize(form_.dimensions, progress);
  }
  if (t.skipped) {
    ++skipped_;
    return;
  }
  reach_dimensions(t.x, progress);
  if (form_.columns && !features_.all()) {
    features_.add(t.x);
    if (features_.bytes() > most_bytes / 4) require_room(dimensions_);
  }
  sparse_input_ |= t.sparse_input;
  ++rows_;
  fingerprint_ += t.fingerprint;
  sums_.add(t.numbers);
  for (const std::size_t k : kept_) keep(k, t.numbers[k]);
  const std::int32_t vectors = has_sums() ? t.coefficient_count : 0;
  for (std::int32_t k = 0; k < vectors; ++k) {
    const Entry& c = t.coefficients[k];
    margin::add(c.value, t.x, block_.row(c.at).data());
    masses_[static_cast<std::size_t>(c.at)].add(c.value * form_.constant);
  }
  block_work_ += static_cast<double>(vectors) * t.x.count;
  for (std::int32_t k = 0; k < form_.matrices && has_matrices(); ++k) {
    Matrix& m = *matrices_[static_cast<std::size_t>(k)];
    if (t.curvatures[k] > 0) m.block.add(t.x, t.curvatures[k], 1.0, m.sum, progress);
  }
  for (std::size_t k = 0; k < bags_.size(); ++k)
    if (bags_[k].wants(t.keys[k])) bags_[k].add(t, t.keys[k]);
  if (form_.labels) add_class(t);
  for (std::int32_t k = 0; k < t.cell_count; ++k) cells_.add(t.cells[k].at, t.cells[k].value);
  for (std::int32_t k = 0; k < t.point_count; ++k)
    sketches_[static_cast<std::size_t>(t.points[k].at)].add(t.points[k].value, t.weight);
  if (vectors > 0 && ++block_rows_ >= 512 && block_work_ >= 8.0 * static_cast<double>(block_.size()))
    flush_block(progress);
  progress.work(32.0 + 4.0 * t.x.count);
}

void Answer::flush_block(const Progress& progress) {
  if (block_rows_ == 0) return;
  for_pieces(block_.rows(), block_.cols(), progress, [&](Eigen::Index k, Eigen::Index from, Eigen::Index size) {
    total_.row(k).segment(from, size) += block_.row(k).segment(from, size);
    block_.row(k).segment(from, size).setZero();
  });
  ++blocks_;
  longest_ = std::max(longest_, block_rows_);
  block_rows_ = 0;
  block_work_ = 0;
}

void Answer::flush_matrices(const Progress& progress) {
  for (const std::unique_ptr<Matrix>& m : matrices_)
    if (m != nullptr && has_matrices()) m->block.flush(1.0, m->sum, progress);
}

Answer::Matrix::Matrix(std::size_t features, double constant, const Progress& progress)
    : block(features, constant), sum(0) {
  sum.reset(features + (constant != 0 ? 1 : 0), progress);
}

SymmetricMatrix Answer::Matrix::flushed(const Progress& progress) const {
  SymmetricMatrix all(0);
  all.reset(sum.size(), progress);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    std::copy(sum.row(i) + i, sum.row(i) + sum.size(), all.row(i) + i);
    progress.work(static_cast<double>(sum.size() - i));
  }
  GramBlock rest = block;
  rest.flush(1.0, all, progress);
  return all;
}

void Answer::add_matrix(const SymmetricMatrix& theirs, std::size_t k, const Progress& progress) {
  SymmetricMatrix& ours = matrices_[k]->sum;
  const std::size_t constant = form_.constant != 0 ? 1 : 0;
  const auto place = [&](std::size_t j) { return j + constant < theirs.size() ? j : j + ours.size() - theirs.size(); };
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    for (std::size_t j = i; j < theirs.size(); ++j) ours.row(place(i))[place(j)] += theirs.row(i)[j];
    progress.work(static_cast<double>(theirs.size()));
  }
}

void Answer::merge(const Answer& o, const Progress& progress) {
  if (!o.known_) return;
  bool countable = rows_ <= most_rows - o.rows_ && skipped_ <= most_rows - o.skipped_;
  for (std::size_t k = 0; k < std::min(sketches_.size(), o.sketches_.size()); ++k)
    countable &= sketches_[k].numbers() <= most_rows - o.sketches_[k].numbers();
  if (!countable) throw Error(ErrorKind::limit_exceeded, "a margin_state cannot count more than 2^53 rows");
  AnswerForm form = o.form_;
  form.reductions = o.reductions_;
  if (known_) {
    require_form(form);
  } else {
    take_form(form);
    resize(form_.dimensions, progress);
  }
  if (o.arrived_ && !arrived_) set_arrived();
  skipped_ += o.skipped_;
  if (o.rows_ == 0) return;
  if (fixed_dimensions_ && o.fixed_dimensions_
          ? dimensions_ != o.dimensions_
          : (fixed_dimensions_ && o.dimensions_ > dimensions_) || (o.fixed_dimensions_ && dimensions_ > o.dimensions_))
    throw Error(
        ErrorKind::wrong_dimensions,
        "some rows have " + std::to_string(dimensions_) + " features and others " + std::to_string(o.dimensions_),
        "All rows of one training must have the same number of features.");
  fixed_dimensions_ |= o.fixed_dimensions_;
  if (o.dimensions_ > dimensions_ || (has_sums() && total_.cols() < o.dimensions_)) resize(o.dimensions_, progress);
  features_.merge(o.features_);
  rows_ += o.rows_;
  fingerprint_ += o.fingerprint_;
  sparse_input_ |= o.sparse_input_;
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    if (reductions_[k] == '+')
      sums_.add(k, o.sums_.at(k));
    else
      keep(k, o.extremes_[k]);
  }
  flush_block(progress);
  for_pieces(has_sums() ? total_.rows() : 0, o.dimensions_, progress,
             [&](Eigen::Index k, Eigen::Index from, Eigen::Index size) {
               total_.row(k).segment(from, size) +=
                   o.total_.row(k).segment(from, size) + o.block_.row(k).segment(from, size);
             });
  blocks_ += o.blocks();
  longest_ = std::max(longest_, o.longest_block());
  for (std::size_t k = 0; k < masses_.size(); ++k) masses_[k].add(o.masses_[k]);
  for (std::size_t k = 0; k < matrices_.size() && has_matrices(); ++k) {
    const Matrix& theirs = *o.matrices_[k];
    if (theirs.block.empty())
      add_matrix(theirs.sum, k, progress);
    else
      add_matrix(theirs.flushed(progress), k, progress);
  }
  for (std::size_t k = 0; k < bags_.size(); ++k) bags_[k].merge(o.bags_[k], progress);
  for (const auto& [name, c] : o.classes_) {
    const auto [at, fresh] = classes_.try_emplace(name, c);
    if (fresh) {
      require_room(dimensions_);
      continue;
    }
    SeenClass& ours = at->second;
    ours.rows += c.rows;
    ours.weight.add(c.weight);
    ours.first.merge(c.first, progress);
    if (ours.key != c.key) ours.key = 0;  // the sort positions of an enum differ: order by name
  }
  for (const CellSums::Cell& cell : o.cells_.all()) cells_.add(cell.at, cell.sum);
  for (std::size_t k = 0; k < sketches_.size(); ++k) sketches_[k].merge(o.sketches_[k]);
  if (classes_.size() > most_classes)
    throw Error(ErrorKind::limit_exceeded,
                "the label has more than " + std::to_string(most_classes) + " distinct values",
                "For a regression give loss => 'squared' (and lambda).");
}

Answer Answer::take_part(const AnswerForm& form, const Place& before, const Progress& progress) {
  Answer out;
  if (!known_) return out;
  flush_block(progress);
  flush_matrices(progress);
  const auto at = [](std::int32_t n) { return static_cast<std::size_t>(n); };
  if (form.dimensions != form_.dimensions || before.numbers + form.reductions.size() > reductions_.size() ||
      before.vectors + form.vectors > form_.vectors || before.matrices + form.matrices > form_.matrices ||
      before.bags + form.bags > form_.bags || before.cells + form.cells > form_.cells)
    throw Error(ErrorKind::malformed, "the margin_state is not an answer to this question");
  out.take_form(form);
  if (arrived_) out.set_arrived();
  out.rows_ = rows_;
  out.skipped_ = skipped_;
  out.fingerprint_ = fingerprint_;
  out.fixed_dimensions_ = fixed_dimensions_;
  out.sparse_input_ = sparse_input_;
  out.blocks_ = blocks_;
  out.longest_ = longest_;
  out.resize(dimensions_, progress);
  for (std::size_t k = 0; k < form.reductions.size(); ++k) {
    out.sums_.set(k, sums_.at(before.numbers + k));
    out.extremes_[k] = extremes_[before.numbers + k];
  }
  for_pieces(has_sums() ? form.vectors : 0, dimensions_, progress,
             [&](Eigen::Index k, Eigen::Index from, Eigen::Index size) {
               out.total_.row(k).segment(from, size) = total_.row(before.vectors + k).segment(from, size);
             });
  for (std::int32_t k = 0; k < form.vectors; ++k) out.masses_[at(k)] = masses_[at(before.vectors + k)];
  for (std::int32_t k = 0; k < form.matrices; ++k) out.matrices_[at(k)] = std::move(matrices_[at(before.matrices + k)]);
  for (std::int32_t k = 0; k < form.bags; ++k) out.bags_[at(k)] = std::move(bags_[at(before.bags + k)]);
  for (const CellSums::Cell& cell : cells_.all())
    if (cell.at >= before.cells && cell.at < before.cells + form.cells)
      out.cells_.add(cell.at - before.cells, cell.sum);
  return out;
}

double Answer::number(std::size_t k) const { return reductions_[k] == '+' ? sums_.at(k).value() : extremes_[k]; }

std::vector<double> Answer::numbers() const {
  std::vector<double> all;
  for (std::size_t k = 0; k < reductions_.size(); ++k) all.push_back(number(k));
  return all;
}

std::vector<Entry> Answer::cells() const {
  std::vector<Entry> all;
  for (const CellSums::Cell& cell : cells_.all()) all.push_back({cell.at, cell.sum.value()});
  return all;
}

Weights Answer::sums() const {
  const Eigen::Index columns = has_sums() ? dimensions_ : 0;
  return total_.leftCols(columns) + block_.leftCols(columns);
}

std::int64_t Answer::longest_block() const { return std::max(longest_, block_rows_); }

const SymmetricMatrix& Answer::matrix(std::int32_t k, const Progress& progress) {
  flush_matrices(progress);
  return matrices_[static_cast<std::size_t>(k)]->sum;
}

}  // namespace margin
