#include "pg/values/row_weight.hpp"

#include "pg/values/composite.hpp"

namespace margin::pg {

double row_weight(FunctionCallInfo fcinfo, int number) {
  if (PG_ARGISNULL(number))
    throw Error(ErrorKind::null_value, "the row weight is NULL, expected a number of 0 or more",
                "Use coalesce(weight, 1), or leave such rows out with FILTER (WHERE ...).");
  const double weight = PG_GETARG_FLOAT8(number);
  if (!(weight >= 0) || !std::isfinite(weight))
    throw Error(ErrorKind::invalid_value,
                "the row weight is " + number_text(weight) + ", expected a finite number of 0 or more");
  return weight;
}

}  // namespace margin::pg
