// The columns of an encoder in a PMML document: its input fields, what is derived from them, and what each adds to a table.
#pragma once

#include <memory_resource>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

constexpr double name_work = 512;  // of a field, wherever it is written

/// Names of a document that differ.
class PmmlNames {
 public:
  /// `wanted`, with underscores appended until nothing has that name.
  std::string take(std::string wanted) {
    while (!taken_.insert(wanted).second) wanted += '_';
    return wanted;
  }

 private:
  std::pmr::monotonic_buffer_resource nodes_;  // in large blocks: to free as many small ones takes long
  std::pmr::unordered_set<std::string> taken_{&nodes_};
};

/// Predictors of a table: the schema wants those of numbers before those of categories.
struct PmmlPredictors {
  std::string numeric, categorical;

  /// A weight of 0 is left out, -0 is not: a lost sign would be another weight.
  void add_number(const std::string& field, double coefficient);
  void add_category(const std::string& field, const std::string& value, double coefficient);
};

/// Elements of the document, of a model with an encoder whose columns are numbers, times, categories, and elements of arrays. A
/// missing value is what the model makes of it: an invalid result, or a derived value beside an indicator of its own. Times are
/// dates and times, to the second; intervals are numbers of days.
class PmmlColumns {
 public:
  /// `m` is kept by reference; the names of the fields are taken from `names`.
  PmmlColumns(const Model& m, PmmlNames& names, const Progress& progress);

  std::size_t fields() const;
  std::string data_fields() const;
  std::string mining_fields() const;
  /// LocalTransformations; empty where nothing is derived.
  std::string transformations() const;
  void add_predictors(std::int32_t output, PmmlPredictors& to) const;

 private:
  /// What became of a column.
  struct Fields {
    const Column* column = nullptr;
    bool takes_null = false;
    std::vector<std::int32_t> elements = {};  ///< of an array: those that have fields, from 0
    std::vector<std::string> inputs =
        {};  ///< one, or one for each element; a sparse block's indicator of NULL is the last
    std::vector<std::string> values = {};  ///< what predictors read in their place; a binned column's bin
    std::string null = {};                 ///< indicator of a missing value; empty: none is needed
  };
  void name_elements(Fields& f, PmmlNames& names) const;
  void name_derived(Fields& f, PmmlNames& names) const;
  std::string treatment(const Fields& f, std::size_t input) const;
  std::string derived(const Fields& f) const;
  void add_column(std::int32_t output, const Fields& f, PmmlPredictors& to) const;
  void add_elements(std::int32_t output, const Fields& f, PmmlPredictors& to) const;

  const Model& model_;
  const Progress& progress_;
  std::vector<Fields> fields_;
};

}  // namespace margin
