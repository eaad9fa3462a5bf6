// Sparse vectors as text, on the wire and packed: what is read is what was written, and a refusal names the place.
#include "core/data/sparse_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/random.hpp"

namespace margin {
namespace {

using Indices = std::vector<std::int32_t>;
using Values = std::vector<double>;

/// Packed bytes at an address that a varlena's payload has.
class Packed {
 public:
  explicit Packed(const SparseVector& v) {
    const bool wide = needs_double(v);
    size_ = packed_bytes(v.indices.size(), wide);
    words_.resize(size_ / 8 + 2);
    pack(v, wide, start(), Progress{});
  }
  std::string_view bytes() const { return {const_cast<Packed*>(this)->start(), size_}; }
  FeatureRow view() const { return view_packed(bytes()); }

 private:
  char* start() { return reinterpret_cast<char*>(words_.data()) + 4; }
  std::vector<double> words_;
  std::size_t size_ = 0;
};

std::string again(std::string_view text) { return print_sparse(Packed(parse_sparse(text)).view()); }

std::string unsupported_reason(std::string_view text) {
  try {
    parse_sparse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::malformed);
    const std::string begin = "malformed margin_sparse at position ";
    EXPECT_EQ(e.message().substr(0, begin.size()), begin);
    return e.message().substr(begin.size());
  }
  return "accepted";
}

TEST(SparseText, both_forms_are_read) {
  for (const char* text :
       {"{1:0.5,7:2}/50000", " { 1 : 0.5 , 7 : 2 } / 50000 ", "{7:2,1:+0.5}/50000", "{7:2,3:0,1:.5}/50000"}) {
    const SparseVector v = parse_sparse(text);
    EXPECT_EQ(v.dimensions, 50000);
    EXPECT_EQ(v.indices, (Indices{0, 6}));
    EXPECT_EQ(v.values, (Values{0.5, 2}));
  }
  for (const char* text : {"1:0.5 7:2", "\t7:2 1:5e-1\r\n", "{1:0.5,7:2}", "01:0.5  7:2 9:-0"}) {
    const SparseVector v = parse_sparse(text);
    EXPECT_EQ(v.dimensions, 0);
    EXPECT_EQ(v.indices, (Indices{0, 6}));
    EXPECT_EQ(v.values, (Values{0.5, 2}));
  }
  for (const char* text : {"", "  ", "{}", "1:0"}) EXPECT_TRUE(parse_sparse(text).indices.empty());
  EXPECT_EQ(parse_sparse("2147483647:1").indices, Indices{2147483646});
}

TEST(SparseText, prints_the_shortest_text_that_reads_back) {
  EXPECT_EQ(again("7:2 1:0.5"), "{1:0.5,7:2}");
  EXPECT_EQ(again("{7:2,1:0.5}/9"), "{1:0.5,7:2}/9");
  EXPECT_EQ(again(""), "{}");
  EXPECT_EQ(again("{}/3"), "{}/3");
  EXPECT_EQ(again("1:0.1 2:1e300 3:-5e-324 4:0.30000000000000004"), "{1:0.1,2:1e+300,3:-5e-324,4:0.30000000000000004}");
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    SparseVector v;
    for (int j = 0; j < 50; ++j)
      if (random.below(3) == 0) {
        v.indices.push_back(j * 40000000);
        const double value = std::ldexp(1.0 + static_cast<double>(random.below(1 << 30)), random.below(2000) - 1030);
        v.values.push_back(round % 2 == 0 ? value : 1 + random.below(9));
      }
    put_in_order(v);
    const SparseVector w = parse_sparse(print_sparse(Packed(v).view()));
    EXPECT_EQ(v.indices, w.indices);
    EXPECT_EQ(v.values, w.values);
  }
}

