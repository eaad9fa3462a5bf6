// The statistics of a profile as bytes, and back. What is read may be anybody's.
#include <algorithm>
#include <cmath>

#include "core/base/bytes.hpp"
#include "core/profile/profile_form.hpp"

namespace margin {

namespace {

constexpr std::int64_t most_counted = std::int64_t{1} << 53;
constexpr const char* what = "margin_profile";

void write(ByteWriter& out, const ExactTotal& sum) {
  const ExactTotal::Digits d = sum.digits();
  out(d.negative);
  out(d.first);
  out(d.digits);
}

void write(ByteWriter& out, const Sums& s) {
  out(s.count);
  out(s.nan);
  out(s.infinite);
  out(s.least);
  out(s.largest);
  write(out, s.sum);
  write(out, s.squares);
}

void write(ByteWriter& out, NumberStatistics& s, const Progress&) {
  write(out, s.sums());
  const FrequentNumbers& frequent = s.frequent();
  out(frequent.missed());
  out(static_cast<std::uint64_t>(frequent.items().size()));
  for (const auto& [value, count] : frequent.items()) {
    out(value);
    out(count);
  }
  const RankSketch& ranks = s.ranks();
  out(ranks.below());
  out(ranks.above());
  out(static_cast<std::uint64_t>(ranks.levels().size()));
  for (const std::vector<double>& level : ranks.levels()) out(level);
}

void write(ByteWriter& out, Profile::Texts& s, const Progress&) {
  const std::vector<FrequentTexts::Item> items = s.values.items();  // before missed() is asked for
  out(s.count);
  out(s.values.missed());
  out(static_cast<std::uint64_t>(items.size()));
  for (const auto& [text, count] : items) {
    out(text);
    out(count);
  }
}

void write(ByteWriter& out, Profile::Sets& s, const Progress& progress) {
  out(s.count);
  write(out, s.elements, progress);
}

void write(ByteWriter& out, Profile::Blocks& s, const Progress& progress) {
  out(s.count);
  out(static_cast<std::uint64_t>(s.elements.size()));
  for (const Sums& element : s.elements) {
    write(out, element);
    progress.work(64);
  }
}

void write(ByteWriter& out, Profile::Counted& s, const Progress&) { out(s.count); }

ExactTotal read_total(ByteReader& in, std::int32_t most) {
  ExactTotal::Digits d;
  in(d.negative);
  in(d.first);
  in(d.digits);
  in.require(ExactTotal::sound(d, most), "a sum has digits that no sum has");
  return ExactTotal::of(d);
}

void read(ByteReader& in, Sums& s) {
  in(s.count);
  in(s.nan);
  in(s.infinite);
  in(s.least);
  in(s.largest);
  s.sum = read_total(in, ExactTotal::most_digits);
  s.squares = read_total(in, ExactTotal::most_square_digits);
  in.require(!s.squares.digits().negative && s.count >= 0 && s.count <= most_counted && s.sound(),
             "the sums of a column are those of no numbers");
}

/// Counts of values that add up to `all` at most, or exactly where none is missed.
void require_counts(const ByteReader& in, std::int64_t counted, std::int64_t missed, std::int64_t all,
                    std::size_t values) {
  in.require(missed >= 0 && missed <= all && values <= most_values && counted <= all && (missed > 0 || counted == all),
             "the counts of the values of a column contradict its count");
}

void read(ByteReader& in, NumberStatistics& s, double, const Progress& progress) {
  Sums sums;
  read(in, sums);
  std::int64_t missed, counted = 0;
  in(missed);
  std::vector<FrequentNumbers::Item> items(in.count(16));
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& [value, count] = items[i];
    in(value);
    in(count);
    in.require(value >= sums.least && value <= sums.largest && (i == 0 || items[i - 1].first < value),
               "the values of a column are not sorted, or outside of its ends");
    in.require(count >= 1 && count <= sums.finite() - counted, "the counts of a column's values are too large");
    counted += count;
  }
  require_counts(in, counted, missed, sums.finite(), items.size());
  std::int64_t below, above;
  in(below);
  in(above);
  std::vector<std::vector<double>> levels(in.count(8));
  in.require(levels.size() <= RankSketch::most_levels, "a column has too many levels of ranks");
  std::int64_t left = missed > 0 ? sums.finite() : 0;
  for (std::size_t h = 0; h < levels.size(); ++h) {
    in(levels[h]);
    progress.work(static_cast<double>(levels[h].size()));
    in.require(
        levels[h].size() < RankSketch::most_of_a_level && levels[h].size() <= static_cast<std::uint64_t>(left) >> h,
        "a column's ranks are of too many values");
    left -= static_cast<std::int64_t>(levels[h].size()) << h;
    double last = sums.least;
    for (const double v : levels[h]) {
      in.require(v >= last && v <= sums.largest, "a column's ranks are not sorted, or outside of its ends");
      last = v;
    }
  }
  in.require(left == 0 && below >= 0 && above >= 0 && below <= sums.finite() && above <= sums.finite(),
             "a column's ranks are not those of its values");
  FrequentNumbers frequent;
  frequent.merge(items, missed);
  s.set(std::move(sums), std::move(frequent), RankSketch::of(std::move(levels), below, above));
}

void read(ByteReader& in, Profile::Texts& s, double, const Progress& progress) {
  std::int64_t missed, counted = 0;
  in(s.count);
  in(missed);
  in.require(s.count >= 0 && s.count <= most_counted, "a column has an impossible count");
  std::vector<FrequentTexts::Item> items(in.count(16));
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& [text, count] = items[i];
    in(text);
    in(count);
    progress.work(64);
    in.require(text.size() <= most_text && (i == 0 || items[i - 1].first < text),
               "the texts of a column are not sorted, or too long");
    in.require(count >= 1 && count <= s.count - counted, "the counts of a column's values are too large");
    counted += count;
  }
  require_counts(in, counted, missed, s.count, items.size());
  s.values.set(items, missed);
}

