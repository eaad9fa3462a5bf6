// The rows of one training: features in blocks, labels, weights. Rows are only appended; a trained-on Dataset is
// const. All memory comes from one pmr resource and, for blocks that it is too small for, from a BlockStore; nothing
// else needs a destructor to run, so that a PostgreSQL memory context can simply drop it.
#pragma once

#ifdef POSTGRES_H
#error "src/core must not see postgres.h"
#endif

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/block_store.hpp"
#include "core/data/coded_rows.hpp"
#include "core/data/nonzeros.hpp"
#include "core/data/row.hpp"

namespace margin {

class ColumnMap;  // data/column_map.hpp

/// The distinct labels in order of appearance, each with a key that orders it among the others.
class ClassTable {
 public:
  explicit ClassTable(std::pmr::memory_resource* memory) : names_(memory), keys_(memory), index_(memory) {}

  /// Index of the class, added when new. `key` orders classes (numbers: the value; enums: the sort position;
  /// otherwise 0); ties fall to length and bytes for numbers, to bytes alone for `key` 0.
  std::int32_t intern(std::string_view name, double key);

  std::int32_t size() const { return static_cast<std::int32_t>(names_.size()); }
  const std::pmr::string& name(std::int32_t i) const { return names_[static_cast<std::size_t>(i)]; }
  double key(std::int32_t i) const { return keys_[static_cast<std::size_t>(i)]; }
  /// The labels came from a type of numbers.
  bool numbers() const { return numbers_; }
  void set_numbers(bool numbers) { numbers_ = numbers; }
  /// rank[i] = position of class i in sorted order, so that row order does not change the model.
  std::vector<std::int32_t> ranks() const;

 private:
  std::pmr::vector<std::pmr::string> names_;
  std::pmr::vector<double> keys_;
  std::pmr::unordered_map<std::pmr::string, std::int32_t> index_;
  bool numbers_ = false;
};

/// What a row is labelled with: the index of its class, or a target, which may be an interval.
class Label {
 public:
  // Implicit, as the type of a number tells the two apart.
  Label(std::int32_t class_index) : class_index_(class_index) {}
  Label(double target) : lower_(target), upper_(target) {}
  /// Either bound may be infinite. Throws Error(invalid_value): not lower ≤ upper, or no number between them.
  Label(double lower, double upper);

  bool is_class() const { return class_index_ >= 0; }
  std::int32_t class_index() const { return class_index_; }
  double lower() const { return lower_; }
  double upper() const { return upper_; }

 private:
  std::int32_t class_index_ = -1;
  double lower_ = 0, upper_ = 0;
};

/// n rows of d features. Each row is stored in the smallest form that loses nothing: float where every value
/// survives the round trip, sparse below the density at which it is faster.
class Dataset {
 public:
  enum class Outcome { classes, targets, intervals };

  /// `store`, which may be nullptr: where the features go once their blocks exceed its share; outlives this data set,
  /// unless no destructor runs.
  explicit Dataset(Outcome outcome, std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                   BlockStore* store = nullptr);
  /// Rows as codes, with the outcomes, weights and classes of `outcomes`, row by row.
  Dataset(const Dataset& outcomes, std::shared_ptr<const CodedRows> codes, const Progress& progress = {});
  Dataset(Dataset&&) = default;
  Dataset& operator=(Dataset&&) = delete;
  ~Dataset();

  /// Append one row with its label and weight. The label is of the kind of outcome(); a class index comes from
  /// classes().intern(). A sparse row has strictly increasing indices below its dimensions; where it states none, the
  /// data set grows to the largest seen. Throws Error: NaN or infinity (invalid_value), another number of features
  /// (wrong_dimensions), a label of another kind (wrong_type).
  void append(const FeatureRow& x, const Label& label, double weight = 1.0);

  /// These rows in this order, with their outcomes, weights and all classes. Shares the bytes of the features with this
  /// data set, which must outlive the result.
  Dataset subset(const std::vector<std::int64_t>& rows, const Progress& progress = {}) const;

  /// All rows in the columns of `map`, which has every column that a row uses, with their outcomes, weights and
  /// classes. Each row is stored in the smaller of its two forms; `to_store`: in the store from the first row on.
  Dataset with_columns(const ColumnMap& map, const Progress& progress, bool to_store = false) const;

  /// Moves all features, those to come as well, to the store, which there must be.
  void spill();
  /// Whether the features are in the store: visits far from each other then cost a page each.
  bool spilled() const { return spilled_; }
  /// For copies of these rows.
  BlockStore* store() const { return store_; }

