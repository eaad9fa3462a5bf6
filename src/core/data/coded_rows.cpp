#include "core/data/coded_rows.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

constexpr std::int64_t together = 1024;  // rows whose sums stay in the first cache

template <class C>
void look_up(const C* codes, std::size_t n, const double* table, double* u) {
  for (std::size_t i = 0; i < n; ++i) u[i] += table[codes[i]];
}

/// Four terms of one byte at once: the score is read and written once for them.
void look_up_four(const std::uint8_t* const* c, const double* const* table, std::size_t n, double* u) {
  for (std::size_t i = 0; i < n; ++i)
    u[i] += (table[0][c[0][i]] + table[1][c[1][i]]) + (table[2][c[2][i]] + table[3][c[3][i]]);
}

void add_four(const std::uint8_t* const* codes, double* const* cells, std::size_t n, const double* c) {
  for (std::size_t i = 0; i < n; ++i) {
    const double v = c[i];
    cells[0][codes[0][i]] += v;
    cells[1][codes[1][i]] += v;
    cells[2][codes[2][i]] += v;
    cells[3][codes[3][i]] += v;
  }
}

/// The expanded rows of a thread, one after another in turn.
struct Expanded {
  struct Slot {
    std::vector<std::int32_t> indices;
    std::vector<float> floats;
    std::vector<double> doubles;
  };
  std::vector<Slot> slots = std::vector<Slot>(CodedRows::kept);
  std::size_t next = 0;
};

Expanded& expanded() {
  thread_local Expanded of_thread;
  return of_thread;
}

}  // namespace

std::vector<std::size_t> CodeLayout::starts() const {
  std::vector<std::size_t> out(1, 0);
  for (const CodedTerm& t : terms) out.push_back(out.back() + static_cast<std::size_t>(t.codes()));
  return out;
}

// A weight goes through as many running sums as its term has features; what a term gives goes through the additions of a group of
// four and of all groups, as a number does through its own.
std::int32_t CodeLayout::depth() const {
  std::int32_t longest = 0;
  for (const CodedTerm& t : terms) longest = std::max(longest, t.features());
  return longest + static_cast<std::int32_t>(terms.size() + numbers.size()) + 4;
}

CodedRows::CodedRows(CodeLayout layout, std::int64_t rows) : layout_(std::move(layout)), rows_(rows) {
  const auto n = static_cast<std::size_t>(rows);
  for (const CodedTerm& t : layout_.terms) {
    wide_.push_back(t.codes() > 256);
    codes_.emplace_back(new std::uint8_t[n * (wide_.back() ? 2 : 1)]);
  }
  for (std::size_t k = 0; k < layout_.numbers.size(); ++k) numbers_.emplace_back(new double[n]);
}

double CodedRows::bytes(const CodeLayout& layout, std::int64_t rows) {
  double per_row = 8.0 * static_cast<double>(layout.numbers.size());
  for (const CodedTerm& t : layout.terms) per_row += t.codes() > 256 ? 2 : 1;
  return per_row * static_cast<double>(rows);
}

double CodedRows::radius(const Progress& progress) const {
  const RowSquares squares(*this);
  double largest = 0, part[together];
  for (std::int64_t begin = 0; begin < rows_; begin += together) {
    const std::int64_t end = std::min(rows_, begin + together);
    squares.write(begin, end, part);
    largest = std::max(largest, *std::max_element(part, part + (end - begin)));
    progress.work(static_cast<double>(end - begin) * RowScores::work(layout_));
  }
  return std::sqrt(largest);
}

Row CodedRows::row(std::int64_t i) const {
  Expanded& all = expanded();
  Expanded::Slot& slot = all.slots[all.next];
  all.next = (all.next + 1) % kept;
  const bool wide = !layout_.numbers.empty();
  slot.indices.clear();
  slot.doubles.clear();
  std::size_t number = 0;
  const auto numbers_before = [&](std::int32_t feature) {
    for (; number < layout_.numbers.size() && layout_.numbers[number] < feature; ++number) {
      const double v = numbers_[number][i];
      if (v == 0) continue;
      slot.doubles.resize(slot.indices.size(), 1.0);
      slot.indices.push_back(layout_.numbers[number]);
      slot.doubles.push_back(v);
    }
  };
  for (std::size_t t = 0; t < layout_.terms.size(); ++t) {
    const CodedTerm& term = layout_.terms[t];
    numbers_before(term.first);
    const std::int32_t c = code(t, i), ones = c <= term.steps ? c : term.filled;
    for (std::int32_t k = 0; k < ones; ++k) slot.indices.push_back(term.first + k);
    if (c > term.steps) slot.indices.push_back(term.first + c - 1);
  }
  numbers_before(layout_.dimensions);
  const auto count = static_cast<std::int32_t>(slot.indices.size());
  if (wide) {
    slot.doubles.resize(slot.indices.size(), 1.0);
    return sparse_row(slot.indices.data(), slot.doubles.data(), count, layout_.dimensions);
  }
  if (slot.floats.size() < slot.indices.size()) slot.floats.resize(slot.indices.size(), 1.0F);
  return sparse_row(slot.indices.data(), slot.floats.data(), count, layout_.dimensions);
}

