// Which features options ask for, and how a consumer refuses those that it does not take.
#include "core/problem/features.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/model/products.hpp"

namespace margin {
namespace {

Value text(const char* t) { return {std::string(t)}; }

/// What each option adds to a soft margin, by the names of the table.
TEST(Features, options_ask_for_what_they_name) {
  const Value::Object soft = {{"lambda", {0.1}}};
  EXPECT_EQ(names_of(features_of(parse_options(soft))), "none");
  EXPECT_EQ(names_of(features_of(parse_options({}))), "hard margin");
  EXPECT_EQ(names_of(features_of(parse_options({{"loss", text("interpolate")}}))), "interpolation");
  EXPECT_EQ(names_of(features_of(parse_options({{"lambda", {0.0}}, {"loss", text("logistic")}}))), "lambda 0");
  const struct {
    const char* option;
    Value value;
    const char* names;
  } cases[] = {
      {"kernel", text("rbf"), "kernel"},
      {"kernel", text("linear"), "none"},
      {"loss", text("squared"), "regression"},
      {"loss", text("poisson"), "regression, free intercept, log link"},
      {"multiclass", text("joint"), "joint classes"},
      {"l1_ratio", {0.5}, "l1_ratio"},
      {"l1_ratio", {1.0}, "l1_ratio, lasso, free intercept"},
      {"positive", {true}, "bounds"},
      {"bounds", {Value::Array{{-1.0}, {}}}, "bounds"},
      {"monotone", {Value::Object{{"1", {1.0}}}}, "bounds"},
      {"constraints",
       {Value::Object{{"weights", {Value::Object{{"1", {1.0}}, {"2", {-1.0}}}}}, {"max", {0.5}}}},
       "constraints"},
      {"fairness", {Value::Object{{"column", {1.0}}, {"bound", {0.5}}}}, "constraints"},
      {"penalty_factor", {Value::Array{{1.0}, {2.0}}}, "penalty_factor"},
      {"penalty_factor", {Value::Object{{"1", {2.0}}}}, "penalty_factor"},
      {"offset_feature", {1.0}, "offset"},
      {"intercept", text("free"), "free intercept"},
      {"standardize", {true}, "standardize"},
      {"class_weight", text("balanced"), "balanced classes"},
      {"class_weight", {Value::Object{{"a", {2.0}}}}, "none"},
      {"calibration", text("platt"), "calibration"},
      {"dual_weights", {true}, "dual_weights"},
  };
  for (const auto& c : cases) {
    Value::Object options = soft;
    options[c.option] = c.value;
    EXPECT_EQ(names_of(features_of(parse_options(options))), c.names) << c.option << " " << describe(c.value);
  }
}

TEST(Features, every_one_has_a_bit_and_a_name_of_its_own) {
  unsigned seen = 0;
  for (const FeatureRecord& record : feature_records()) {
    EXPECT_EQ(seen & record.bit, 0U) << record.name;
    seen |= record.bit;
    EXPECT_EQ(names_of(record.bit), record.name);
  }
}

std::string refusal(const Consumer& consumer, unsigned features) {
  try {
    require_features(consumer, features, "this model");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    return e.message() + " / " + e.hint();
  }
  return "";
}

TEST(Features, a_refusal_names_what_is_in_the_way_and_the_remedy) {
  const Consumer consumer = {"f",
                             feature::offset | feature::kernel,
                             "Otherwise g.",
                             {{{feature::l1_ratio | feature::lasso, "Leave it out."}}}};
  EXPECT_EQ(refusal(consumer, 0), "");
  EXPECT_EQ(refusal(consumer, feature::offset | feature::kernel), "");
  EXPECT_EQ(refusal(consumer, feature::offset | feature::bounds),
            "f does not take this model: its weights have bounds / Otherwise g.");
  EXPECT_EQ(refusal(consumer, feature::lasso), "f does not take this model: its l1_ratio is 1 / Leave it out.");
}

/// No product refuses a plain soft margin of two classes, and each refuses what its record leaves out.
TEST(Features, products_take_what_their_records_say) {
  for (const Consumer* product : {&audit_product, &leave_one_out_product, &score_interval_product, &gap_at_product,
                                  &influence_product, &update_product, &curvature_product, &question_product}) {
    EXPECT_EQ(refusal(*product, 0), "");
    for (const FeatureRecord& record : feature_records()) {
      const bool takes = (product->takes & record.bit) != 0;
      EXPECT_EQ(refusal(*product, record.bit).empty(), takes) << product->name << ", " << record.name;
    }
  }
}

}  // namespace
}  // namespace margin
