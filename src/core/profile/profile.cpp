#include "core/profile/profile.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/base/memory_limit.hpp"
#include "core/profile/profile_form.hpp"

namespace margin {

namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 53;
constexpr std::int64_t rows_between_looks = 1024;  // at the memory that the statistics take

std::unique_ptr<Profile::Statistics> statistics_for(const ProfiledColumn& column) {
  if (!column.kind.has_value() || column.kind == ColumnKind::sparse)
    return std::make_unique<Profile::Statistics>(Profile::Counted{});
  if (column.kind == ColumnKind::category)
    return std::make_unique<Profile::Statistics>(std::in_place_type<Profile::Texts>);
  if (column.kind == ColumnKind::set) return std::make_unique<Profile::Statistics>(std::in_place_type<Profile::Sets>);
  if (column.kind == ColumnKind::dense) return std::make_unique<Profile::Statistics>(Profile::Blocks{});
  return std::make_unique<Profile::Statistics>(NumberStatistics());
}

void merge_into(Profile::Texts& to, const Profile::Texts& from, const ProfiledColumn&, const Progress&) {
  to.count += from.count;
  to.values.merge(from.values);
}

void merge_into(Profile::Sets& to, const Profile::Sets& from, const ProfiledColumn& column, const Progress& progress) {
  to.count += from.count;
  merge_into(to.elements, from.elements, column, progress);
}

void merge_into(Profile::Counted& to, const Profile::Counted& from, const ProfiledColumn&, const Progress&) {
  to.count += from.count;
}

void merge_into(NumberStatistics& to, const NumberStatistics& from, const ProfiledColumn&, const Progress&) {
  to.merge(from);
}

[[noreturn]] void refuse_length(const ProfiledColumn& column, std::size_t found, std::size_t expected) {
  throw Error(
      ErrorKind::wrong_dimensions,
      "column \"" + column.name + "\" has " + std::to_string(found) + " elements, expected " + std::to_string(expected),
      "All arrays of a column must have the same length. Leave others out: margin_sum(...) FILTER (WHERE ...).");
}

void merge_into(Profile::Blocks& to, const Profile::Blocks& from, const ProfiledColumn& column,
                const Progress& progress) {
  if (from.count == 0) return;
  if (to.count == 0)
    to.elements.resize(from.elements.size());
  else if (to.elements.size() != from.elements.size())
    refuse_length(column, from.elements.size(), to.elements.size());
  to.count += from.count;
  for (std::size_t k = 0; k < from.elements.size(); ++k) {
    to.elements[k].merge(from.elements[k]);
    progress.work(256);
  }
}

double memory_of(const Profile::Statistics& s) {
  if (const auto* numbers = std::get_if<NumberStatistics>(&s)) return numbers->bytes();
  if (const auto* texts = std::get_if<Profile::Texts>(&s)) return sizeof s + texts->values.bytes();
  if (const auto* sets = std::get_if<Profile::Sets>(&s)) return sizeof s + sets->elements.values.bytes();
  double all = sizeof s;
  if (const auto* blocks = std::get_if<Profile::Blocks>(&s))
    for (const Sums& element : blocks->elements) all += element.bytes();
  return all;
}

/// Sums of numbers of one size take a few digits each.
constexpr double bytes_of_an_element = sizeof(Sums) + 160;

std::string_view part(std::string_view& left, std::size_t size) {
  if (size > left.size()) throw malformed_profile("it ends early");
  const std::string_view out = left.substr(0, size);
  left.remove_prefix(size);
  return out;
}

std::uint64_t length(std::string_view& left) {
  std::uint64_t n;
  std::memcpy(&n, part(left, sizeof n).data(), sizeof n);
  return n;
}

std::string_view text(std::string_view& left) {
  const std::uint64_t size = length(left);
  if (size > most_text) throw malformed_profile("a text is too long");
  return part(left, static_cast<std::size_t>(size));
}

}  // namespace

void require_elements(std::size_t elements, double limit) {
  const MemoryBudget left(limit);
  const double needed = bytes_of_an_element * static_cast<double>(elements);
  if (!left.allows(needed))
    throw Error(ErrorKind::limit_exceeded,
                "the profile of arrays of " + std::to_string(elements) + " elements takes about " +
                    size_text(needed, true) + ", and margin.memory_limit leaves " + size_text(limit, false),
                "Raise margin.memory_limit, or profile a part of each array.");
}

std::int64_t values_of(const Profile::Statistics& s) {
  return std::visit(
      [](const auto& of) -> std::int64_t {
        if constexpr (std::is_same_v<std::decay_t<decltype(of)>, NumberStatistics>)
          return of.count();
        else
          return of.count;
      },
      s);
}

void Profile::take_columns(std::string_view bytes) {
  columns_ = profiled_columns(bytes);
  bytes_of_columns_ = bytes;
  statistics_.clear();
  for (const ProfiledColumn& c : columns_) statistics_.push_back(statistics_for(c));
}

