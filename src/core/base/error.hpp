// The one exception that the core throws on purpose: what was found, what is expected, how to go on.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace margin {

/// Why a call was refused. src/pg/server/boundary.hpp maps each kind to one SQLSTATE.
enum class ErrorKind {
  invalid_option,    ///< an option is unknown or out of its range            (22023)
  wrong_type,        ///< a value of a type that cannot serve here            (42804)
  invalid_value,     ///< NaN, infinity, a negative weight, one class only    (22000)
  null_value,        ///< NULL inside an array                                (22004)
  wrong_dimensions,  ///< a row or model of another number of features        (22000)
  limit_exceeded,    ///< memory limit, too many classes or features          (54000)
  unsupported,       ///< options that are valid alone but not together       (0A000)
  malformed,         ///< text, or a model, that contradicts itself           (22P02)
  malformed_binary,  ///< bytes of a binary value that contradict themselves  (22P03)
};

/// Thrown by every layer; `detail` and `hint` may be empty.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, std::string hint = {}, std::string detail = {})
      : kind_(kind), message_(std::move(message)), hint_(std::move(hint)), detail_(std::move(detail)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const noexcept { return kind_; }
  const std::string& message() const noexcept { return message_; }
  const std::string& hint() const noexcept { return hint_; }
  const std::string& detail() const noexcept { return detail_; }

 private:
  ErrorKind kind_;
  std::string message_, hint_, detail_;
};

}  // namespace margin
