// LIBSVM's svm_train() (C-SVC) with the rows in memory. Input lines: C EPS, for the linear kernel, answered with CPU
// and wall seconds of svm_train() alone and both bounds of the max-margin interval that its solution proves; or
// C EPS GAMMA, for the Gaussian kernel, answered with the times and the value of its dual, sum of alpha - Q/2; or
// svr C EPS GAMMA P, the same of EPSILON_SVR; or one_class NU EPS GAMMA, of ONE_CLASS with the weights' sum scaled to 1.
#if __has_include(<svm.h>)  // the sources that MARGIN_LIBSVM names
#include <svm.h>
#else
#include <libsvm/svm.h>
#endif

#include "peers.hpp"

namespace {

double rbf(const svm_node* x, const svm_node* y, double gamma) {
  double sum = 0;
  while (x->index != -1 || y->index != -1) {
    const bool left = x->index != -1 && (y->index == -1 || x->index <= y->index);
    const bool right = y->index != -1 && (x->index == -1 || y->index <= x->index);
    const double d = (left ? x->value : 0) - (right ? y->value : 0);
    sum += d * d;
    if (left) ++x;
    if (right) ++y;
  }
  return std::exp(-gamma * sum);
}

/// The value of the dual at the model's alphas, from kernel values of its own.
double dual_value(const svm_model& model, const svm_problem& problem, double gamma) {
  double linear = 0, square = 0, sum = 0;
  const svm_parameter& p = model.param;
  for (int i = 0; i < model.l; ++i) {
    const double a = model.sv_coef[0][i];
    sum += a;
    if (p.svm_type == C_SVC) linear += std::fabs(a);
    if (p.svm_type == EPSILON_SVR) linear += a * problem.y[model.sv_indices[i] - 1] - p.p * std::fabs(a);
    square += a * a;
    for (int j = 0; j < i; ++j) square += 2 * a * model.sv_coef[0][j] * rbf(model.SV[i], model.SV[j], gamma);
  }
  return p.svm_type == ONE_CLASS ? -square / 2 / (sum * sum) : linear - square / 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: peer_libsvm FILE\n");
    return 2;
  }
  const bench::Data data = bench::read_data(argv[1]);
  svm_set_print_string_function([](const char*) {});

  std::vector<svm_node> nodes;
  std::vector<std::size_t> first;
  std::vector<double> labels, targets = data.y;
  for (std::int64_t i = 0; i < data.rows; ++i) {
    first.push_back(nodes.size());
    data.each(i, [&](std::int32_t j, double v) { nodes.push_back({j + 1, v}); });
    nodes.push_back({-1, 0});
    labels.push_back(data.sign(i));
  }
  std::vector<svm_node*> rows;
  for (std::size_t at : first) rows.push_back(&nodes[at]);
  svm_problem problem = {};
  problem.l = static_cast<int>(data.rows);
  problem.y = labels.data();
  problem.x = rows.data();

  std::string line;
  while (std::getline(std::cin, line)) {
    svm_parameter p = {};
    p.svm_type = C_SVC;
    p.kernel_type = LINEAR;
    p.cache_size = 2000;
    p.shrinking = 1;
    std::istringstream words(line);
    std::string first_word;
    if (line[0] == 's' || line[0] == 'o') {
      words >> first_word;
      p.svm_type = first_word == "svr" ? EPSILON_SVR : ONE_CLASS;
    }
    words >> (p.svm_type == ONE_CLASS ? p.nu : p.C) >> p.eps;
    if (words >> p.gamma) p.kernel_type = RBF;
    if (p.svm_type == EPSILON_SVR) words >> p.p;
    problem.y = p.svm_type == EPSILON_SVR ? targets.data() : labels.data();

    const bench::Stopwatch watch;
    svm_model* model = svm_train(&problem, &p);
    const double cpu = watch.cpu(), wall = watch.wall();

    if (p.kernel_type == RBF) {
      bench::Answer()
          .number("cpu", cpu)
          .number("wall", wall)
          .number("dual", dual_value(*model, problem, p.gamma))
          .number("support", model->l)
          .number("version", libsvm_version)
          .send();
      svm_free_and_destroy_model(&model);
      continue;
    }
    const double flip = model->label[0] == 1 ? 1 : -1;
    std::vector<double> w(static_cast<std::size_t>(data.width), 0.0);
    double mass = 0, norm = 0;
    for (int k = 0; k < model->l; ++k) {
      const double coefficient = flip * model->sv_coef[0][k];
      mass += std::fabs(coefficient);
      for (const svm_node* node = model->SV[k]; node->index != -1; ++node)
        w[static_cast<std::size_t>(node->index - 1)] += coefficient * node->value;
    }
    for (double v : w) norm += v * v;
    bench::Answer()
        .number("cpu", cpu)
        .number("wall", wall)
        .number("lower", bench::margin_with_intercept(data, w))
        .number("upper", std::sqrt(norm) / mass)  // both classes carry mass / 2
        .number("support", model->l)
        .number("version", libsvm_version)
        .send();
    svm_free_and_destroy_model(&model);
  }
}