void Profile::require_columns(std::string_view bytes) const {
  if (bytes == bytes_of_columns_) return;
  const std::vector<ProfiledColumn> others = profiled_columns(bytes);
  const auto named = [](const std::vector<ProfiledColumn>& columns, const std::string& name) {
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const ProfiledColumn& c) { return c.name == name; });
    return found == columns.end() ? nullptr : &*found;
  };
  std::string difference;
  for (const ProfiledColumn& c : columns_) {
    const ProfiledColumn* other = named(others, c.name);
    if (other == nullptr)
      difference = "one has a column \"" + c.name + "\", the other has not";
    else if (other->type != c.type || other->kind != c.kind)
      difference = "column \"" + c.name + "\" is of type " + c.type + " in one and " + other->type + " in the other";
  }
  for (const ProfiledColumn& c : others)
    if (named(columns_, c.name) == nullptr) difference = "one has a column \"" + c.name + "\", the other has not";
  throw Error(ErrorKind::invalid_value, "profiles of different columns cannot be added up: " + difference,
              "Use GROUP BY, so that each sum has rows of the same columns, or cast and name them alike.");
}

void Profile::require_memory(double limit) const {
  const MemoryBudget left(limit);
  const double needed = memory();
  if (left.allows(needed)) return;
  throw Error(ErrorKind::limit_exceeded,
              "the profile of " + std::to_string(columns_.size()) + " columns takes about " + size_text(needed, true) +
                  ", and margin.memory_limit leaves " + size_text(limit, false),
              "Raise margin.memory_limit, or profile fewer columns.");
}

double Profile::memory() const {
  double all = static_cast<double>(bytes_of_columns_.size());
  for (const auto& s : statistics_) all += memory_of(*s);
  return all;
}

void Profile::add_block(std::size_t column, std::string_view& tail, double limit, const Progress& progress) {
  auto& blocks = std::get<Blocks>(*statistics_[column]);
  const std::uint64_t n = length(tail);
  if (n == 0 || n > tail.size() / sizeof(double)) throw malformed_profile("an array has no length that it can have");
  const auto d = static_cast<std::size_t>(n);
  if (d > most_elements)
    throw Error(ErrorKind::limit_exceeded,
                "column \"" + columns_[column].name + "\" has " + std::to_string(d) +
                    " elements, and a profile takes up to " + std::to_string(most_elements),
                "Profile a part of each array.");
  if (blocks.count == 0) {
    require_elements(d, limit);
    blocks.elements.resize(d);
  } else if (blocks.elements.size() != d)
    refuse_length(columns_[column], d, blocks.elements.size());
  ++blocks.count;
  const std::string_view values = part(tail, d * sizeof(double));
  for (std::size_t k = 0; k < d; ++k) {
    double v;
    std::memcpy(&v, values.data() + k * sizeof v, sizeof v);
    blocks.elements[k].add(v);
    progress.work(16);
  }
}

void Profile::add_set(std::size_t column, std::string_view& tail, const Progress& progress) {
  auto& sets = std::get<Sets>(*statistics_[column]);
  ++sets.count;
  std::string_view last;
  for (std::uint64_t n = length(tail), k = 0; k < n; ++k) {
    const std::string_view element = text(tail);
    if (k > 0 && !(last < element)) throw malformed_profile("the elements of a set are not sorted");
    ++sets.elements.count;
    sets.elements.values.add(element);
    last = element;
    progress.work(64);
  }
}

bool Profile::of_row(std::string_view bytes) { return profile_form(bytes).row; }

void Profile::add(std::string_view row, double limit, const Progress& progress) {
  const ProfileForm form = profile_form(row);
  const bool fresh = empty();
  if (fresh)
    take_columns(form.columns);
  else if (form.columns != bytes_of_columns_)
    require_columns(form.columns);
  const std::size_t n = columns_.size();
  std::string_view left = form.rest;
  const std::string_view present = part(left, to_eight(n)), numbers = part(left, 8 * n);
  if (rows_ >= most_rows) throw Error(ErrorKind::limit_exceeded, "a profile cannot count more than 2^53 rows");
  ++rows_;
  bool wide = false;
  for (std::size_t j = 0; j < n; ++j) {
    if (present[j] == 0) continue;
    if (present[j] != 1) throw malformed_profile("a value is neither there nor missing");
    Statistics& s = *statistics_[j];
    if (auto* of = std::get_if<NumberStatistics>(&s)) {
      double v;
      std::memcpy(&v, numbers.data() + 8 * j, sizeof v);
      of->add(v);
    } else if (auto* texts = std::get_if<Texts>(&s)) {
      ++texts->count;
      texts->values.add(text(left));
    } else if (std::holds_alternative<Sets>(s)) {
      add_set(j, left, progress);
    } else if (std::holds_alternative<Blocks>(s)) {
      wide |= std::get<Blocks>(s).count == 0;
      add_block(j, left, limit, progress);
    } else {
      ++std::get<Counted>(s).count;
    }
  }
  if (!left.empty()) throw malformed_profile("there are bytes behind its end");
  progress.work(16.0 * static_cast<double>(n));
  if (limit >= 0 && (fresh || wide || rows_ % rows_between_looks == 0)) require_memory(limit);
}

void Profile::merge(const Profile& other, double limit, const Progress& progress) {
  if (other.empty()) return;
  if (empty())
    take_columns(other.bytes_of_columns_);
  else
    require_columns(other.bytes_of_columns_);
  if (rows_ > most_rows - other.rows_)
    throw Error(ErrorKind::limit_exceeded, "a profile cannot count more than 2^53 rows");
  rows_ += other.rows_;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    std::visit(
        [&](auto& to) {
          merge_into(to, std::get<std::decay_t<decltype(to)>>(*other.statistics_[j]), columns_[j], progress);
        },
        *statistics_[j]);
    progress.work(65536);
  }
  if (limit >= 0) require_memory(limit);
}

}  // namespace margin
