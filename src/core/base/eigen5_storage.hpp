// The same as eigen_storage.hpp for Eigen 5, whose resize() has the same fault, and whose storage is of another form.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace Eigen {
namespace internal {
template <typename T, int Size, int Rows, int Cols, int Options>
class DenseStorage_impl;
}
}  // namespace Eigen

namespace margin {

/// A block of rows × cols values; Rows or Cols is -1 where it is known at run time only. A size that cannot be had is
/// std::bad_alloc: resize() then leaves the storage empty, everything else leaves it as it was. Eigen wants functions that
/// could be constexpr.
template <typename T, int Rows, int Cols>
class HeapStorage {
  static_assert(std::is_trivially_copyable_v<T>, "values are moved as bytes");
  static_assert(alignof(std::max_align_t) >= EIGEN_MAX_ALIGN_BYTES, "what malloc returns is aligned for Eigen");

 public:
  using Index = std::ptrdiff_t;

  constexpr HeapStorage() = default;
  constexpr HeapStorage(Index size, Index rows, Index cols) : data_(allocate(size)), rows_(rows), cols_(cols) {}
  constexpr HeapStorage(const HeapStorage& other) : HeapStorage(other.size(), other.rows_, other.cols_) {
    if (data_ != nullptr) std::memcpy(data_, other.data_, static_cast<std::size_t>(size()) * sizeof(T));
  }
  constexpr HeapStorage(HeapStorage&& other) noexcept { swap(other); }
  constexpr HeapStorage& operator=(const HeapStorage& other) {
    HeapStorage copy(other);
    swap(copy);
    return *this;
  }
  constexpr HeapStorage& operator=(HeapStorage&& other) noexcept {
    swap(other);
    return *this;
  }
  ~HeapStorage() { std::free(data_); }

  constexpr void swap(HeapStorage& other) noexcept {
    exchange(data_, other.data_);
    exchange(rows_, other.rows_);
    exchange(cols_, other.cols_);
  }

  constexpr Index rows() const noexcept { return Rows >= 0 ? Rows : rows_; }
  constexpr Index cols() const noexcept { return Cols >= 0 ? Cols : cols_; }
  constexpr Index size() const noexcept { return rows() * cols(); }
  constexpr const T* data() const noexcept { return data_; }
  constexpr T* data() noexcept { return data_; }

  /// The old values are lost. Their block goes first, so that two never stand side by side; nothing points to it then.
  constexpr void resize(Index size, Index rows, Index cols) {
    if (size != this->size()) {
      std::free(data_);
      data_ = nullptr;
      rows_ = cols_ = 0;
      data_ = allocate(size);
    }
    rows_ = rows;
    cols_ = cols;
  }

  /// The first values of the block stay.
  constexpr void conservativeResize(Index size, Index rows, Index cols) {
    if (size <= 0) return resize(size, rows, cols);
    if (!fits(size)) throw std::bad_alloc();
    void* block = std::realloc(static_cast<void*>(data_), static_cast<std::size_t>(size) * sizeof(T));
    if (block == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(block);
    rows_ = rows;
    cols_ = cols;
  }

 private:
  template <typename Value>
  static constexpr void exchange(Value& a, Value& b) noexcept {
    const Value kept = a;
    a = b;
    b = kept;
  }
  static constexpr bool fits(Index size) {
    return static_cast<std::size_t>(size) <= std::numeric_limits<std::size_t>::max() / sizeof(T);
  }
  static constexpr T* allocate(Index size) {
    if (size <= 0) return nullptr;
    void* block = fits(size) ? std::malloc(static_cast<std::size_t>(size) * sizeof(T)) : nullptr;
    if (block == nullptr) throw std::bad_alloc();
    return static_cast<T*>(block);
  }

  T* data_ = nullptr;
  Index rows_ = 0, cols_ = 0;
};

}  // namespace margin

// One for every form of a matrix on the heap: any shape, a fixed number of columns or of rows, each by columns (0) or
// by rows (1).
namespace Eigen {
namespace internal {

template <typename T>
class DenseStorage_impl<T, -1, -1, -1, 0> : public margin::HeapStorage<T, -1, -1> {
  using margin::HeapStorage<T, -1, -1>::HeapStorage;
};
template <typename T>
class DenseStorage_impl<T, -1, -1, -1, 1> : public margin::HeapStorage<T, -1, -1> {
  using margin::HeapStorage<T, -1, -1>::HeapStorage;
};
template <typename T, int Cols>
class DenseStorage_impl<T, -1, -1, Cols, 0> : public margin::HeapStorage<T, -1, Cols> {
  using margin::HeapStorage<T, -1, Cols>::HeapStorage;
};
template <typename T, int Cols>
class DenseStorage_impl<T, -1, -1, Cols, 1> : public margin::HeapStorage<T, -1, Cols> {
  using margin::HeapStorage<T, -1, Cols>::HeapStorage;
};
template <typename T, int Rows>
class DenseStorage_impl<T, -1, Rows, -1, 0> : public margin::HeapStorage<T, Rows, -1> {
  using margin::HeapStorage<T, Rows, -1>::HeapStorage;
};
template <typename T, int Rows>
class DenseStorage_impl<T, -1, Rows, -1, 1> : public margin::HeapStorage<T, Rows, -1> {
  using margin::HeapStorage<T, Rows, -1>::HeapStorage;
};

}  // namespace internal
}  // namespace Eigen
