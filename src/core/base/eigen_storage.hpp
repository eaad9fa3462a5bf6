// The memory of Eigen's matrices of dynamic size, safe when memory runs out. Eigen 3.4 frees the old block before it
// asks for the new one and keeps the pointer: an allocation that throws leaves a matrix whose destructor frees it
// again, which ends the server process and with it every session. These specialisations are preferred over Eigen's own.
// They come before Eigen's headers in every file, and need none of them.
#pragma once
#if !__has_include(<Eigen/Version>)  // Eigen 3
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace Eigen {
template <typename T, int Size, int Rows, int Cols, int Options>
class DenseStorage;
namespace internal {
struct constructor_without_unaligned_array_assert;
}
}  // namespace Eigen

namespace margin {

/// A block of rows × cols values; Rows or Cols is -1 where it is known at run time only. A size that cannot be had is
/// std::bad_alloc: resize() then leaves the storage empty, everything else leaves it as it was.
template <typename T, int Rows, int Cols>
class MatrixStorage {
  static_assert(std::is_trivially_copyable_v<T>, "values are moved as bytes");
  static_assert(alignof(std::max_align_t) >= EIGEN_MAX_ALIGN_BYTES, "what malloc returns is aligned for Eigen");

 public:
  using Index = std::ptrdiff_t;

  MatrixStorage() = default;
  explicit MatrixStorage(const Eigen::internal::constructor_without_unaligned_array_assert&) {}
  MatrixStorage(Index size, Index rows, Index cols) : data_(allocate(size)) { shape(rows, cols); }
  MatrixStorage(const MatrixStorage& other) : MatrixStorage(other.size(), other.rows(), other.cols()) {
    if (data_ != nullptr) std::memcpy(data_, other.data_, static_cast<std::size_t>(size()) * sizeof(T));
  }
  MatrixStorage(MatrixStorage&& other) noexcept { swap(other); }
  MatrixStorage& operator=(MatrixStorage other) noexcept {
    swap(other);
    return *this;
  }
  ~MatrixStorage() { std::free(data_); }

  void swap(MatrixStorage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
  }

  Index rows() const noexcept { return Rows >= 0 ? Rows : rows_; }
  Index cols() const noexcept { return Cols >= 0 ? Cols : cols_; }
  const T* data() const noexcept { return data_; }
  T* data() noexcept { return data_; }

  /// The old values are lost. Their block goes first, so that two never stand side by side; nothing points to it then.
  void resize(Index size, Index rows, Index cols) {
    if (size != this->size()) {
      std::free(std::exchange(data_, nullptr));
      shape(0, 0);
      data_ = allocate(size);
    }
    shape(rows, cols);
  }

  /// The first values of the block stay.
  void conservativeResize(Index size, Index rows, Index cols) {
    if (size <= 0) return resize(size, rows, cols);
    if (!fits(size)) throw std::bad_alloc();
    void* block = std::realloc(static_cast<void*>(data_), static_cast<std::size_t>(size) * sizeof(T));
    if (block == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(block);
    shape(rows, cols);
  }

 private:
  static bool fits(Index size) {
    return static_cast<std::size_t>(size) <= std::numeric_limits<std::size_t>::max() / sizeof(T);
  }
  static T* allocate(Index size) {
    if (size <= 0) return nullptr;
    void* block = fits(size) ? std::malloc(static_cast<std::size_t>(size) * sizeof(T)) : nullptr;
    if (block == nullptr) throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  Index size() const noexcept { return rows() * cols(); }
  void shape(Index rows, Index cols) noexcept {
    rows_ = rows;
    cols_ = cols;
  }

  T* data_ = nullptr;
  Index rows_ = 0, cols_ = 0;
};

}  // namespace margin

// One for every form of a matrix on the heap: any shape, a fixed number of columns or of rows, each by columns (0) or
// by rows (1).
namespace Eigen {

template <typename T>
class DenseStorage<T, -1, -1, -1, 0> : public margin::MatrixStorage<T, -1, -1> {
  using margin::MatrixStorage<T, -1, -1>::MatrixStorage;
};
template <typename T>
class DenseStorage<T, -1, -1, -1, 1> : public margin::MatrixStorage<T, -1, -1> {
  using margin::MatrixStorage<T, -1, -1>::MatrixStorage;
};
template <typename T, int Cols>
class DenseStorage<T, -1, -1, Cols, 0> : public margin::MatrixStorage<T, -1, Cols> {
  using margin::MatrixStorage<T, -1, Cols>::MatrixStorage;
};
template <typename T, int Cols>
class DenseStorage<T, -1, -1, Cols, 1> : public margin::MatrixStorage<T, -1, Cols> {
  using margin::MatrixStorage<T, -1, Cols>::MatrixStorage;
};
template <typename T, int Rows>
class DenseStorage<T, -1, Rows, -1, 0> : public margin::MatrixStorage<T, Rows, -1> {
  using margin::MatrixStorage<T, Rows, -1>::MatrixStorage;
};
template <typename T, int Rows>
class DenseStorage<T, -1, Rows, -1, 1> : public margin::MatrixStorage<T, Rows, -1> {
  using margin::MatrixStorage<T, Rows, -1>::MatrixStorage;
};

}  // namespace Eigen
#else
#include "core/base/eigen5_storage.hpp"
#endif
