// Any text and any bytes are read as a sparse vector in order, which reads back from its own text, wire and packed
// forms, or are refused by margin::Error; the readers of pgvector's layouts stay within their bytes.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "bytes.hpp"
#include "core/base/error.hpp"
#include "core/data/pgvector_layout.hpp"
#include "core/data/sparse_text.hpp"

namespace {

using fuzz::require;
using margin::SparseVector;

/// Packed bytes as they lie behind the four bytes of a varlena's length.
struct Packed {
  explicit Packed(const SparseVector& v) {
    const bool wide = margin::needs_double(v);
    size = margin::packed_bytes(v.indices.size(), wide);
    words.resize(size / 8 + 2);
    margin::pack(v, wide, start(), margin::Progress{});
  }
  char* start() { return reinterpret_cast<char*>(words.data()) + 4; }
  margin::FeatureRow view() { return margin::view_packed({start(), size}); }
  std::vector<double> words;
  std::size_t size;
};

void check(const SparseVector& v) {
  require(v.indices.size() == v.values.size(), "as many values as indices");
  for (std::size_t k = 0; k < v.indices.size(); ++k) {
    require(v.indices[k] > (k == 0 ? -1 : v.indices[k - 1]), "indices increase");
    require(v.indices[k] < 2147483647 && (v.dimensions == 0 || v.indices[k] < v.dimensions), "indices are in range");
    require(std::isfinite(v.values[k]) && v.values[k] != 0, "values are finite and not 0");
  }
  Packed packed(v);
  for (const SparseVector& copy : {margin::parse_sparse(margin::print_sparse(packed.view())),
                                   margin::read_sparse_wire(margin::write_sparse_wire(packed.view()))}) {
    Packed again(copy);
    require(again.size == packed.size && std::memcmp(again.start(), packed.start(), packed.size) == 0,
            "what is written reads back as the same bytes");
    require(margin::compare(again.view(), packed.view()) == 0, "and compares as equal");
  }
}

template <class Read>
void attempt(Read read) {
  try {
    read();
  } catch (const margin::Error& error) {
    require(!error.message().empty(), "every refusal says why");
  }
}

/// What went through the input functions of the type, told at the end of the run.
struct Count {
  long long texts = 0, binaries = 0, accepted = 0;
  ~Count() { std::printf("%lld texts and %lld binaries, %lld accepted\n", texts, binaries, accepted); }
} count;

/// Bytes, most of them turned into what a text is made of.
std::string text_of(std::string bytes) {
  static const char letters[] = "0123456789::::,,  {}/.-+e0123456789:: \tni";
  for (char& c : bytes)
    if ((c & 0x40) == 0) c = letters[static_cast<unsigned char>(c) % (sizeof letters - 1)];
  return bytes;
}

/// A well-formed text or message with one piece of the bytes put over it.
std::string mutated(std::string base, const std::string& bytes) {
  for (std::size_t k = 0; k + 1 < bytes.size() && k < 8; k += 2) {
    const std::size_t at = static_cast<unsigned char>(bytes[k]) % base.size();
    if (k % 4 == 0)
      base[at] = bytes[k + 1];
    else
      base.insert(at, 1, bytes[k + 1]);
  }
  return base;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A short piece at a time: many small inputs meet more branches than a long one, which ends at its first mistake.
  const std::string whole(reinterpret_cast<const char*>(data), size);
  static const std::string text = "{1:0.5, 7:-2e3,19:1}/50000", libsvm = "1:0.5 7:-2e3 19:0.1";
  static const std::string wire = [] {
    Packed packed(margin::parse_sparse(text));
    return margin::write_sparse_wire(packed.view());
  }();
  for (std::size_t at = 0; at < size; at += 24) {
    const std::string bytes = whole.substr(at, 24);
    for (const std::string& input : {bytes, text_of(bytes), mutated(text, bytes), mutated(libsvm, text_of(bytes))})
      attempt([&] {
        ++count.texts;
        check(margin::parse_sparse(input));
        ++count.accepted;
      });
    for (const std::string& input : {bytes, mutated(wire, bytes)})
      attempt([&] {
        ++count.binaries;
        check(margin::read_sparse_wire(input));
        ++count.accepted;
      });
    const std::vector<char> exact(bytes.begin(), bytes.end());  // of its own size, so that a sanitizer sees every byte
    const std::string_view view(exact.data(), exact.size());
    attempt([&] { margin::read_vector(view); });
    attempt([&] { margin::read_sparsevec(view); });
    attempt([&] {
      std::vector<float> to(static_cast<std::size_t>(margin::halfvec_dimensions(view)));
      margin::read_halfvec(view, to.data());
    });
  }
  return 0;
}