TEST(SparseText, a_refusal_names_the_position) {
  EXPECT_EQ(unsupported_reason("1:0.5 0:2"), "7: the index is 0, expected 1 or more");
  EXPECT_EQ(unsupported_reason("1:0.5 -3:2"), "7: an index cannot be negative");
  EXPECT_EQ(unsupported_reason("1:0.5 x:2"), "7: expected an index, found \"x\"");
  EXPECT_EQ(unsupported_reason("1:0.5 7"), "8: expected \":\" after the index, found the end of the text");
  EXPECT_EQ(unsupported_reason("1:0.5 7 :2"), "8: expected \":\" after the index, found a blank");
  EXPECT_EQ(unsupported_reason("1:0.5,7:2"), "6: expected a blank or the end of the text after the value, found \",\"");
  EXPECT_EQ(unsupported_reason("1: 2"), "3: expected a number, found a blank");
  EXPECT_EQ(unsupported_reason("1:nan"), "3: the value is not a finite number");
  EXPECT_EQ(unsupported_reason("1:-inf"), "3: the value is not a finite number");
  EXPECT_EQ(unsupported_reason("1:1e400"), "3: the value is out of the range of double precision");
  EXPECT_EQ(unsupported_reason("1:0x10"), "4: expected a blank or the end of the text after the value, found \"x\"");
  EXPECT_EQ(unsupported_reason("1:+-2"), "3: expected a number, found \"+\"");
  EXPECT_EQ(unsupported_reason("1:\xc3\xa9"), "3: expected a number, found the byte 0xC3");
  EXPECT_EQ(unsupported_reason("2147483648:1"), "1: an index is beyond 2147483647");
  EXPECT_EQ(unsupported_reason("99999999999999999999999999:1"), "1: an index is beyond 2147483647");
  EXPECT_EQ(unsupported_reason("3:1 7:2 3:4"), "9: index 3 is given twice");
  EXPECT_EQ(unsupported_reason("{3:1, 13:3, 03 : 0}"), "13: index 3 is given twice");
  EXPECT_EQ(unsupported_reason("{1:0.5,7:2}/6"), "8: index 7 is beyond the stated 6 dimensions");
  EXPECT_EQ(unsupported_reason("{1:0.5}/0"), "9: the number of dimensions is 0, expected 1 or more");
  EXPECT_EQ(unsupported_reason("{1:0.5}/"), "9: expected the number of dimensions, found the end of the text");
  EXPECT_EQ(unsupported_reason("{1:0.5} 7:1"), "9: expected the end of the text, found \"7\"");
  EXPECT_EQ(unsupported_reason("{1:0.5,}"), "8: expected an index, found \"}\"");
  EXPECT_EQ(unsupported_reason("{1:0.5"), "7: expected \",\" or \"}\" after the value, found the end of the text");
  EXPECT_EQ(unsupported_reason("{"), "2: expected an index, found the end of the text");
}

TEST(SparseText, wire_and_packed_forms_read_back) {
  for (const char* text : {"{}", "{}/7", "{1:0.5,7:2}/50000", "{1:0.1,2147483647:1e-300}", "{3:16777217}"}) {
    const Packed packed(parse_sparse(text));
    const std::string wire = write_sparse_wire(packed.view());
    EXPECT_EQ(wire.size(), packed.bytes().size());
    EXPECT_EQ(Packed(read_sparse_wire(wire)).bytes(), packed.bytes());
    EXPECT_EQ(print_sparse(packed.view()), text);
  }
  EXPECT_EQ(Packed(parse_sparse("1:0.5 7:2")).bytes().size(), sparse_header + 2 * 8);
  EXPECT_EQ(Packed(parse_sparse("1:0.1 7:2")).bytes().size(), sparse_header + 2 * 12);
  // The bytes of pgvector's sparsevec {1:0.5}/3.
  EXPECT_EQ(
      print_sparse(Packed(read_sparse_wire(std::string("\0\0\0\3\0\0\0\1\0\0\0\0\0\0\0\0\x3f\0\0\0", 20))).view()),
      "{1:0.5}/3");
}

std::string wire_refusal(std::string bytes) {
  try {
    read_sparse_wire(bytes);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::malformed_binary);
    return e.message();
  }
  return "accepted";
}

