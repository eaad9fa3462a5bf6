#include "core/encoder/row_codes.hpp"

namespace margin {

namespace {

/// What a column's features are as a term: none of its own but an indicator of missing ones where it is a number.
CodedTerm term_of(const Column& c) {
  CodedTerm t;
  t.first = c.first;
  t.indicators = c.missing ? 1 : 0;
  if (c.binned()) {
    t.steps = c.values();
    t.filled = c.bin(c.fill[0]);
  } else if (c.kind == ColumnKind::category) {
    t.indicators += c.values();
  } else {
    t.first += 1;
  }
  return t;
}

CodedTerm term_of(const PairTerm& p) { return {p.first, 0, p.cells(), 0}; }

bool is_number(const Column& c) { return scalar(c.kind) && !c.binned(); }

}  // namespace

std::optional<CodeLayout> code_layout(const Encoder& encoder) {
  if (!encoder.dropped_names().empty()) return std::nullopt;
  CodeLayout layout;
  layout.dimensions = encoder.width();
  bool binned = false;
  for (const Column& c : encoder.columns()) {
    if (block(c.kind)) return std::nullopt;
    binned = binned || c.binned();
    if (is_number(c)) layout.numbers.push_back(c.first);
    const CodedTerm t = term_of(c);
    if (t.codes() > CodedRows::most_codes) return std::nullopt;
    if (t.features() > 0) layout.terms.push_back(t);
  }
  for (const PairTerm& p : encoder.pairs()) {
    layout.terms.push_back(term_of(p));
    if (layout.terms.back().codes() > CodedRows::most_codes) return std::nullopt;
  }
  return binned || !encoder.pairs().empty() ? std::optional<CodeLayout>(std::move(layout)) : std::nullopt;
}

RowCoder::RowCoder(const Encoder& encoder, const std::vector<std::vector<double>>& ranks, CodedRows& out) : out_(out) {
  std::int32_t terms = 0, numbers = 0;
  for (std::size_t j = 0; j < encoder.columns().size(); ++j) {
    const Column& c = encoder.columns()[j];
    const CodedTerm t = term_of(c);
    Cell cell;
    cell.column = j;
    cell.may_miss = c.missing;
    cell.missing = t.features();
    if (is_number(c)) {
      cell.number = numbers++;
      cell.fill = c.fill[0];
      cell.center = c.center[0];
      cell.inverse = 1 / c.scale[0];
    }
    if (t.features() > 0) cell.term = terms++;
    cell.thresholds = c.thresholds;
    if (c.kind == ColumnKind::category) {
      for (const double rank : ranks[j]) cell.codes.push_back(c.indicator_of(static_cast<std::int32_t>(rank)) + 1);
      if (cell.codes.empty()) cell.codes.assign(1, 0);  // all rows miss it
    }
    cells_.push_back(std::move(cell));
  }
  for (const PairTerm& p : encoder.pairs()) {
    Pair pair{{}, terms++, p.sides[1].levels()};
    for (const PairSide& s : p.sides) {
      Side& side = pair.sides.emplace_back(Side{s.at, encoder.columns()[s.at].missing, s.filled, &s});
      if (s.kind != ColumnKind::category) continue;
      for (const double rank : ranks[s.at]) side.levels.push_back(s.level(rank));
      if (side.levels.empty()) side.levels.assign(1, s.filled);  // all rows miss it
    }
    pairs_.push_back(std::move(pair));
  }
}

}  // namespace margin
