// The answer to a question: what all rows together add to it. It only adds numbers and rows up, keeps extremes, and
// collects a few rows, so that answers of parts of the rows merge into the answer of all. As bytes it is what SQL calls a
// margin_state.
//
// Of the same rows, counts, extremes, classes and kept rows have the same bits in whatever order and parts they come;
// sums differ by their rounding.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/matrix.hpp"
#include "core/base/progress.hpp"
#include "core/math/exact_sums.hpp"
#include "core/math/quantile_sketch.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/scans/wire/bag.hpp"
#include "core/scans/wire/cell_sums.hpp"
#include "core/scans/wire/feature_set.hpp"
#include "core/scans/wire/term.hpp"
#include "core/solvers/newton/gram.hpp"

namespace margin {

/// A class that some row has.
struct SeenClass {
  double key = 0;
  bool number = false;
  std::int64_t rows = 0;
  ExactSum weight;
  Bag first;  ///< a few of its rows
};

class Answer {
 public:
  /// Throws Error: of another question (invalid_value), other dimensions (wrong_dimensions), too many classes or columns
  /// (limit_exceeded).
  void add(const Term& term, const Progress& progress = {});
  void merge(const Answer& other, const Progress& progress = {});

  bool empty() const { return !known_; }
  /// Throws Error(invalid_value) for another form.
  void require_form(const AnswerForm& form) const;
  std::uint64_t question() const { return form_.question; }
  std::int64_t rows() const { return rows_; }  ///< without the skipped ones
  std::int64_t skipped() const { return skipped_; }
  /// Of the rows as they came: the same for the same ones, whatever was asked.
  const Fingerprint& fingerprint() const { return fingerprint_; }
  const std::string& reductions() const { return reductions_; }
  double number(std::size_t k) const;
  /// Of a number that adds up: its sum with what rounding took.
  ExactSum sum(std::size_t k) const { return sums_.at(k); }
  std::vector<double> numbers() const;
  std::int32_t dimensions() const { return dimensions_; }
  bool sparse_input() const { return sparse_input_; }
  void set_sparse_input(bool sparse) { sparse_input_ = sparse; }
  /// The features that any row has, where the question asks for them.
  const FeatureSet& features() const { return features_; }
  /// Where it does, rows may declare any number of features, and the sums are only of as many as the matrices: a question
  /// of the features in use has the others.
  bool has_sums() const { return !form_.columns || dimensions_ <= most_matrix_columns; }
  /// Σ c x, vectors × dimensions, and Σ c of each times the constant.
  Weights sums() const;
  double constant_sum(std::int32_t vector) const { return masses_[static_cast<std::size_t>(vector)].value(); }
  /// Of how many blocks a sum consists, and of how many rows the longest of them.
  std::int64_t blocks() const { return blocks_ + (block_rows_ > 0 ? 1 : 0); }
  std::int64_t longest_block() const;
  /// Whether there are the sums below: not of more than `most_matrix_columns` dimensions, where nobody could use them.
  bool has_matrices() const { return form_.matrices > 0 && dimensions_ <= most_matrix_columns; }
  static constexpr std::int32_t most_matrix_columns = 2048;
  /// Σ g (x, constant)(x, constant)ᵀ
  const SymmetricMatrix& matrix(std::int32_t k, const Progress& progress = {});
  std::int32_t bags() const { return form_.bags; }
  Bag& bag(std::int32_t k) { return bags_[static_cast<std::size_t>(k)]; }
  const Bag& bag(std::int32_t k) const { return bags_[static_cast<std::size_t>(k)]; }
  std::map<std::string, SeenClass, std::less<>>& classes() { return classes_; }
  const std::map<std::string, SeenClass, std::less<>>& classes() const { return classes_; }
  /// The cells that some row added to, in their order, with their sums.
  std::vector<Entry> cells() const;
  const std::vector<WeightedSketch>& sketches() const { return sketches_; }

  /// The answer to one of several questions that the same terms answered (Question::beside), which is taken out of this one.
  /// `form` is its own; `before`: how much those before it have of each. Throws Error(malformed) for more than there is.
  struct Place {
    std::size_t numbers = 0;
    std::int32_t vectors = 0, matrices = 0, bags = 0;
    std::int64_t cells = 0;
  };
  Answer take_part(const AnswerForm& form, const Place& before, const Progress& progress);

  /// Several servers answer, and each keeps its share of the rows (AnswerForm::parts).
  bool of_parts() const { return form_.parts > 1; }
  /// Marks the bytes of an answer as those of another server's: what they are merged into keeps as many rows as the question
  /// allows, no longer the share of a part.
  static void mark_arrived(char* bytes);
  bool arrived() const { return arrived_; }

  std::string bytes(const Progress& progress = {});
  /// Throws Error(malformed).
  static Answer from_bytes(std::string_view bytes, const Progress& progress);

 private:
  void take_form(const AnswerForm& form);
  void reach_dimensions(const FeatureRow& x, const Progress& progress);
  void require_room(std::int32_t dimensions) const;
  void resize(std::int32_t dimensions, const Progress& progress);
  void add_class(const Term& term);
  void keep(std::size_t k, double value);
  void set_arrived();
  void flush_block(const Progress& progress);
  void flush_matrices(const Progress& progress);
  void read_sums(ByteReader& in, std::int32_t columns, const Progress& progress);
  void add_matrix(const SymmetricMatrix& theirs, std::size_t k, const Progress& progress);

  struct Matrix {
    Matrix(std::size_t features, double constant, const Progress& progress);
    /// The sum with the rows that are still packed.
    SymmetricMatrix flushed(const Progress& progress) const;
    GramBlock block;
    SymmetricMatrix sum;
  };

  bool known_ = false, arrived_ = false;
  AnswerForm form_;
  std::string reductions_;
  std::int64_t rows_ = 0, skipped_ = 0;
  Fingerprint fingerprint_;
  ExactSums sums_;                 // one per number; of those that do not add up it says nothing
  std::vector<double> extremes_;   // one per number; of those that add up it says nothing
  std::vector<std::size_t> kept_;  // the numbers that do not add up
  std::int32_t dimensions_ = 0;    // reached so far
  bool fixed_dimensions_ = false;  // stated by the question or by a row
  bool sparse_input_ = false;
  FeatureSet features_;
  Weights total_, block_;  // vectors × dimensions, or more columns than that
  std::vector<ExactSum> masses_;
  std::int64_t blocks_ = 0, longest_ = 0, block_rows_ = 0;
  double block_work_ = 0;
  std::vector<std::unique_ptr<Matrix>> matrices_;
  std::vector<Bag> bags_;
  std::map<std::string, SeenClass, std::less<>> classes_;
  CellSums cells_;
  std::vector<WeightedSketch> sketches_;
};

}  // namespace margin
