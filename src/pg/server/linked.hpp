// All objects of a kind that are alive.
#pragma once

namespace margin::pg {

/// Base of T: a list of all that are alive, which each leaves from wherever it stands. What a query keeps goes when the
/// server resets a memory context, in an order that is the user's (cursors), never last in, first out.
template <class T>
class Linked {
 public:
  Linked(const Linked&) = delete;
  Linked& operator=(const Linked&) = delete;

  static bool none() { return first_ == nullptr; }
  static T* first() { return static_cast<T*>(first_); }
  T* next() const { return static_cast<T*>(next_); }

 protected:
  Linked() : next_(first_) {
    if (next_ != nullptr) next_->previous_ = this;
    first_ = this;
  }
  ~Linked() {
    (previous_ != nullptr ? previous_->next_ : first_) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }

 private:
  static inline Linked* first_ = nullptr;
  Linked *previous_ = nullptr, *next_;
};

}  // namespace margin::pg