  std::int64_t rows() const { return codes_ != nullptr ? codes_->rows() : static_cast<std::int64_t>(rows_.size()); }
  std::int32_t dimensions() const { return dimensions_; }
  /// What dimensions() was before columns without a value were left out (with_columns).
  std::int32_t declared_dimensions() const { return declared_ > 0 ? declared_ : dimensions_; }
  /// Of another data set that these rows are a copy of.
  void set_declared_dimensions(std::int32_t dimensions) { declared_ = dimensions; }
  /// True when a row came as indices and values (not when a dense row was merely stored that way).
  bool sparse_input() const { return sparse_input_; }
  /// Stored values over rows × dimensions (1 for all-dense data); a code is one.
  double density() const;
  /// Bytes of memory held for rows, labels and weights.
  std::size_t bytes() const { return array_bytes() + (spilled_ ? 0 : feature_bytes()); }
  /// Of these, what a row takes besides its features.
  std::size_t array_bytes() const;
  /// Bytes of features, wherever they are.
  std::size_t feature_bytes() const;

  /// The largest ‖x_i‖.
  double radius() const { return radius_; }

  /// The rows as codes; null: they are stored one by one. Then row() makes one, valid until the thread asked for CodedRows::kept
  /// others: who passes over all rows asks the codes.
  const std::shared_ptr<const CodedRows>& codes() const { return codes_; }

  Row row(std::int64_t i) const {
    if (codes_ != nullptr) return codes_->row(i);
    const std::uintptr_t tagged = rows_[static_cast<std::size_t>(i)];
    const char* at = reinterpret_cast<const char*>(tagged & ~form_bits);
    const bool wide = (tagged & wide_bit) != 0;
    if ((tagged & sparse_bit) == 0) return {at, nullptr, dimensions_, wide};
    std::int32_t count;
    std::memcpy(&count, at, sizeof count);
    const char* values = at + 8;
    return {values, reinterpret_cast<const std::int32_t*>(values + static_cast<std::size_t>(count) * (wide ? 8 : 4)),
            count, wide};
  }
  Outcome outcome() const { return outcome_; }
  ClassTable& classes() { return classes_; }
  const ClassTable& classes() const { return classes_; }
  std::int32_t class_of(std::int64_t i) const { return labels_[static_cast<std::size_t>(i)]; }
  double target(std::int64_t i) const { return targets_[static_cast<std::size_t>(i)]; }
  /// The end of row i's interval; a target is an interval of one point.
  double upper_target(std::int64_t i) const {
    return outcome_ == Outcome::intervals ? upper_targets_[static_cast<std::size_t>(i)] : target(i);
  }
  Label label(std::int64_t i) const {
    if (outcome_ == Outcome::classes) return class_of(i);
    return outcome_ == Outcome::targets ? Label(target(i)) : Label(target(i), upper_target(i));
  }
  bool weighted() const { return !weights_.empty(); }
  double weight(std::int64_t i) const { return weights_.empty() ? 1.0 : weights_[static_cast<std::size_t>(i)]; }

 private:
  void fit_dimensions(const FeatureRow& x);
  template <class T>
  void store_dense(const T* x, std::int32_t n, double square);
  template <class T>
  void store_sparse(const std::int32_t* indices, const T* values, std::int32_t nonzeros, double square);
  template <class T>
  void store_smaller(const std::vector<std::int32_t>& columns, const std::vector<T>& values, std::vector<T>& scratch);
  template <class T>
  void store(const Row& x, const T* values, double square);
  void push_label(const Label& label, double weight);
  void push_row(const char* at, std::uintptr_t form, double square);
  char* allocate(std::size_t bytes);
  void add_block(std::size_t bytes);
  std::size_t size_of(std::uintptr_t tagged) const;

  static constexpr std::uintptr_t wide_bit = 1, sparse_bit = 2, form_bits = 3;

  Outcome outcome_;
  std::pmr::memory_resource* memory_;
  BlockStore* store_;
  bool spilled_ = false;
  std::pmr::vector<std::uintptr_t> rows_;  // address of the row's bytes; the two low bits are the form
  std::pmr::vector<std::int32_t> labels_;
  std::pmr::vector<double> targets_, upper_targets_, weights_;
  ClassTable classes_;
  std::int32_t dimensions_ = 0, declared_ = 0;
  bool fixed_dimensions_ = false, sparse_input_ = false;
  std::int64_t stored_values_ = 0;
  double radius_ = 0;
  struct Block {
    char* at;
    std::size_t size;
    bool stored;
  };
  void give_back(const Block& block);
  std::pmr::vector<Block> blocks_;
  std::size_t block_bytes_ = 0;
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0, next_block_ = 1024;
  std::pmr::vector<float> narrow_;  // scratch of one row
  NonZeros nonzeros_;
  std::shared_ptr<const CodedRows> codes_;
};

}  // namespace margin
