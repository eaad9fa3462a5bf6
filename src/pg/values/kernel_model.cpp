#include "pg/values/kernel_model.hpp"

#include "core/base/memory_limit.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/sparse_datum.hpp"

namespace margin::pg {

namespace {

/// The type of the attribute sparse_support_vectors if it is an array of margin_sparse. The name alone says nothing:
/// attributes of a composite type can be dropped and added.
Oid sparse_array_type(const std::vector<Attribute>& attributes) {
  for (const Attribute& a : attributes)
    if (a.name == "sparse_support_vectors" && is_sparse_array(a.type)) return a.type;
  return InvalidOid;
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

/// Bases of decoded models live as long as a query, and longer than any frame.
const Progress& session() {
  static InterruptProgress progress;
  return progress;
}

/// A basis of the views, which are polled while they are summarised.
template <class View>
std::unique_ptr<const Basis> basis_of(KernelRows rows, const std::vector<View>& views, double values, bool sparse) {
  const double tiles = std::ceil(static_cast<double>(views.size()) / tile_rows) * tile_rows;
  const double needed = rows.layout() == Layout::compact ? 72 * values : 8 * tiles * rows.dimensions();
  MemoryBudget(memory_limit()).require(needed, "the support vectors of the model");
  rows.reserve(views.size(), values);
  for (const Row& x : views) rows.append(x, session());
  return std::make_unique<KernelBasis>(std::move(rows), sparse, std::vector<std::int64_t>(), &session());
}

std::shared_ptr<const KernelFunction> read_function(const CompositeReader& reader, const std::string& name,
                                                    std::int32_t dimensions, std::size_t vectors) {
  const auto& names = kernel_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    reader.refuse("kernel", "is \"" + name + "\", which is not a kernel");
  KernelParameters p;
  if (const auto jsonb = reader.get("kernel_parameters", JSONBOID)) {
    const Value value = value_from(*jsonb);
    const auto* object = std::get_if<Value::Object>(&value.data);
    if (object == nullptr) reader.refuse("kernel_parameters", "must be an object");
    for (const auto& [key, item] : *object) {
      const double* number = std::get_if<double>(&item.data);
      if (number == nullptr) reader.refuse("kernel_parameters", "must hold numbers");
      if (!set_kernel_parameter(p, key, *number))
        reader.refuse("kernel_parameters", "has \"" + key + "\": " + describe(item) + ", which no kernel takes");
    }
  }
  // The hidden units are drawn, and each vector has a number for each: a small model may state a large width.
  const double width = p.width;
  MemoryBudget(memory_limit())
      .require(8 * width * (dimensions + static_cast<double>(vectors)), "the kernel of the model");
  auto kernel = make_kernel(name, p, dimensions, session());
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
  std::vector<Row> views;
  for (std::size_t s = 0; s < vectors.rows; ++s)
    views.push_back({vectors.values.data() + s * vectors.columns, nullptr, d, true});
  KernelRows rows(read_function(reader, name, d, views.size()), d, Layout::doubles);
  return basis_of(std::move(rows), views, static_cast<double>(vectors.values.size()), false);
}

std::unique_ptr<const Basis> read_sparse(const CompositeReader& reader, const std::string& name, Datum array,
                                         std::int32_t terms, std::optional<std::int64_t> dimensions) {
  if (!dimensions.has_value() || *dimensions < 1) reader.refuse("dimensions", "must be 1 or more");
  const auto vectors = array_elements(array, "sparse vectors");
  require_count(reader, "sparse_support_vectors", vectors.size(), terms);
  const auto d = static_cast<std::int32_t>(*dimensions);
  std::vector<FeatureRow> views;
  double values = 0;
  for (const auto& vector : vectors) {
    if (!vector.has_value()) reader.refuse("sparse_support_vectors", "contains NULL");
    const FeatureRow x = sparse_from(*vector);
    for (std::int32_t k = 0; k < x.count; ++k)
      if (!std::isfinite(x.value(k))) reader.refuse("sparse_support_vectors", "contains a number that is not finite");
    if (reach(x) > d)
      reader.refuse("sparse_support_vectors",
                    "has feature " + std::to_string(reach(x)) + ", beyond the " + std::to_string(d) + " dimensions");
    views.push_back(x);
    values += x.count;
  }
  // Dense rows take what is stored and some more; in sparse ones the dimensions are only what the model claims.
  const bool dense = KernelRows::layout_for(values / (static_cast<double>(views.size()) * d)) == Layout::doubles;
  KernelRows rows(read_function(reader, name, d, views.size()), d, dense ? Layout::doubles : Layout::compact);
  return basis_of(std::move(rows), views, values, true);
}

}  // namespace

bool is_sparse_array(Oid type) {
  const Oid element = OidIsValid(type) ? backend([=] { return get_element_type(type); }) : InvalidOid;
  return is_sparse_type(element);
}

std::unique_ptr<const Basis> read_kernel(const CompositeReader& reader, std::int32_t terms,
                                         std::optional<std::int64_t> dimensions) {
  const auto name = reader.string("kernel");
  const auto dense = reader.numbers("support_vectors");
  // Where the type comes from is a look-up in the catalogue: only for models that have such vectors.
  const auto sparse = reader.has("sparse_support_vectors")
                          ? reader.get("sparse_support_vectors", sparse_array_type(reader.attributes()))
                          : std::nullopt;
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
  const auto* vectors = support_vectors_of(basis);
  if (vectors == nullptr) return;
  const KernelRows& rows = vectors->rows();
  out.set_text("kernel", rows.kernel().name());
  Value::Object parameters;
  for (const KernelParameter& p : named_parameters(rows.kernel())) parameters[std::string(p.name)].data = p.value;
  out.set("kernel_parameters", JSONBOID, jsonb_from(parameters));
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
    out.set("support_vectors", FLOAT8ARRAYOID, float8_matrix(matrix.data(), rows.size(), d));
    return;
  }
  const Oid type = sparse_array_type(out.attributes());
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
  out.set("sparse_support_vectors", type, array_of(values, type));
}

std::vector<std::string> sparse_texts(Datum array) {
  std::vector<std::string> out;
  for (const auto& vector : array_elements(array, "sparse vectors")) {
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
