// Options that a Setting (setting.hpp) does not say: those that take values of several types, or change others.
// Each throws Error(invalid_option) that names the key, what was found and what is expected.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/options/options.hpp"

namespace margin {

[[noreturn]] void refuse(std::string_view key, const Value& found, const std::string& expected);

double number(std::string_view key, const Value& v, const std::string& expected, bool (*valid)(double));

bool boolean(std::string_view key, const Value& v, const char* expected = "true or false");

/// A name: text that is not empty.
std::string text(std::string_view key, const Value& v);

/// Of an array of numbers, or of one array of them for each output.
std::vector<double> numbers(std::string_view key, const Value& v);

/// Names of columns: an array of them, or one.
void set_exclude(Options& s, std::string_view key, const Value& v);
void set_include(Options& s, std::string_view key, const Value& v);
/// Names of pairs of columns, a number of them, or 'auto'.
void set_bins(Options& s, std::string_view key, const Value& v);
void set_interactions(Options& s, std::string_view key, const Value& v);
void set_reference(Options& s, std::string_view key, const Value& v);
void set_class_weight(Options& s, std::string_view key, const Value& v);
void set_intercept(Options& s, std::string_view key, const Value& v);
void set_initial(Options& s, std::string_view key, const Value& v);
void set_loss(Options& s, std::string_view key, const Value& v);
void set_norm(Options& s, std::string_view key, const Value& v);
void set_l1_ratio(Options& s, std::string_view key, const Value& v);
void set_penalty_factor(Options& s, std::string_view key, const Value& v);
void set_bounds(Options& s, std::string_view key, const Value& v);
void set_constraints(Options& s, std::string_view key, const Value& v);
void set_fairness(Options& s, std::string_view key, const Value& v);
void set_monotone(Options& s, std::string_view key, const Value& v);
void set_offset(Options& s, std::string_view key, const Value& v);
void set_gamma(Options& s, std::string_view key, const Value& v);

}  // namespace margin
