// Model files of LIBLINEAR and LIBSVM: what they say of weights, classes and intercepts, and that a file which is none is refused
// with the number of its line.
#include "core/formats/foreign_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"

namespace margin {
namespace {

std::vector<double> numbers(const Value& value) {
  std::vector<double> out;
  for (const Value& v : std::get<Value::Array>(value.data)) out.push_back(std::get<double>(v.data));
  return out;
}
std::vector<std::string> names(const Value::Object& model) {
  std::vector<std::string> out;
  for (const Value& v : std::get<Value::Array>(model.at("classes").data)) out.push_back(std::get<std::string>(v.data));
  return out;
}
const Value::Object& options(const Value::Object& model) { return std::get<Value::Object>(model.at("options").data); }
std::string text(const Value::Object& object, const std::string& name) {
  return std::get<std::string>(object.at(name).data);
}
double number(const Value::Object& object, const std::string& name) { return std::get<double>(object.at(name).data); }

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

std::string liblinear(const std::string& type, const std::string& classes, const std::string& labels,
                      const std::string& bias, const std::string& weights) {
  return "solver_type " + type + "\nnr_class " + classes + "\n" + (labels.empty() ? "" : "label " + labels + "\n") +
         "nr_feature 2\nbias " + bias + "\nw\n" + weights;
}

TEST(Liblinear, AFirstLabelIsWhatAPositiveScoreMeans) {
  // Classes are in rising order, and margin's positive score is of the second.
  const Value::Object same = liblinear_model(liblinear("L2R_LR", "2", "1 -1", "-1", "0.5 \n-3e-2 \n"), 0.1, {});
  EXPECT_EQ(names(same), (Names{"-1", "1"}));
  EXPECT_EQ(numbers(same.at("weights")), (Numbers{0.5, -0.03}));
  EXPECT_EQ(numbers(same.at("intercept")), (Numbers{0}));
  EXPECT_EQ(text(same, "loss"), "logistic");
  EXPECT_EQ(number(same, "lambda"), 0.1);
  EXPECT_EQ(number(options(same), "lambda"), 0.1);
  EXPECT_FALSE(std::get<bool>(options(same).at("intercept").data));
  const Value::Object turned = liblinear_model(liblinear("L2R_LR", "2", "-1 1", "-1", "0.5\n-3e-2\n"), 0.1, {});
  EXPECT_EQ(names(turned), (Names{"-1", "1"}));
  EXPECT_EQ(numbers(turned.at("weights")), (Numbers{-0.5, 0.03}));
}

TEST(Liblinear, TheBiasIsAFeatureOfThatValue) {
  const std::string weights = "0.5\n-0.25\n3\n";
  const Value::Object one = liblinear_model(liblinear("L2R_L1LOSS_SVC_DUAL", "2", "-1 1", "1", weights), 0.1, {});
  EXPECT_EQ(numbers(one.at("weights")), (Numbers{-0.5, 0.25}));
  EXPECT_EQ(numbers(one.at("intercept")), (Numbers{-3}));
  EXPECT_EQ(text(options(one), "intercept"), "penalized");
  EXPECT_EQ(options(one).count("intercept_scale"), 0U);
  EXPECT_EQ(text(one, "loss"), "hinge");
  const Value::Object two = liblinear_model(liblinear("L2R_L2LOSS_SVC", "2", "1 -1", "2", weights), 0.1, {});
  EXPECT_EQ(numbers(two.at("intercept")), (Numbers{6}));
  EXPECT_EQ(number(options(two), "intercept_scale"), 2);
  EXPECT_EQ(text(two, "loss"), "squared_hinge");
}

TEST(Liblinear, ColumnsOfWeightsAreClassesInTheirOrder) {
  const Value::Object model =
      liblinear_model(liblinear("L2R_LR", "3", "7 -2 3", "1", "1 2 3\n4 5 6\n7 8 9\n"), 0.5, {});
  EXPECT_EQ(names(model), (Names{"-2", "3", "7"}));
  const auto& rows = std::get<Value::Array>(model.at("weights").data);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(numbers(rows[0]), (Numbers{2, 5}));
  EXPECT_EQ(numbers(rows[1]), (Numbers{3, 6}));
  EXPECT_EQ(numbers(rows[2]), (Numbers{1, 4}));
  EXPECT_EQ(numbers(model.at("intercept")), (Numbers{8, 9, 7}));
}

TEST(Liblinear, RegressionsAndL1) {
  const Value::Object model =
      liblinear_model(liblinear("L2R_L1LOSS_SVR_DUAL", "2", "", "-1", "1\n2\n"), 0.5, {{"epsilon", Value{0.2}}});
  EXPECT_EQ(model.count("classes"), 0U);
  EXPECT_EQ(text(model, "loss"), "epsilon_insensitive");
  EXPECT_EQ(number(options(model), "epsilon"), 0.2);
  const Value::Object l1 = liblinear_model(liblinear("L1R_LR", "2", "1 -1", "-1", "1\n0\n"), 0.5, {});
  EXPECT_EQ(number(options(l1), "l1_ratio"), 1);
  EXPECT_THROW(liblinear_model(liblinear("L1R_LR", "2", "1 -1", "1", "1\n0\n2\n"), 0.5, {}), Error);
}

template <class Read>
void expect_refusal(const Read& read, ErrorKind kind, const std::string& words) {
  try {
    read();
    ADD_FAILURE() << "not refused: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.message();
    EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
  }
}

TEST(Liblinear, WhatIsNoSuchFileIsRefusedByItsLine) {
  const std::string good = liblinear("L2R_LR", "2", "1 -1", "-1", "1\n2\n");
  const auto read = [](const std::string& document) { return [document] { liblinear_model(document, 0.1, {}); }; };
  EXPECT_NO_THROW(read(good)());
  EXPECT_NO_THROW(read(good + "\n  \n")()) << "empty lines at the end";
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string document = good;
    const std::size_t at = document.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return read(document.replace(at, what.size(), instead));
  };
  const ErrorKind malformed = ErrorKind::malformed;
  expect_refusal(read(""), malformed, "line 0");
  expect_refusal(with("L2R_LR", "L3R"), malformed, "line 1");
  expect_refusal(with("L2R_LR", "MCSVM_CS"), ErrorKind::unsupported, "MCSVM_CS");
  expect_refusal(with("nr_class 2", "nr_class 2.5"), malformed, "line 2");
  expect_refusal(with("nr_class 2", "nr_class -1"), malformed, "line 2");
  expect_refusal(with("label 1 -1", "label 1 1"), malformed, "line 3");
  expect_refusal(with("label 1 -1", "label 1"), malformed, "line 3");
  expect_refusal(with("label 1 -1", "label 1 -1 3"), malformed, "line 3");
  expect_refusal(with("label 1 -1\n", ""), malformed, "line 5");
  expect_refusal(with("nr_feature 2", "nr_feature 3"), malformed, "ends where");
  expect_refusal(with("nr_feature 2", "nr_feature 1"), malformed, "line 8");
  expect_refusal(with("bias -1\n", ""), malformed, "line 5");
  expect_refusal(with("bias", "biased"), malformed, "line 5");
  expect_refusal(with("\n1\n", "\nnan\n"), malformed, "line 7");
  expect_refusal(with("\n1\n", "\n1x\n"), malformed, "line 7");
  expect_refusal(with("\n1\n", "\n1 2\n"), malformed, "line 7");
  expect_refusal([&] { liblinear_model(good, 0, {}); }, ErrorKind::invalid_option, "lambda");
  expect_refusal([&] { liblinear_model(good, 0.1, {{"loss", Value{std::string("hinge")}}}); },
                 ErrorKind::invalid_option, "loss");
}

std::string libsvm(const std::string& kernel, const std::string& labels, const std::string& vectors,
                   const std::string& type = "c_svc") {
  return "svm_type " + type + "\nkernel_type " + kernel + "\nnr_class 2\ntotal_sv 2\nrho 0.75\n" +
         (labels.empty() ? "" : "label " + labels + "\nnr_sv 1 1\n") + "SV\n" + vectors;
}

TEST(Libsvm, LinearKernelsAreWeights) {
  const std::string vectors = "0.5 1:2 3:1 \n-2 1:1 2:4 \n";
  const Value::Object same = libsvm_model(libsvm("linear", "1 -1", vectors), 0.1, {});
  EXPECT_EQ(numbers(same.at("weights")), (Numbers{-1, -8, 0.5}));
  EXPECT_EQ(numbers(same.at("intercept")), (Numbers{-0.75}));
  EXPECT_EQ(names(same), (Names{"-1", "1"}));
  EXPECT_EQ(text(options(same), "intercept"), "free");
  EXPECT_EQ(text(same, "loss"), "hinge");
  const Value::Object turned = libsvm_model(libsvm("linear", "-1 1", vectors), 0.1, {});
  EXPECT_EQ(numbers(turned.at("weights")), (Numbers{1, 8, -0.5}));
  EXPECT_EQ(numbers(turned.at("intercept")), (Numbers{0.75}));
  // Features of any index, of which few occur, are listed.
  const Value::Object wide = libsvm_model(libsvm("linear", "1 -1", "1 5:2 \n1 2000000:3 \n"), 0.1, {});
  EXPECT_EQ(numbers(wide.at("weights")), (Numbers{2, 3}));
  EXPECT_EQ(numbers(wide.at("columns")), (Numbers{5, 2000000}));
  EXPECT_EQ(number(wide, "dimensions"), 2000000);
  const Value::Object regression = libsvm_model(libsvm("linear", "", vectors, "epsilon_svr"), 0.1, {});
  EXPECT_EQ(text(regression, "loss"), "epsilon_insensitive");
  EXPECT_EQ(numbers(regression.at("weights")), (Numbers{-1, -8, 0.5}));
  EXPECT_EQ(regression.count("classes"), 0U);
}

TEST(Libsvm, OtherKernelsKeepTheirVectors) {
  const std::string vectors = "0.5 1:2 3:1 \n-2 2:4 \n";
  const Value::Object rbf = libsvm_model(libsvm("rbf\ngamma 0.125", "-1 1", vectors), 0.1, {});
  EXPECT_EQ(text(rbf, "kernel"), "rbf");
  EXPECT_EQ(numbers(rbf.at("weights")), (Numbers{-0.5, 2}));
  EXPECT_EQ(number(std::get<Value::Object>(rbf.at("kernel_parameters").data), "gamma"), 0.125);
  EXPECT_EQ(number(options(rbf), "gamma"), 0.125);
  EXPECT_EQ(number(rbf, "dimensions"), 3);
  EXPECT_EQ(std::get<Value::Array>(rbf.at("sparse_support_vectors").data).size(), 2U);
  const Value::Object polynomial =
      libsvm_model(libsvm("polynomial\ndegree 3\ngamma 2\ncoef0 1", "1 -1", vectors), 0.1, {});
  EXPECT_EQ(std::get<Value::Object>(polynomial.at("kernel_parameters").data).size(), 3U);
}

TEST(Libsvm, WhatIsNoSuchFileIsRefusedByItsLine) {
  const std::string good = libsvm("linear", "1 -1", "0.5 1:2 \n-2 1:1 \n");
  const auto read = [](const std::string& document) { return [document] { libsvm_model(document, 0.1, {}); }; };
  EXPECT_NO_THROW(read(good)());
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string document = good;
    const std::size_t at = document.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return read(document.replace(at, what.size(), instead));
  };
  const ErrorKind malformed = ErrorKind::malformed, unsupported = ErrorKind::unsupported;
  expect_refusal(with("c_svc", "nu_svc"), unsupported, "nu_svc");
  expect_refusal(with("linear", "sigmoid"), unsupported, "sigmoid");
  expect_refusal(with("nr_class 2", "nr_class 3"), unsupported, "pairs");
  expect_refusal(with("nr_class 2", "nr_class 1"), malformed, "line 3");
  expect_refusal(with("rho 0.75\n", ""), malformed, "line 7");
  expect_refusal(with("rho 0.75", "rho x"), malformed, "line 5");
  expect_refusal(with("label 1 -1\n", ""), malformed, "line 7");
  expect_refusal(with("total_sv 2", "total_sv 3"), malformed, "ends where");
  expect_refusal(with("total_sv 2", "total_sv 1"), malformed, "line 10");
  expect_refusal(with("-2 1:1", "-2 1:one"), malformed, "line 10");
  expect_refusal(with("-2 1:1", "two 1:1"), malformed, "line 10");
  expect_refusal(with("linear", "rbf"), malformed, "gamma");
  expect_refusal([&] { libsvm_model(good, -1, {}); }, ErrorKind::invalid_option, "lambda");
}

}  // namespace
}  // namespace margin
