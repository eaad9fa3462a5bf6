// Working memory that the chunks of a run hand on to each other: as many pieces as threads, however many chunks.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace margin {

/// What a piece held before says nothing: whoever takes one writes before it reads.
template <class T>
class Spares {
 public:
  /// `threads`: pieces that are kept.
  explicit Spares(int threads) { idle_.reserve(static_cast<std::size_t>(threads)); }

  /// A piece for as long as this lives; made by make() where none is idle.
  class Lent {
   public:
    template <class Make>
    Lent(Spares& from, Make make) : from_(from), piece_(from.take()) {
      if (piece_ == nullptr) piece_ = std::make_unique<T>(make());
    }
    ~Lent() { from_.give_back(std::move(piece_)); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    T& operator*() const { return *piece_; }
    T* operator->() const { return piece_.get(); }

   private:
    Spares& from_;
    std::unique_ptr<T> piece_;
  };

 private:
  std::unique_ptr<T> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<T> piece = std::move(idle_.back());
    idle_.pop_back();
    return piece;
  }
  void give_back(std::unique_ptr<T> piece) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() < idle_.capacity()) idle_.push_back(std::move(piece));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace margin
