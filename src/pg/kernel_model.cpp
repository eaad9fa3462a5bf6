#include "kernel_model.hpp"

#include "monitor.hpp"
#include "options.hpp"
#include "sparse_datum.hpp"

namespace margin::pg {

namespace {

Oid type_of(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const Attribute& a : attributes)
    if (a.name == name) return a.type;
  return InvalidOid;
}

/// The elements of a one-dimensional array of a type that is passed by reference; a NULL is nothing.
std::vector<std::optional<Datum>> elements(Datum datum) {
  struct Parts {
    int count, dimensions;
    Datum* values;
    bool* nulls;
  };
  const Parts parts = backend([=] {
    Parts p{};
    ArrayType* array = DatumGetArrayTypeP(datum);
    p.dimensions = ARR_NDIM(array);
    int16 length = 0;
    bool by_value = false;
    char alignment = 0;
    get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
    deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &p.values, &p.nulls, &p.count);
    return p;
  });
  if (parts.dimensions > 1)
    throw Error(ErrorKind::malformed,
                "an array of sparse vectors must have one dimension, not " + std::to_string(parts.dimensions));
  std::vector<std::optional<Datum>> out;
  for (int k = 0; k < parts.count; ++k)
    out.push_back(parts.nulls[k] ? std::nullopt : std::optional<Datum>(parts.values[k]));
  return out;
}

Datum array_of(const std::vector<Datum>& values, Oid type) {
  Datum* at = const_cast<Datum*>(values.data());
  const int n = static_cast<int>(values.size());
  std::size_t bytes = 0;
  for (const Datum value : values) bytes += VARSIZE_ANY(DatumGetPointer(value)) + MAXIMUM_ALIGNOF;
  if (bytes > MaxAllocSize - 65536)
    throw Error(ErrorKind::limit_exceeded, "the support vectors would be larger than the 1 GB that one value can hold",
                "Train on fewer rows or features.");
  return backend([=] {
    const Oid element = get_element_type(type);
    int16 length = 0;
    bool by_value = false;
    char alignment = 0;
    get_typlenbyvalalign(element, &length, &by_value, &alignment);
    return PointerGetDatum(construct_array(at, n, element, length, by_value, alignment));
  });
}

std::shared_ptr<const KernelFunction> read_function(const CompositeReader& reader, const std::string& name,
                                                    std::int32_t dimensions) {
  const auto& names = kernel_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    reader.refuse("kernel", "is \"" + name + "\", which is not a kernel");
  KernelParameters p;
  if (const auto jsonb = reader.get("kernel_parameters", JSONBOID)) {
    const Value value = value_from(*jsonb);
    const auto* object = std::get_if<Value::Object>(&value.data);
    if (object == nullptr) reader.refuse("kernel_parameters", "must be an object");
    auto whole = [](double v, double most) { return v >= 0 && v <= most && v == std::floor(v); };
    for (const auto& [key, item] : *object) {
      const double* number = std::get_if<double>(&item.data);
      if (number == nullptr) reader.refuse("kernel_parameters", "must hold numbers");
      if (key == "gamma")
        p.gamma = *number;
      else if (key == "coef0")
        p.coef0 = *number;
      else if (key == "degree" && whole(*number, 100))
        p.degree = static_cast<std::int32_t>(*number);
      else if (key == "width" && whole(*number, 1e6))
        p.width = static_cast<std::int32_t>(*number);
      else if (key == "seed" && whole(*number, 0x1p53))
        p.seed = static_cast<std::uint64_t>(*number);
      else
        reader.refuse("kernel_parameters", "has \"" + key + "\": " + describe(item) + ", which no kernel takes");
    }
  }
  InterruptMonitor monitor;
  auto kernel = make_kernel(name, p, dimensions, &monitor);
  if (kernel == nullptr) reader.refuse("kernel_parameters", "do not define the kernel \"" + name + "\"");
  return kernel;
}

void require_count(const CompositeReader& reader, const char* field, std::size_t found, std::int32_t terms) {
  if (found != static_cast<std::size_t>(terms))
    reader.refuse(field, "has " + std::to_string(found) + " vectors, but weights has " + std::to_string(terms));
}

std::unique_ptr<const Basis> read_dense(const CompositeReader& reader, const std::string& name, const Matrix& vectors,
                                        std::int32_t terms, std::optional<std::int64_t> dimensions) {
  if (vectors.columns == 0) reader.refuse("support_vectors", "must have two dimensions, one row for each vector");
  require_count(reader, "support_vectors", vectors.rows, terms);
  const auto d = static_cast<std::int32_t>(vectors.columns);
  if (dimensions.has_value() && *dimensions != d)
    reader.refuse("dimensions",
                  "is " + std::to_string(*dimensions) + ", but support_vectors has " + std::to_string(d) + " columns");
  KernelRows rows(read_function(reader, name, d), d, Layout::doubles);
  for (std::size_t s = 0; s < vectors.rows; ++s)
    rows.append({vectors.values.data() + s * vectors.columns, nullptr, d, true});
  return std::make_unique<KernelBasis>(std::move(rows), false);
}

