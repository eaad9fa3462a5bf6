// Small hostile tables (duplicates, contradictions, zeros, constant columns, huge and tiny values, one class) through
// every solver and loss: a training is refused by margin::Error, or returns finite weights with an interval that an
// evaluation in long double does not contradict.
#include "core/train/train.hpp"

#include <algorithm>
#include <cmath>
#include <memory_resource>

#include "bytes.hpp"
#include "core/base/error.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/loss.hpp"

namespace {

using fuzz::Bytes;
using fuzz::require;

struct Table {
  std::vector<std::vector<double>> x;
  std::vector<int> y;
};

Table any_table(Bytes& bytes) {
  static const std::vector<std::vector<double>> palettes = {
      {0, 1, -1, 2, -2, 0.5},     {0, 1e150, -1e150, 1e-150, -1e-150, 1},
      {1e-3, 1, 1e4, -1e4, 0, 3}, {0, 255, 128, 1, 254, 64},
      {1, 1, 1, 1, 1, -1},        {0.1, 0.2, 0.3, -0.1, -0.2, 1.0 / 3},
  };
  const int rows = 1 + bytes.below(20), width = 1 + bytes.below(6), classes = 1 + bytes.below(4);
  const std::vector<double>& palette = bytes.among(palettes);
  Table t;
  for (int i = 0; i < rows; ++i) {
    if (i > 0 && bytes.below(8) == 1) {
      t.x.push_back(t.x[static_cast<std::size_t>(bytes.below(i))]);  // a duplicate, perhaps a contradiction
    } else {
      t.x.emplace_back();
      for (int j = 0; j < width; ++j) t.x.back().push_back(bytes.among(palette));
    }
    t.y.push_back(bytes.below(classes));
  }
  return t;
}

margin::Value::Object any_options(Bytes& bytes) {
  margin::Value::Object options;
  options["tolerance"].data = bytes.among<double>({1e-3, 1e-6, 0.1, 0.0});
  const int intercept = bytes.below(4);
  options["intercept"].data = intercept > 0;
  if (intercept == 2) options["intercept"].data = std::string("free");
  options["max_iterations"].data = bytes.among<double>({50, 1, 2, 200});
  options["dual_weights"].data = true;
  options["history"].data = bytes.below(2) == 1;
  if (bytes.below(2) == 1) {
    options["lambda"].data = bytes.among<double>({1e-3, 1, 1e-9, 1e9, 0.1, 0});
    const auto& losses = margin::loss_names();
    options["loss"].data = std::string(losses[static_cast<std::size_t>(bytes.byte()) % losses.size()]);
    if (bytes.below(4) == 1) options["standardize"].data = true;
    if (bytes.below(6) == 1) options["offset_feature"].data = 1.0 + bytes.below(3);
    if (bytes.below(4) == 1) options["class_weight"].data = std::string("balanced");
    if (bytes.below(6) == 1) {
      options["l1_ratio"].data = bytes.among<double>({0.5, 1, 1e-3});
      if (bytes.below(3) == 1) options["positive"].data = true;
      if (bytes.below(3) == 1)
        options["penalty_factor"].data = margin::Value::Object{{"1", {bytes.among<double>({0.1, 1e6, 1e-90})}}};
    }
  } else {
    options["norm"].data = bytes.among<double>({2, 2, 1.5, 1.02, 1.15, 1.99, 1});
    if (bytes.below(3) == 1) options["loss"].data = std::string("interpolate");
    if (bytes.below(8) == 1) options["accelerated"].data = true;
    if (bytes.below(8) == 1) options["working_set"].data = true;
    if (bytes.below(6) == 1) options["learners"].data = std::string(bytes.below(2) == 1 ? "stumps" : "trees");
  }
  if (bytes.below(4) == 1) {
    const auto& kernels = margin::kernel_names();
    const std::string kernel(kernels[static_cast<std::size_t>(bytes.byte()) % kernels.size()]);
    options["kernel"].data = kernel;
    // Now and then one that the kernel does not read, which the training must refuse.
    const auto wanted = [&](const char* name) { return margin::kernel_reads(kernel, name) || bytes.below(16) == 1; };
    if (wanted("gamma") && bytes.below(2) == 1) options["gamma"].data = bytes.among<double>({1, 1e-3, 10});
    if (wanted("degree") && bytes.below(2) == 1) options["degree"].data = bytes.among<double>({1, 2, 5});
    if (wanted("coef0")) options["coef0"].data = bytes.among<double>({1, 0});
    if (wanted("width")) options["width"].data = 8.0;
  }
  if (bytes.below(3) != 0) {
    const auto& solvers = margin::all_solvers();
    options["solver"].data = std::string(solvers[static_cast<std::size_t>(bytes.byte()) % solvers.size()]->name());
  }
  options["seed"].data = static_cast<double>(bytes.byte());
  // What the papers' methods are given by, now and then; most trainings refuse most of it.
  if (bytes.below(4) == 1) options["output"].data = bytes.among<std::string>({"last", "average", "random"});
  if (bytes.below(8) == 1) options["average_from"].data = bytes.among<double>({0, 1, 100});
  if (bytes.below(8) == 1) options["draws"].data = bytes.among<double>({1, 7, 1000});
  if (bytes.below(8) == 1) options["gap_tolerance"].data = bytes.among<double>({1, 1e-6});
  if (bytes.below(8) == 1) options["accelerated"].data = true;
  if (bytes.below(8) == 1) {
    const auto step = bytes.among<std::string>({"1/sqrt(t)", "quadratic", "wolfe", "frank_wolfe"});
    options["step"].data = step;
    // What this step needs, more often than chance gives all of it.
    if (step == "frank_wolfe" && bytes.below(4) != 0) {
      options["gap_tolerance"].data = bytes.among<double>({0.1, 1e-3, 1e9});
      options["norm"].data = 1.0;
      options.erase("lambda");
    }
  }
  if (bytes.below(8) == 1) options["mirror_loss"].data = bytes.among<std::string>({"hinge", "squared"});
  return options;
}

/// What the bytes mean, for whoever replays an input with FUZZ_VERBOSE set.
void describe(const margin::Value::Object& options, const Table& t) {
  for (const auto& [name, value] : options) {
    if (const auto* number = std::get_if<double>(&value.data)) std::fprintf(stderr, "%s=%g ", name.c_str(), *number);
    if (const auto* flag = std::get_if<bool>(&value.data)) std::fprintf(stderr, "%s=%d ", name.c_str(), *flag);
    if (const auto* text = std::get_if<std::string>(&value.data))
      std::fprintf(stderr, "%s=%s ", name.c_str(), text->c_str());
  }
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    std::fprintf(stderr, "\n%d:", t.y[i]);
    for (double v : t.x[i]) std::fprintf(stderr, " %.17g", v);
  }
  std::fprintf(stderr, "\n");
}

