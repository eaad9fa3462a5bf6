// Aggregate states as bytes, between the processes of one query. Native byte order: both ends are one server.
#pragma once

#include "core/base/polled.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"

namespace margin::pg {

constexpr std::int64_t state_version = 1;

class StateWriter {
 public:
  void operator()(std::int64_t& v) { raw(&v, sizeof v); }
  void operator()(double& v) { raw(&v, sizeof v); }
  void operator()(std::string& v) { sized(v.data(), v.size(), 1); }
  void operator()(std::vector<std::int64_t>& v) { sized(v.data(), v.size(), sizeof v[0]); }
  void operator()(std::vector<double>& v) { sized(v.data(), v.size(), sizeof v[0]); }
  template <class Count>
  void operator()(std::vector<std::pair<double, Count>>& v) {  // of a sketch
    static_assert(sizeof v[0] == 16);
    sized(v.data(), v.size(), sizeof v[0]);
  }
  /// As a bytea in the current memory context.
  Datum finish() const { return text_like(bytes_); }

 private:
  static Datum text_like(const std::string& bytes) {
    if (bytes.size() > MaxAllocSize - VARHDRSZ)
      throw Error(ErrorKind::limit_exceeded, "the partial state of a parallel aggregate is larger than 1 GB",
                  "SET max_parallel_workers_per_gather = 0.");
    const std::size_t size = bytes.size() + VARHDRSZ;
    auto* const out = static_cast<bytea*>(allocate_in(CurrentMemoryContext, size));
    SET_VARSIZE(out, size);
    polled_copy(VARDATA(out), bytes.data(), bytes.size(), InterruptProgress());
    return PointerGetDatum(out);
  }
  void raw(const void* p, std::size_t size) { bytes_.append(static_cast<const char*>(p), size); }
  void sized(const void* p, std::size_t count, std::size_t each) {
    auto n = static_cast<std::int64_t>(count);
    (*this)(n);
    raw(p, count * each);
  }

  std::string bytes_;
};

/// Reads what a StateWriter wrote. Every count is checked against the bytes that are left.
class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : left_(bytes) {}

  void operator()(std::int64_t& v) { raw(&v, sizeof v); }
  void operator()(double& v) { raw(&v, sizeof v); }
  void operator()(std::string& v) { sized(v, 1); }
  void operator()(std::vector<std::int64_t>& v) { sized(v, sizeof v[0]); }
  void operator()(std::vector<double>& v) { sized(v, sizeof v[0]); }
  template <class Count>
  void operator()(std::vector<std::pair<double, Count>>& v) {
    sized(v, sizeof v[0]);
  }
  void require(bool sound) const {
    if (!sound) throw Error(ErrorKind::malformed, "malformed partial state of a margin aggregate");
  }
  void require_end() const { require(left_.empty()); }

 private:
  void raw(void* p, std::size_t size) {
    require(size <= left_.size());
    polled_copy(p, left_.data(), size, InterruptProgress());
    left_.remove_prefix(size);
  }
  template <class Container>
  void sized(Container& to, std::size_t each) {
    std::int64_t n = 0;
    (*this)(n);
    require(n >= 0 && static_cast<std::uint64_t>(n) <= left_.size() / each);
    to.resize(static_cast<std::size_t>(n));
    raw(to.data(), static_cast<std::size_t>(n) * each);
  }

  std::string_view left_;
};

}  // namespace margin::pg
