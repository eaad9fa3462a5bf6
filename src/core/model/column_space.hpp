// The columns of a model of wide rows, and those that the rows of another table bring beside them. A check of such a
// model keeps sums over rows; numbering the columns as they come lets it keep them for the columns it has met, not for
// all that the model declares.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

class ColumnSpace {
 public:
  /// A model with columns. Its own come first, in their order; they are kept by pointer.
  explicit ColumnSpace(const Scorer& model);

  /// The row with its values at their numbers here, which need not ascend. Valid until the next call, and as long as x.
  Row place(const Row& x);

  /// Numbers given so far are below this; grows at least by a half at a time.
  std::int32_t width() const { return width_; }
  /// outputs × width(): the model's weights, and 0 for columns that it does not have.
  const double* weights() const { return weights_.data(); }
  /// The 0-based feature of every number below width(); −1 of those that are not given yet.
  std::vector<std::int32_t> features() const;
  /// Bytes of that matrix if a row of `more` unknown columns makes it grow; 0 where it does not.
  double growth(std::int32_t more) const;

 private:
  Scorer model_;
  std::int32_t width_, size_;
  std::unordered_map<std::int32_t, std::int32_t> others_;
  std::vector<double> weights_, values_;
  std::vector<std::int32_t> indices_;
};

}  // namespace margin
