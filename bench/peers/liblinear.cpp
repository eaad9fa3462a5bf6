// LIBLINEAR's train() with the rows in memory. Input lines: SOLVER C EPS BIAS (as its -s -c -e -B); answers: CPU and
// wall seconds of train() alone and, for two classes, the primal objective of what it returns and the smallest margin.
#include <linear.h>

#include <set>

#include "peers.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: peer_liblinear FILE\n");
    return 2;
  }
  const bench::Data data = bench::read_data(argv[1]);
  set_print_string_function([](const char*) {});

  std::string line;
  std::vector<feature_node> nodes;
  std::vector<feature_node*> rows(static_cast<std::size_t>(data.rows));
  std::vector<double> labels;
  const bool several = std::set<double>(data.y.begin(), data.y.end()).size() > 2;
  double built_for = -2;
  while (std::getline(std::cin, line)) {
    parameter p = {};
    double bias = -1;
    std::istringstream(line) >> p.solver_type >> p.C >> p.eps >> bias;
    p.p = 0.1;
#if LIBLINEAR_VERSION >= 240
    p.regularize_bias = 1;
#endif
    if (bias != built_for) {  // the rows with or without the constant feature
      built_for = bias;
      nodes.clear();
      labels.clear();
      std::vector<std::size_t> first;
      for (std::int64_t i = 0; i < data.rows; ++i) {
        first.push_back(nodes.size());
        data.each(i, [&](std::int32_t j, double v) { nodes.push_back({j + 1, v}); });
        if (bias > 0) nodes.push_back({static_cast<int>(data.width) + 1, bias});
        nodes.push_back({-1, 0});
        labels.push_back(several ? data.y[static_cast<std::size_t>(i)] : data.sign(i));
      }
      for (std::size_t i = 0; i < first.size(); ++i) rows[i] = &nodes[first[i]];
    }
    problem problem = {};
    problem.l = static_cast<int>(data.rows);
    problem.n = static_cast<int>(data.width) + (bias > 0 ? 1 : 0);
    problem.y = labels.data();
    problem.x = rows.data();
    problem.bias = bias;

    const bench::Stopwatch watch;
    model* model = train(&problem, &p);
    const double cpu = watch.cpu(), wall = watch.wall();

    if (several && p.solver_type == MCSVM_CS) {  // Crammer and Singer's machine; w holds the classes side by side
      const auto k = static_cast<std::size_t>(model->nr_class);
      double loss = 0, squares = 0;
      std::vector<double> scores(k);
      for (std::int64_t i = 0; i < data.rows; ++i) {
        std::fill(scores.begin(), scores.end(), 0.0);
        for (const feature_node* node = rows[static_cast<std::size_t>(i)]; node->index != -1; ++node)
          for (std::size_t c = 0; c < k; ++c)
            scores[c] += node->value * model->w[static_cast<std::size_t>(node->index - 1) * k + c];
        std::size_t own = 0;
        while (model->label[own] != static_cast<int>(labels[static_cast<std::size_t>(i)])) ++own;
        double top = scores[own];
        for (std::size_t c = 0; c < k; ++c)
          if (c != own) top = std::max(top, scores[c] + 1);
        loss += top - scores[own];
      }
      for (std::size_t j = 0; j < static_cast<std::size_t>(problem.n) * k; ++j) squares += model->w[j] * model->w[j];
      const auto n = static_cast<double>(data.rows);
      bench::Answer()
          .number("cpu", cpu)
          .number("wall", wall)
          .number("primal", loss / n + squares / (2 * p.C * n))
          .number("version", LIBLINEAR_VERSION)
          .send();
      free_and_destroy_model(&model);
      continue;
    }
    if (several) {  // one against the rest: its time is all that is asked for
      bench::Answer().number("cpu", cpu).number("wall", wall).number("version", LIBLINEAR_VERSION).send();
      free_and_destroy_model(&model);
      continue;
    }
    const double flip = model->label[0] == 1 ? 1 : -1;
    std::vector<double> w(model->w, model->w + problem.n);
    for (double& v : w) v *= flip;
    auto loss = [&](double m) -> double {
      switch (p.solver_type) {
        case L2R_LR:
        case L2R_LR_DUAL:
          return m > 0 ? std::log1p(std::exp(-m)) : -m + std::log1p(std::exp(m));
        case L2R_L2LOSS_SVC:
        case L2R_L2LOSS_SVC_DUAL:
          return m < 1 ? (1 - m) * (1 - m) : 0;
        default:
          return m < 1 ? 1 - m : 0;
      }
    };
    double smallest = std::numeric_limits<double>::infinity(), norm = 0;
    for (double v : w) norm += v * v;
    for (std::int64_t i = 0; i < data.rows; ++i)
      smallest = std::min(smallest, data.sign(i) * (data.dot(i, w) + (bias > 0 ? bias * w.back() : 0)));
    bench::Answer()
        .number("cpu", cpu)
        .number("wall", wall)
        .number("primal", bench::objective(data, w, p.C, bias, loss))
        .number("margin", smallest / std::sqrt(norm))
        .number("version", LIBLINEAR_VERSION)
        .send();
    free_and_destroy_model(&model);
  }
}
