// The bytes of columns, and of one row.
#include <algorithm>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/profile/profile_form.hpp"

namespace margin {

namespace {

constexpr std::uint8_t no_kind = 255;
constexpr std::size_t most_columns = 65536;  // more than a table or a function can have

}  // namespace

Error malformed_profile(const char* problem) {
  return {ErrorKind::malformed, std::string("malformed margin_profile: ") + problem};
}

std::string profiled_bytes(const std::vector<ProfiledColumn>& columns) {
  std::vector<const ProfiledColumn*> sorted;
  for (const ProfiledColumn& c : columns) sorted.push_back(&c);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  ByteWriter out;
  out(static_cast<std::uint64_t>(columns.size()));
  for (const ProfiledColumn* c : sorted) {
    out(c->name);
    out(c->type);
    out(c->kind.has_value() ? static_cast<std::uint8_t>(*c->kind) : no_kind);
  }
  return out.bytes();
}

std::vector<ProfiledColumn> profiled_columns(std::string_view bytes) {
  ByteReader in(bytes, "margin_profile");
  const std::size_t n = in.count(17);
  in.require(n >= 1 && n <= most_columns, "it has no columns, or too many");
  std::vector<ProfiledColumn> columns(n);
  for (std::size_t j = 0; j < n; ++j) {
    ProfiledColumn& c = columns[j];
    std::uint8_t kind;
    in(c.name);
    in(c.type);
    in(kind);
    in.require(kind == no_kind || kind <= static_cast<std::uint8_t>(ColumnKind::set), "a column is of no kind");
    if (kind != no_kind) c.kind = static_cast<ColumnKind>(kind);
    in.require(j == 0 || columns[j - 1].name < c.name, "the columns are not sorted by name");
  }
  in.finish();
  return columns;
}

std::string profile_head(std::uint32_t mark, std::string_view columns) {
  std::string out(to_eight(8 + columns.size()), '\0');
  const auto size = static_cast<std::uint32_t>(columns.size());
  std::memcpy(out.data(), &mark, 4);
  std::memcpy(out.data() + 4, &size, 4);
  columns.copy(out.data() + 8, columns.size());
  return out;
}

ProfileForm profile_form(std::string_view bytes) {
  std::uint32_t mark = 0, size = 0;
  if (bytes.size() >= 8) {
    std::memcpy(&mark, bytes.data(), 4);
    std::memcpy(&size, bytes.data() + 4, 4);
  }
  if (mark != row_mark && mark != statistics_mark) throw malformed_profile("it does not begin as one");
  if (to_eight(std::size_t{8} + size) > bytes.size()) throw malformed_profile("it ends early");
  return {mark == row_mark, bytes.substr(8, size), bytes.substr(to_eight(std::size_t{8} + size))};
}

std::string shortened(std::string_view text, std::string_view beginning) {
  constexpr std::uint64_t prime = 0x100000001B3;
  std::uint64_t h = 0xCBF29CE484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * prime;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EB;
  h ^= h >> 31;
  std::string out(beginning);
  out += "... #";
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[h >> shift & 15];
  return out;
}

bool is_shortened(std::string_view text) {
  constexpr std::size_t tail = 21, most_of_a_character = 4;  // "... #" and the hash
  if (text.size() + most_of_a_character < most_text || text.size() > most_text) return false;
  const std::string_view end = text.substr(text.size() - tail);
  return end.substr(0, 5) == "... #" && end.find_first_not_of("0123456789abcdef", 5) == std::string_view::npos;
}

ProfileRow::ProfileRow(std::string_view columns) : head_(profile_head(row_mark, columns)) {
  const std::size_t n = profiled_columns(columns).size();
  present_.resize(to_eight(n));
  numbers_.resize(n);
}

void ProfileRow::begin() {
  std::fill(present_.begin(), present_.end(), '\0');
  tail_.clear();
  at_ = 0;
}

void ProfileRow::put_text(std::string_view v) {
  const auto size = static_cast<std::uint64_t>(v.size());
  tail_.append(reinterpret_cast<const char*>(&size), sizeof size);
  tail_.append(v);
}

void ProfileRow::text(std::string_view v) {
  put_text(v);
  number(0);
}

void ProfileRow::set(const std::vector<std::string>& elements) {
  const auto size = static_cast<std::uint64_t>(elements.size());
  tail_.append(reinterpret_cast<const char*>(&size), sizeof size);
  for (const std::string& element : elements) put_text(element);
  number(0);
}

void ProfileRow::block(const FeatureRow& x) {
  const auto size = static_cast<std::uint64_t>(x.count);
  tail_.append(reinterpret_cast<const char*>(&size), sizeof size);
  for (std::int32_t k = 0; k < x.count; ++k) {
    const double v = x.value(k);
    tail_.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  number(0);
}

void ProfileRow::write(char* to) const {
  const auto put = [&](const void* from, std::size_t size) {
    std::memcpy(to, from, size);
    to += size;
  };
  put(head_.data(), head_.size());
  put(present_.data(), present_.size());
  put(numbers_.data(), 8 * numbers_.size());
  if (!tail_.empty()) put(tail_.data(), tail_.size());
}

}  // namespace margin