/// k(a, b) in long double; the tangent kernels have no such second form here (their unit tests do).
long double kernel_value(const margin::KernelFunction& kernel, const std::vector<double>& a,
                         const std::vector<double>& b) {
  const margin::KernelParameters& p = kernel.parameters();
  long double product = 0, distance = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const long double u = a[j], v = b[j];
    product += u * v;
    distance += (u - v) * (u - v);
  }
  if (kernel.name() == "rbf") return std::exp(-p.gamma * distance);
  if (kernel.name() == "polynomial") return std::pow(p.gamma * product + p.coef0, static_cast<long double>(p.degree));
  require(kernel.name() == "linear", "a kernel that this evaluation knows");
  return product;
}

/// min over rows and wrong classes of (score of the true class − score of the other) / ‖W‖, in long double, and how
/// far sums of the sizes that occurred may be off.
struct Evaluation {
  long double margin = INFINITY, rounding = 0;
};
Evaluation margin_of(const margin::Model& model, const Table& t, const std::vector<int>& label) {
  const auto* support = margin::support_vectors_of(model.basis.get());
  const auto functions = static_cast<std::size_t>(model.weights.cols());
  const auto phi = [&](const std::vector<double>& x, std::size_t s) -> long double {
    if (support == nullptr) return s < x.size() ? x[s] : 0;
    return kernel_value(support->rows().kernel(), x, t.x[static_cast<std::size_t>(support->origin()[s])]);
  };
  long double norm = 0, largest = 0;
  for (Eigen::Index o = 0; o < model.weights.rows(); ++o)
    for (std::size_t s = 0; s < functions; ++s) {
      const long double w = model.weights(o, static_cast<Eigen::Index>(s));
      if (support == nullptr) {
        norm += w * w;
      } else {
        for (std::size_t r = 0; r < functions; ++r)
          norm += w * model.weights(o, static_cast<Eigen::Index>(r)) *
                  phi(t.x[static_cast<std::size_t>(support->origin()[s])], r);
      }
    }
  Evaluation result;
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    std::vector<long double> score;
    for (Eigen::Index o = 0; o < model.weights.rows(); ++o) {
      long double sum = model.intercept.size() > 0 ? model.intercept[o] : 0;
      for (std::size_t s = 0; s < functions; ++s) {
        const long double term = model.weights(o, static_cast<Eigen::Index>(s)) * phi(t.x[i], s);
        sum += term;
        largest = std::max(largest, std::fabs(term));
      }
      score.push_back(sum);
    }
    if (model.weights.rows() == 1) {
      result.margin = std::min(result.margin, label[i] == 1 ? score[0] : -score[0]);
    } else {
      for (std::size_t c = 0; c < score.size(); ++c)
        if (static_cast<int>(c) != label[i])
          result.margin = std::min(result.margin, score[static_cast<std::size_t>(label[i])] - score[c]);
    }
  }
  if (!(norm > 0)) return {0, 0};
  result.margin /= std::sqrt(norm);
  result.rounding = 1e-17L * static_cast<long double>(functions) * largest / std::sqrt(norm);
  return result;
}

