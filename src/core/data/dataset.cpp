#include "core/data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/huge_pages.hpp"
#include "core/data/column_map.hpp"

namespace margin {

namespace {

constexpr std::size_t smallest_block = 1024, largest_block = std::size_t{32} << 20;
// Below this share of non-zeros a sparse row is both smaller and quicker to multiply than a dense one.
constexpr double sparse_density = 0.12;
constexpr std::int32_t least_sparse = 16;  // features

}  // namespace

std::int32_t ClassTable::intern(std::string_view name, double key) {
  std::pmr::string text(name, names_.get_allocator().resource());
  const auto found = index_.find(text);
  if (found != index_.end()) return found->second;
  const std::int32_t id = size();
  names_.push_back(text);
  keys_.push_back(key);
  index_.emplace(std::move(text), id);
  return id;
}

std::vector<std::int32_t> ClassTable::ranks() const {
  std::vector<std::int32_t> order(names_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    if (keys_[i] != keys_[j]) return keys_[i] < keys_[j];
    // Equal keys that are not 0 are integers beyond 2^53: for one sign, longer means larger in absolute value.
    if (keys_[i] != 0 && names_[i].size() != names_[j].size())
      return (names_[i].size() < names_[j].size()) == (keys_[i] > 0);
    return (names_[i] < names_[j]) == !(keys_[i] < 0);
  });
  std::vector<std::int32_t> rank(names_.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    rank[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  return rank;
}

Dataset::Dataset(Outcome outcome, std::pmr::memory_resource* memory, BlockStore* store)
    : outcome_(outcome),
      memory_(memory),
      store_(store),
      rows_(memory),
      labels_(memory),
      targets_(memory),
      upper_targets_(memory),
      weights_(memory),
      classes_(memory),
      blocks_(memory),
      narrow_(memory),
      nonzeros_(memory) {}

Dataset::Dataset(const Dataset& outcomes, std::shared_ptr<const CodedRows> codes, const Progress& progress)
    : Dataset(outcomes.outcome_, std::pmr::get_default_resource(), outcomes.store_) {
  codes_ = std::move(codes);
  labels_ = outcomes.labels_;
  targets_ = outcomes.targets_;
  upper_targets_ = outcomes.upper_targets_;
  weights_ = outcomes.weights_;
  classes_ = outcomes.classes_;
  dimensions_ = codes_->layout().dimensions;
  fixed_dimensions_ = true;
  stored_values_ = rows() * static_cast<std::int64_t>(codes_->layout().terms.size() + codes_->layout().numbers.size());
  radius_ = codes_->radius(progress);
}

Dataset::~Dataset() {
  for (const Block& b : blocks_) give_back(b);
}

void Dataset::give_back(const Block& b) {
  if (b.at == nullptr) return;
  if (b.stored)
    store_->release(b.at, b.size);
  else
    memory_->deallocate(b.at, b.size, 8);
}

std::size_t Dataset::feature_bytes() const {
  return codes_ == nullptr ? block_bytes_
                           : static_cast<std::size_t>(CodedRows::bytes(codes_->layout(), codes_->rows()));
}

double Dataset::density() const {
  if (rows() == 0 || dimensions_ == 0) return 1.0;
  return static_cast<double>(stored_values_) / (static_cast<double>(rows()) * dimensions_);
}

std::size_t Dataset::array_bytes() const {
  return rows_.capacity() * sizeof rows_[0] + labels_.capacity() * sizeof labels_[0] +
         (targets_.capacity() + upper_targets_.capacity() + weights_.capacity()) * sizeof(double);
}

void Dataset::fit_dimensions(const FeatureRow& x) {
  const bool sparse = x.indices != nullptr;
  const std::int32_t n = x.dimensions, needed = reach(x);
  if (sparse) {
    const std::int32_t stated = n > 0 ? n : fixed_dimensions_ ? dimensions_ : needed;
    if (needed > stated)
      throw Error(ErrorKind::wrong_dimensions, "feature " + std::to_string(needed) + " is beyond the stated " +
                                                   std::to_string(stated) + " features");
  }
  if (!sparse || n != 0) {
    if (fixed_dimensions_ && n != dimensions_)
      throw Error(ErrorKind::wrong_dimensions,
                  "expected " + std::to_string(dimensions_) + " features, not " + std::to_string(n),
                  "All rows of one training must have the same number of features.");
    if (!fixed_dimensions_ && !rows_.empty() && n < dimensions_)
      throw Error(
          ErrorKind::wrong_dimensions,
          "a row of " + std::to_string(n) + " features follows rows with feature " + std::to_string(dimensions_));
    dimensions_ = n;
    fixed_dimensions_ = true;
  }
  if (!fixed_dimensions_) dimensions_ = std::max(dimensions_, needed);
  sparse_input_ |= sparse;
}

// In memory a block is a quarter of what is held already, between 1 kB and 32 MB: small groups stay small, large ones
// cost few allocations and ask for huge pages, and a memory limit is met with at most a fifth of it unused.
void Dataset::add_block(std::size_t bytes) {
  const std::size_t size = std::max(spilled_ ? store_->block() : next_block_, bytes);
  blocks_.reserve(blocks_.size() + 1);  // first, so that no block is lost when memory is short
  free_ = spilled_ ? store_->allocate(size) : static_cast<char*>(memory_->allocate(size, 8));
  blocks_.push_back({free_, size, spilled_});
  if (!spilled_) prefer_huge_pages(free_, size);
  free_bytes_ = size;
  block_bytes_ += size;
  next_block_ = std::clamp(block_bytes_ / 4, smallest_block, largest_block);
}

char* Dataset::allocate(std::size_t bytes) {
  const std::size_t align = bytes >= 64 ? 64 : 8;
  auto padding = [&] { return (align - reinterpret_cast<std::uintptr_t>(free_) % align) % align; };
  const auto full = [&] { return free_ == nullptr || padding() + bytes > free_bytes_; };
  if (full() && !spilled_ && store_ != nullptr && block_bytes_ + std::max(next_block_, bytes + 64) > store_->share())
    spill();
  if (full()) add_block(bytes + 64);
  const std::size_t skip = padding();
  char* at = free_ + skip;
  const std::size_t used = std::min(free_bytes_, skip + (bytes + 7) / 8 * 8);
  free_ += used;
  free_bytes_ -= used;
  return at;
}

std::size_t Dataset::size_of(std::uintptr_t tagged) const {
  const std::size_t value = (tagged & wide_bit) != 0 ? sizeof(double) : sizeof(float);
  if ((tagged & sparse_bit) == 0) return static_cast<std::size_t>(dimensions_) * value;
  std::int32_t count;
  std::memcpy(&count, reinterpret_cast<const char*>(tagged & ~form_bits), sizeof count);
  return 8 + static_cast<std::size_t>(count) * (value + sizeof(std::int32_t));
}

// Rows lie in the blocks in their order, so that a block can go as soon as the first row of the next one is met.
void Dataset::spill() {
  if (spilled_ || codes_ != nullptr) return;
  spilled_ = true;
  free_ = nullptr;
  free_bytes_ = block_bytes_ = 0;
  const std::size_t old = blocks_.size();
  std::size_t leaving = 0;
  const auto leave = [&] {
    give_back(blocks_[leaving]);
    blocks_[leaving++].at = nullptr;
  };
  for (std::uintptr_t& row : rows_) {
    const auto* const from = reinterpret_cast<const char*>(row & ~form_bits);
    while (leaving < old && !(from >= blocks_[leaving].at && from < blocks_[leaving].at + blocks_[leaving].size))
      leave();
    const std::size_t bytes = size_of(row);
    char* const to = allocate(bytes);
    if (bytes > 0) std::memcpy(to, from, bytes);
    row = reinterpret_cast<std::uintptr_t>(to) | (row & form_bits);
  }
  while (leaving < old) leave();
  blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(old));
}

/// `square`: the row's squared_norm(); negative where it is not known.
void Dataset::push_row(const char* at, std::uintptr_t form, double square) {
  rows_.push_back(reinterpret_cast<std::uintptr_t>(at) | form);
  const Row x = row(rows() - 1);  // in the cache still
  const double length = norm(x, square >= 0 ? square : squared_norm(x));
  if (!std::isfinite(length))
    throw Error(ErrorKind::invalid_value,
                "the norm of row " + std::to_string(rows()) + " overflows: its features are too large",
                "Scale the features, or leave such rows out with FILTER (WHERE ...).");
  radius_ = std::max(radius_, length);
}

template <class T>
void Dataset::store_dense(const T* x, std::int32_t n, double square) {
  char* at = allocate(static_cast<std::size_t>(n) * sizeof(T));
  if (n > 0) std::memcpy(at, x, static_cast<std::size_t>(n) * sizeof(T));
  push_row(at, sizeof(T) == 8 ? wide_bit : 0, square);
  stored_values_ += n;
}

template <class T>
void Dataset::store_sparse(const std::int32_t* indices, const T* values, std::int32_t nonzeros, double square) {
  const auto n = static_cast<std::size_t>(nonzeros);
  char* at = allocate(8 + n * (sizeof(T) + sizeof(std::int32_t)));
  std::memcpy(at, &nonzeros, sizeof nonzeros);
  if (n > 0) {
    std::memcpy(at + 8, values, n * sizeof(T));
    std::memcpy(at + 8 + n * sizeof(T), indices, n * sizeof(std::int32_t));
  }
  push_row(at, sparse_bit | (sizeof(T) == 8 ? wide_bit : 0), square);
  stored_values_ += nonzeros;
}

namespace {

/// Copies x to `out` as float; false when some value does not survive the round trip.
bool narrow(const double* x, std::size_t n, float* out) {
  for (std::size_t at = 0; at < n; at += 16) {
    const std::size_t end = std::min(n, at + 16);
    bool same = true;
    for (std::size_t j = at; j < end; ++j) {
      // Beyond the float range the conversion would be undefined.
      const double v = std::fabs(x[j]) <= 3.0e38 ? x[j] : 0.0;
      out[j] = static_cast<float>(v);
      same &= static_cast<double>(out[j]) == x[j];
    }
    if (!same) return false;
  }
  return true;
}

}  // namespace

template <class T>
void Dataset::store(const Row& x, const T* values, double square) {
  if (x.indices != nullptr)
    store_sparse(x.indices, values, x.count, square);
  else
    store_dense(values, x.count, square);
}

void Dataset::append(const FeatureRow& x, const Label& label, double weight) {
  const Row kept = x.count < least_sparse ? static_cast<const Row&>(x) : nonzeros_.of(x, sparse_density);
  // One pass for two questions: the squares of finite numbers have a finite sum, or an infinite one where they overflow.
  const double square = squared_norm(kept);
  if (!std::isfinite(square)) require_finite(x, "FILTER (WHERE ...)");
  fit_dimensions(x);
  push_label(label, weight);
  if (!kept.wide) return store(kept, kept.floats(), square);
  const auto count = static_cast<std::size_t>(kept.count);
  narrow_.resize(count);
  if (narrow(kept.doubles(), count, narrow_.data()))
    store(kept, narrow_.data(), square);
  else
    store(kept, kept.doubles(), square);
}

Label::Label(double lower, double upper) : lower_(lower), upper_(upper) {
  if (!(lower <= upper) || (std::isinf(lower) && lower == upper))
    throw Error(ErrorKind::invalid_value, "a target interval must contain a number");
}

void Dataset::push_label(const Label& label, double weight) {
  if (label.is_class() != (outcome_ == Outcome::classes))
    throw Error(ErrorKind::wrong_type, "a class cannot be a target, nor a target a class");
  if (outcome_ == Outcome::classes)
    labels_.push_back(label.class_index());
  else
    targets_.push_back(label.lower());
  if (outcome_ == Outcome::intervals) upper_targets_.push_back(label.upper());
  // Weights cost memory only once one of them is not 1.
  if (weights_.empty() && weight != 1.0) weights_.assign(labels_.size() + targets_.size() - 1, 1.0);
  if (weight != 1.0 || !weights_.empty()) weights_.push_back(weight);
}

Dataset Dataset::subset(const std::vector<std::int64_t>& rows, const Progress& progress) const {
  if (codes_ != nullptr) {
    Dataset out(outcome_);
    out.classes_ = classes_;
    for (const std::int64_t i : rows) out.push_label(label(i), weight(i));
    return Dataset(out, codes_->subset(rows, progress), progress);
  }
  Dataset out(outcome_, std::pmr::get_default_resource(), store_);
  out.spilled_ = spilled_;
  out.classes_ = classes_;
  out.dimensions_ = dimensions_;
  out.fixed_dimensions_ = fixed_dimensions_;
  out.declared_ = declared_;
  out.sparse_input_ = sparse_input_;
  out.rows_.reserve(rows.size());
  for (const std::int64_t i : rows) {
    out.push_label(label(i), weight(i));
    out.rows_.push_back(rows_[static_cast<std::size_t>(i)]);
    const Row x = row(i);
    out.stored_values_ += x.count;
    out.radius_ = std::max(out.radius_, norm(x));
  }
  return out;
}

/// `scratch` is zero, as long as a row, and stays so.
template <class T>
void Dataset::store_smaller(const std::vector<std::int32_t>& columns, const std::vector<T>& values,
                            std::vector<T>& scratch) {
  if (scratch.size() * sizeof(T) > 8 + values.size() * (sizeof(T) + sizeof(std::int32_t)))
    return store_sparse(columns.data(), values.data(), static_cast<std::int32_t>(values.size()), -1);
  for (std::size_t k = 0; k < values.size(); ++k) scratch[static_cast<std::size_t>(columns[k])] = values[k];
  store_dense(scratch.data(), dimensions_, -1);
  for (const std::int32_t j : columns) scratch[static_cast<std::size_t>(j)] = 0;
}

Dataset Dataset::with_columns(const ColumnMap& map, const Progress& progress, bool to_store) const {
  Dataset out(outcome_, std::pmr::get_default_resource(), store_);
  if (to_store) {
    out.spill();
  } else {  // no row takes more bytes than it takes here
    out.next_block_ = std::clamp(feature_bytes(), smallest_block, largest_block);
    out.add_block(0);
    populate(out.free_, out.free_bytes_);
  }
  out.classes_ = classes_;
  out.dimensions_ = map.size();
  out.declared_ = declared_dimensions();
  out.fixed_dimensions_ = true;
  out.sparse_input_ = sparse_input_;
  out.rows_.reserve(rows_.size());
  const auto width = static_cast<std::size_t>(map.size());
  // The ranks of all columns in a table, where that is little beside the rows.
  std::vector<std::int32_t> ranks;
  if (ColumnMap::listable(dimensions_, feature_bytes())) {
    ranks.resize(static_cast<std::size_t>(dimensions_));
    std::int32_t rank = 0;
    for (const std::int32_t j : map.columns()) ranks[static_cast<std::size_t>(j)] = rank++;
  }
  std::vector<std::int32_t> columns;
  std::vector<float> narrow_values, narrow_scratch(width);
  std::vector<double> wide_values, wide_scratch(width);
  // Sparse rows that stay so keep their values and with these their norms, and are written where they will lie. Of a
  // row that changes its form the norm is a sum in another order: the norms of all rows are then taken anew.
  bool same_norms = true;
  const auto measure = [&](std::int64_t i) { out.radius_ = std::max(out.radius_, norm(out.row(i))); };
  for (std::int64_t i = 0; i < rows(); ++i) {
    out.push_label(label(i), weight(i));
    const Row x = row(i);
    const auto count = static_cast<std::size_t>(x.count);
    const std::size_t value = x.wide ? sizeof(double) : sizeof(float);
    progress.work(8.0 * x.count + 16.0);
    if (x.indices != nullptr && width * value > 8 + count * (value + sizeof(std::int32_t))) {
      char* const at = out.allocate(8 + count * (value + sizeof(std::int32_t)));
      std::memcpy(at, &x.count, sizeof x.count);
      std::memcpy(at + 8, x.values, count * value);
      auto* const to = reinterpret_cast<std::int32_t*>(at + 8 + count * value);
      if (const std::int32_t* const table = ranks.data(); !ranks.empty())
        for (std::size_t k = 0; k < count; ++k) to[k] = table[x.indices[k]];
      else
        for (std::size_t k = 0; k < count; ++k) to[k] = map[x.indices[k]];
      out.rows_.push_back(reinterpret_cast<std::uintptr_t>(at) | sparse_bit | (x.wide ? wide_bit : 0));
      out.stored_values_ += x.count;
      if (!same_norms) measure(i);
      continue;
    }
    for (std::int64_t before = 0; same_norms && before < i; ++before) {
      measure(before);
      progress.work(out.row(before).count + 16.0);
    }
    same_norms = false;
    columns.clear();
    narrow_values.clear();
    wide_values.clear();
    for (std::int32_t k = 0; k < x.count; ++k) {
      const std::int32_t column = x.indices != nullptr ? x.indices[k] : k;
      if (x.indices == nullptr && x.value(k) == 0) continue;
      columns.push_back(map[column]);
      if (x.wide)
        wide_values.push_back(x.doubles()[k]);
      else
        narrow_values.push_back(x.floats()[k]);
    }
    if (x.wide)
      out.store_smaller(columns, wide_values, wide_scratch);
    else
      out.store_smaller(columns, narrow_values, narrow_scratch);
  }
  if (same_norms) out.radius_ = radius_;
  return out;
}

}  // namespace margin