std::shared_ptr<const CodedRows> CodedRows::subset(const std::vector<std::int64_t>& which,
                                                   const Progress& progress) const {
  auto out = std::make_shared<CodedRows>(layout_, static_cast<std::int64_t>(which.size()));
  const auto copy = [&](const auto* from, auto* to) {
    for (std::size_t begin = 0; begin < which.size(); begin += together) {
      const std::size_t end = std::min(which.size(), begin + std::size_t{together});
      for (std::size_t k = begin; k < end; ++k) to[k] = from[which[k]];
      progress.work(2.0 * static_cast<double>(end - begin));
    }
  };
  for (std::size_t t = 0; t < codes_.size(); ++t) {
    if (wide_[t])
      copy(reinterpret_cast<const std::uint16_t*>(codes_[t].get()),
           reinterpret_cast<std::uint16_t*>(out->codes_[t].get()));
    else
      copy(codes_[t].get(), out->codes_[t].get());
  }
  for (std::size_t k = 0; k < numbers_.size(); ++k) copy(numbers_[k].get(), out->numbers_[k].get());
  return out;
}

RowScores::RowScores(const CodedRows& rows, const double* w, bool squares)
    : rows_(rows), squares_(squares), starts_(rows.layout().starts()), table_(starts_.back(), 0.0) {
  const CodeLayout& layout = rows.layout();
  for (std::size_t t = 0; t < layout.terms.size(); ++t) {
    const CodedTerm& term = layout.terms[t];
    const double* const of = w + term.first;
    double* const to = table_.data() + starts_[t];
    for (std::int32_t c = 0; c < term.steps; ++c) to[c + 1] = to[c] + of[c];
    for (std::int32_t k = term.steps; k < term.features(); ++k) to[k + 1] = to[term.filled] + of[k];
  }
  for (const std::int32_t feature : layout.numbers) of_numbers_.push_back(w[feature]);
}

void RowScores::write(std::int64_t begin, std::int64_t end, double constant, double* u) const {
  const std::size_t terms = starts_.size() - 1;
  for (; begin < end; begin += together) {
    const auto n = static_cast<std::size_t>(std::min(together, end - begin));
    std::fill_n(u, n, constant);
    const std::uint8_t* codes[4];
    const double* tables[4];
    std::size_t four = 0;
    for (std::size_t t = 0; t < terms; ++t) {
      const double* const table = table_.data() + starts_[t];
      rows_.with_codes(t, [&](const auto* of_term) {
        if constexpr (sizeof *of_term == 1) {
          codes[four] = of_term + begin;
          tables[four++] = table;
        } else {
          look_up(of_term + begin, n, table, u);
        }
      });
      if (four == 4) {
        look_up_four(codes, tables, n, u);
        four = 0;
      }
    }
    for (std::size_t k = 0; k < four; ++k) look_up(codes[k], n, tables[k], u);
    for (std::size_t k = 0; k < of_numbers_.size(); ++k) {
      const double* const x = rows_.number(k) + begin;
      for (std::size_t i = 0; i < n; ++i) u[i] += of_numbers_[k] * (squares_ ? x[i] * x[i] : x[i]);
    }
    u += n;
  }
}

RowSquares::RowSquares(const CodedRows& rows)
    : scores_(rows, std::vector<double>(static_cast<std::size_t>(rows.layout().dimensions), 1.0).data(), true) {}

RowSums::RowSums(const CodedRows& rows) : rows_(rows), starts_(rows.layout().starts()) {}

void RowSums::add(std::int64_t begin, std::int64_t end, const double* c, double* cells, bool squares) const {
  const std::size_t terms = starts_.size() - 1, numbers = rows_.layout().numbers.size();
  double* const sums = cells + starts_.back();
  for (; begin < end; begin += together) {
    const auto n = static_cast<std::size_t>(std::min(together, end - begin));
    const std::uint8_t* codes[4];
    double* of[4];
    std::size_t four = 0;
    for (std::size_t t = 0; t < terms; ++t) {
      double* const of_term = cells + starts_[t];
      rows_.with_codes(t, [&](const auto* from) {
        if constexpr (sizeof *from == 1) {
          codes[four] = from + begin;
          of[four++] = of_term;
        } else {
          for (std::size_t i = 0; i < n; ++i) of_term[from[begin + static_cast<std::int64_t>(i)]] += c[i];
        }
      });
      if (four == 4) {
        add_four(codes, of, n, c);
        four = 0;
      }
    }
    for (std::size_t k = 0; k < four; ++k)
      for (std::size_t i = 0; i < n; ++i) of[k][codes[k][i]] += c[i];
    for (std::size_t k = 0; k < numbers; ++k) {
      const double* const x = rows_.number(k) + begin;
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += c[i] * (squares ? x[i] * x[i] : x[i]);
      sums[k] += sum;
    }
    double all = 0;
    for (std::size_t i = 0; i < n; ++i) all += c[i];
    sums[numbers] += all;
    c += n;
  }
}

void RowSums::add(const std::int64_t* which, std::size_t count, const double* c, double* cells) const {
  const std::size_t terms = starts_.size() - 1, numbers = rows_.layout().numbers.size();
  double* const sums = cells + starts_.back();
  for (std::size_t t = 0; t < terms; ++t)
    rows_.with_codes(t, [&](const auto* codes) {
      for (std::size_t k = 0; k < count; ++k) cells[starts_[t] + codes[which[k]]] += c[k];
    });
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t j = 0; j < numbers; ++j) sums[j] += c[k] * rows_.number(j)[which[k]];
    sums[numbers] += c[k];
  }
}

double RowSums::features(const double* cells, double* v) const {
  const CodeLayout& layout = rows_.layout();
  for (std::size_t t = 0; t < layout.terms.size(); ++t) {
    double* const to = v + layout.terms[t].first;
    fold_cells(layout.terms[t], cells + starts_[t], [&](std::int32_t f, double sum) { to[f] = sum; });
  }
  const double* const sums = cells + starts_.back();
  for (std::size_t k = 0; k < layout.numbers.size(); ++k) v[layout.numbers[k]] = sums[k];
  return sums[layout.numbers.size()];
}

}  // namespace margin