/// The slack is that of the weights, and an optimum meets its targets.
void check_targets(const margin::Model& model, const Table& t) {
  long double miss = 0, largest = 0;
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    long double score = model.intercept(0);
    for (std::size_t j = 0; j < t.x[i].size(); ++j) {
      score += static_cast<long double>(model.weights(0, static_cast<Eigen::Index>(j))) * t.x[i][j];
    }
    miss = std::max(miss, std::fabs(score - t.y[i]));
    largest = std::max(largest, std::fabs(static_cast<long double>(t.y[i])));
  }
  require(-model.certificate.slack >= miss * (1 - 1e-12L) - 1e-300L, "the slack is not better than the weights");
  if (model.status == margin::Status::optimal) require(miss <= 1e-6L * largest, "an optimum meets its targets");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const margin::Value::Object options = any_options(bytes);
  const Table table = any_table(bytes);
  if (std::getenv("FUZZ_VERBOSE") != nullptr) describe(options, table);
  try {
    const margin::Options settings = margin::parse_options(options);
    std::pmr::monotonic_buffer_resource memory;  // a Dataset leaves its memory to its resource
    margin::Dataset rows(margin::outcome_of(settings), &memory);
    const bool classes = rows.outcome() == margin::Dataset::Outcome::classes;
    for (std::size_t i = 0; i < table.x.size(); ++i) {
      const margin::Label outcome = classes
                                        ? margin::Label(rows.classes().intern(std::to_string(table.y[i]), table.y[i]))
                                        : margin::Label(1.0 * table.y[i]);
      rows.append(margin::dense_row(table.x[i].data(), static_cast<std::int32_t>(table.x[i].size())), outcome);
    }
    margin::Progress progress;
    const margin::Model model = margin::train(rows, settings, progress);
    require(model.weights.allFinite() && model.intercept.allFinite(), "weights are finite");
    const margin::Certificate& c = model.certificate;
    if (std::getenv("FUZZ_VERBOSE") != nullptr)
      std::fprintf(stderr, "%s: %s, lower %.17g, upper %.17g, gap %g\n", model.solver.c_str(),
                   std::string(margin::status_name(*model.status)).c_str(), c.lower, c.upper, c.relative_gap);
    require(!std::isnan(c.lower) && !std::isnan(c.upper) && !std::isnan(c.gap), "the certificate is a number");
    if (settings.loss == "interpolate") {
      require(c.gap >= 0, "gap >= 0");
      check_targets(model, table);
      return 0;
    }
    if (settings.norm != 2) {
      require(c.lower <= c.upper, "lower bound <= upper bound");
      return 0;
    }
    if (!settings.hard_margin()) {
      require(c.lower <= c.upper, "dual <= primal");
      if (model.status == margin::Status::optimal)
        require(c.relative_gap <= settings.tolerance || c.gap <= settings.gap_tolerance ||
                    (settings.lambda == 0.0 && c.upper <= 1e-20 * c.constant_failure) || c.upper <= c.negligible,
                "optimal means a tolerance, or an exact fit");
      if (model.status == margin::Status::separable) {
        std::vector<int> sides(table.y);
        const int first = *std::min_element(sides.begin(), sides.end());
        for (int& side : sides) side = side == first ? 0 : 1;
        // Standardised rows are separated by weights of their own, which come back rounded.
        const Evaluation found = margin_of(model, table, sides);
        if (!settings.standardize)
          require(found.margin >= -found.rounding, "the weights of separated classes have no row on the wrong side");
      }
      return 0;
    }
    std::vector<int> names(table.y);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<int> label;
    for (int y : table.y)
      label.push_back(static_cast<int>(std::lower_bound(names.begin(), names.end(), y) - names.begin()));
    require(c.lower <= c.upper, "lower bound <= upper bound");
    const auto* support = margin::support_vectors_of(model.basis.get());
    if (support == nullptr || support->rows().kernel().name().substr(0, 3) != "ntk") {
      const Evaluation lower = margin_of(model, table, label);
      require(c.lower <= lower.margin + 1e-9L * std::fabs(lower.margin) + lower.rounding,
              "the lower bound is attained by the weights");
    }
    if (model.status == margin::Status::optimal)
      require(c.lower > 0 && c.relative_gap <= settings.tolerance, "optimal means separated within the tolerance");
  } catch (const margin::Error& error) {
    require(!error.message().empty(), "every refusal says why");
  }
  return 0;
}
