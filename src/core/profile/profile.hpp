// What the columns of a table are: counts, missing values, exact sums, ends, ranks and frequent values of each, as one
// state that merges and whose size does not depend on the number of rows. As bytes it is what SQL calls a
// margin_profile; a single row is such a profile too, in a form of its own that is quick to write and to add up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/row.hpp"
#include "core/encoder/column.hpp"
#include "core/profile/column_statistics.hpp"

namespace margin {

struct ProfiledColumn {
  std::string name;
  std::string type;  ///< the SQL type, without its schema
  /// As an encoder reads it; nothing for types of which only NULLs are counted.
  std::optional<ColumnKind> kind;
};

/// Columns as the bytes with which every profile of them begins. They are sorted by name.
std::string profiled_bytes(const std::vector<ProfiledColumn>& columns);

/// A text of which not more than this is kept; a longer one is its beginning and a hash of it all.
constexpr std::size_t most_text = 256;
/// `beginning`: not more than `most_text` − 24 bytes of the text, which end between two characters.
std::string shortened(std::string_view text, std::string_view beginning);
/// Whether a text looks like what shortened() makes.
bool is_shortened(std::string_view text);

/// Writes the profile of one row: one value or null() for each column, in their order.
class ProfileRow {
 public:
  /// `columns`: as profiled_bytes() has them.
  explicit ProfileRow(std::string_view columns);

  void begin();
  void null() { ++at_; }
  void number(double v) {
    numbers_[at_] = v;
    present_[at_++] = 1;
  }
  /// Not longer than `most_text`.
  void text(std::string_view v);
  void block(const FeatureRow& x);
  /// Ascending by bytes, each once, none longer than `most_text`.
  void set(const std::vector<std::string>& elements);
  /// A value that is only counted.
  void counted() { number(0); }

  std::size_t size() const { return head_.size() + present_.size() + 8 * numbers_.size() + tail_.size(); }
  /// Writes size() bytes, once all columns have theirs.
  void write(char* to) const;

 private:
  void put_text(std::string_view v);

  std::string head_;
  std::string present_;  // a byte for each column, up to a multiple of 8
  std::vector<double> numbers_;
  std::string tail_;
  std::size_t at_ = 0;
};

class Profile {
 public:
  struct Empty {};
  /// The statistics of a column: of numbers, of texts, of sets of texts, of the elements of arrays, or none.
  struct Texts {
    std::int64_t count = 0;
    FrequentTexts values = {};
  };
  struct Sets {
    std::int64_t count = 0;
    Texts elements = {};  ///< of all sets together
  };
  struct Blocks {
    std::int64_t count = 0;
    std::vector<Sums> elements = {};
  };
  struct Counted {
    std::int64_t count = 0;
  };
  using Statistics = std::variant<NumberStatistics, Texts, Blocks, Counted, Sets>;

  Profile() = default;
  Profile(Profile&&) = default;
  Profile& operator=(Profile&&) = default;

  bool empty() const { return bytes_of_columns_.empty(); }
  /// Whether these bytes are the profile of one row, which add() takes.
  static bool of_row(std::string_view bytes);
  /// Throws Error: invalid_value (other columns), wrong_dimensions (arrays of another length), limit_exceeded (more rows
  /// than can be counted, or more memory than `limit` bytes; negative: none), malformed.
  void add(std::string_view row, double limit, const Progress& progress = {});
  void merge(const Profile& other, double limit, const Progress& progress = {});

  std::int64_t rows() const { return rows_; }
  const std::vector<ProfiledColumn>& columns() const { return columns_; }
  Statistics& statistics(std::size_t column) { return *statistics_[column]; }
  const Statistics& statistics(std::size_t column) const { return *statistics_[column]; }

  std::string bytes(const Progress& progress = {});
  /// Of either form. Throws Error: malformed, limit_exceeded.
  static Profile from_bytes(std::string_view bytes, double limit, const Progress& progress = {});

  /// Of memory, about.
  double memory() const;

 private:
  void take_columns(std::string_view bytes);
  void require_columns(std::string_view bytes) const;
  void require_memory(double limit) const;
  void add_set(std::size_t column, std::string_view& tail, const Progress& progress);
  void add_block(std::size_t column, std::string_view& tail, double limit, const Progress& progress);

  std::string bytes_of_columns_;
  std::vector<ProfiledColumn> columns_;
  std::vector<std::unique_ptr<Statistics>> statistics_;
  std::int64_t rows_ = 0;
};

/// Arrays of a column have no more elements.
constexpr std::size_t most_elements = std::size_t{1} << 20;

/// The values of a column.
std::int64_t values_of(const Profile::Statistics& s);

}  // namespace margin