TEST(SparseText, wire_bytes_are_checked) {
  const std::string begin = "malformed binary margin_sparse at byte ";
  std::string good = write_sparse_wire(Packed(parse_sparse("{2:0.5,4:2}/5")).view());
  auto with = [&](std::size_t at, char byte) {
    std::string changed = good;
    changed[at] = byte;
    return wire_refusal(changed);
  };
  EXPECT_EQ(wire_refusal(good), "accepted");
  EXPECT_EQ(wire_refusal(""), begin + "1: the header of 12 bytes is not complete");
  EXPECT_EQ(wire_refusal(good.substr(0, 27)), begin + "28: 2 entries take 28 bytes, not 27");
  EXPECT_EQ(wire_refusal(good + "x"), begin + "29: 2 entries take 28 bytes, not 29");
  EXPECT_EQ(with(0, '\x80'), begin + "1: the number of dimensions is -2147483643");
  EXPECT_EQ(with(4, '\x80'), begin + "5: the number of entries is -2147483646");
  EXPECT_EQ(with(11, 2), begin + "9: the kind of the values is 2, expected 0 or 1");
  EXPECT_EQ(with(19, 1), begin + "17: the index 1 does not increase");
  EXPECT_EQ(with(19, 5), begin + "17: the index 5 is beyond the stated 5 dimensions");
  EXPECT_EQ(with(12, '\xff'), begin + "13: the index is -16777215");
  EXPECT_EQ(with(20, '\x7f').substr(0, begin.size()), "accepted");  // a large float, still finite
  std::string infinite = good;
  infinite[20] = '\x7f', infinite[21] = '\x80';
  EXPECT_EQ(wire_refusal(infinite), begin + "21: the value is not a finite number");
}

TEST(SparseVector, pairs_and_dense_arrays) {
  const std::int32_t indices[] = {7, 1, 3};
  const double values[] = {2, 0.5, 0};
  const SparseVector v = make_sparse(indices, values, 3, 8);
  EXPECT_EQ(v.indices, (Indices{0, 6}));
  EXPECT_EQ(v.values, (Values{0.5, 2}));
  const float dense[] = {0.5F, 0, 0, 0, 0, 0, 2, 0};
  EXPECT_EQ(compare(Packed(sparse_of_dense(dense, 8)).view(), Packed(v).view()), 0);
  EXPECT_EQ(Packed(sparse_of_dense(dense, 8)).bytes(), Packed(v).bytes());
  auto refused = [&](std::int32_t index, double value, std::int32_t dimensions) {
    const std::int32_t i[] = {3, index};
    const double x[] = {1, value};
    try {
      make_sparse(i, x, 2, dimensions);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused(0, 1, 0), "index 0 in element 2, expected 1 or more");
  EXPECT_EQ(refused(3, 1, 0), "index 3 is given twice");
  EXPECT_EQ(refused(9, 1, 8), "index 9 in element 2 is beyond the stated 8 dimensions");
  EXPECT_EQ(refused(9, NAN, 0), "the value in element 2 is NaN, expected a finite number");
  EXPECT_EQ(refused(9, -INFINITY, 0), "the value in element 2 is -Infinity, expected a finite number");
}

TEST(SparseVector, order_is_total) {
  std::vector<SparseVector> sorted;
  for (const char* text : {"{}", "{1:1}", "{1:1,2:-3}", "{1:1,2:0.1}", "{1:2}", "{2:1}", "{}/3", "{1:1}/3"})
    sorted.push_back(parse_sparse(text));
  for (std::size_t a = 0; a < sorted.size(); ++a)
    for (std::size_t b = 0; b < sorted.size(); ++b) {
      const int sign = compare(Packed(sorted[a]).view(), Packed(sorted[b]).view());
      EXPECT_EQ(sign, a < b ? -1 : a > b ? 1 : 0) << a << ' ' << b;
    }
}

TEST(SparseVector, packed_bytes_that_contradict_themselves_are_refused) {
  const Packed packed(parse_sparse("1:0.5 7:2"));
  for (std::size_t size = 0; size < packed.bytes().size(); ++size)
    EXPECT_THROW(view_packed(packed.bytes().substr(0, size)), Error);
}

TEST(SparseVector, packed_indices_that_could_write_elsewhere_are_refused) {
  const std::vector<Indices> forged = {{-1, 3}, {3, 3}, {5, 2}, {0x10000000, 1}, {0, 2147483647}, {0, 9}};
  for (const Indices& indices : forged) {
    SparseVector v;
    v.dimensions = indices.back() == 9 ? 9 : 0;  // one that is beyond the stated dimensions
    v.indices = indices;
    v.values = {1, 2};
    EXPECT_THROW(Packed(v).view(), Error) << indices[0] << ' ' << indices[1];
  }
}

}  // namespace
}  // namespace margin