void read(ByteReader& in, Profile::Sets& s, double limit, const Progress& progress) {
  in(s.count);
  read(in, s.elements, limit, progress);
  for (const FrequentTexts::Item& item : s.elements.values.items())
    in.require(item.second <= s.count, "an element is in more sets than there are");
}

void read(ByteReader& in, Profile::Blocks& s, double limit, const Progress& progress) {
  in(s.count);
  const std::size_t elements = in.count(66);
  in.require(elements <= most_elements, "an array has too many elements");
  require_elements(elements, limit);
  s.elements.resize(elements);
  in.require(s.count >= 0 && s.count <= most_counted && (s.count > 0) == !s.elements.empty(),
             "a column has an impossible count");
  for (Sums& element : s.elements) {
    read(in, element);
    in.require(element.count == s.count, "the elements of arrays have different counts");
    progress.work(8192);
  }
}

void read(ByteReader& in, Profile::Counted& s, double, const Progress&) { in(s.count); }

}  // namespace

std::string Profile::bytes(const Progress& progress) {
  if (empty()) return {};
  const std::string head = profile_head(statistics_mark, bytes_of_columns_);
  ByteWriter out;
  out.raw(head.data(), head.size());
  out(rows_);
  for (const auto& s : statistics_) {
    std::visit([&](auto& of) { write(out, of, progress); }, *s);
    progress.work(65536);
  }
  return std::move(out.bytes());
}

Profile Profile::from_bytes(std::string_view bytes, double limit, const Progress& progress) {
  Profile out;
  const ProfileForm form = profile_form(bytes);
  if (form.row) {
    out.add(bytes, limit, progress);
    return out;
  }
  out.take_columns(form.columns);
  ByteReader in(form.rest, what);
  in(out.rows_);
  in.require(out.rows_ >= 1 && out.rows_ <= most_counted, "it has an impossible number of rows");
  for (const auto& s : out.statistics_) {
    std::visit([&](auto& of) { read(in, of, limit, progress); }, *s);
    const std::int64_t values = values_of(*s);
    in.require(values >= 0 && values <= out.rows_, "a column has more values than there are rows");
    progress.work(65536);
  }
  in.finish();
  if (limit >= 0) out.require_memory(limit);
  return out;
}

}  // namespace margin