std::unique_ptr<const Basis> read_sparse(const CompositeReader& reader, const std::string& name, Datum array,
                                         std::int32_t terms, std::optional<std::int64_t> dimensions) {
  if (!dimensions.has_value() || *dimensions < 1) reader.refuse("dimensions", "must be 1 or more");
  const auto vectors = elements(array);
  require_count(reader, "sparse_support_vectors", vectors.size(), terms);
  const auto d = static_cast<std::int32_t>(*dimensions);
  std::vector<FeatureRow> views;
  double values = 0;
  for (const auto& vector : vectors) {
    if (!vector.has_value()) reader.refuse("sparse_support_vectors", "contains NULL");
    const FeatureRow x = sparse_from(*vector);
    if (reach(x) > d)
      reader.refuse("sparse_support_vectors",
                    "has feature " + std::to_string(reach(x)) + ", beyond the " + std::to_string(d) + " dimensions");
    views.push_back(x);
    values += x.count;
  }
  KernelRows rows(read_function(reader, name, d), d,
                  KernelRows::layout_for(values / (static_cast<double>(views.size()) * d)));
  for (const FeatureRow& x : views) rows.append(x);
  return std::make_unique<KernelBasis>(std::move(rows), true);
}

}  // namespace

std::unique_ptr<const Basis> read_kernel(const CompositeReader& reader, std::int32_t terms,
                                         std::optional<std::int64_t> dimensions) {
  const auto name = reader.string("kernel");
  const auto dense = reader.numbers("support_vectors");
  const Oid type = type_of(reader.attributes(), "sparse_support_vectors");
  const auto sparse = OidIsValid(type) ? reader.get("sparse_support_vectors", type) : std::nullopt;
  if (!name.has_value()) {
    if (dense.has_value() || sparse.has_value()) reader.refuse("kernel", "is NULL, but there are support vectors");
    return nullptr;
  }
  if (dense.has_value() == sparse.has_value())
    reader.refuse("support_vectors", dense.has_value() ? "and sparse_support_vectors are both given" : "is NULL");
  return dense.has_value() ? read_dense(reader, *name, *dense, terms, dimensions)
                           : read_sparse(reader, *name, *sparse, terms, dimensions);
}

void set_kernel(CompositeBuilder& out, const Basis* basis) {
  const auto* vectors = dynamic_cast<const KernelBasis*>(basis);
  if (vectors == nullptr) return;
  const KernelRows& rows = vectors->rows();
  out.set_text("kernel", rows.kernel().name());
  Value::Object parameters;
  for (const KernelParameter& p : named_parameters(rows.kernel())) parameters[std::string(p.name)].data = p.value;
  out.set("kernel_parameters", jsonb_from(parameters));
  const auto d = static_cast<std::size_t>(rows.dimensions());
  std::vector<double> scratch;
  if (!vectors->sparse()) {
    if (8.0 * static_cast<double>(rows.size()) * static_cast<double>(d) > MaxAllocSize - 65536.0)
      throw Error(ErrorKind::limit_exceeded,
                  std::to_string(rows.size()) + " support vectors of " + std::to_string(d) +
                      " features would be larger than the 1 GB that one value can hold",
                  "Train on fewer rows or features.");
    std::vector<double> matrix;
    matrix.reserve(rows.size() * d);
    for (std::size_t s = 0; s < rows.size(); ++s) {
      rows.row(s, scratch);
      matrix.insert(matrix.end(), scratch.begin(), scratch.end());
    }
    out.set("support_vectors", float8_matrix(matrix.data(), rows.size(), d));
    return;
  }
  const Oid type = type_of(out.attributes(), "sparse_support_vectors");
  if (!OidIsValid(type)) return;
  std::vector<Datum> values;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const Row x = rows.row(s, scratch);
    SparseVector v = x.indices == nullptr ? sparse_of_dense(x.doubles(), x.count) : SparseVector{};
    v.dimensions = rows.dimensions();
    if (x.indices != nullptr) {
      v.indices.assign(x.indices, x.indices + x.count);
      v.values.assign(x.doubles(), x.doubles() + x.count);
      put_in_order(v);
    }
    values.push_back(sparse_datum(v));
  }
  out.set("sparse_support_vectors", array_of(values, type));
}

std::vector<std::string> sparse_texts(Datum array) {
  std::vector<std::string> out;
  for (const auto& vector : elements(array)) {
    if (!vector.has_value()) throw Error(ErrorKind::null_value, "a support vector is NULL");
    out.push_back(print_sparse(sparse_from(*vector)));
  }
  return out;
}

Datum sparse_array(const std::vector<std::string>& texts, Oid type) {
  std::vector<Datum> values;
  for (const std::string& text : texts) values.push_back(sparse_datum(parse_sparse(text)));
  return array_of(values, type);
}

}  // namespace margin::pg
