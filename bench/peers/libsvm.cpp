// LIBSVM's svm_train() (linear kernel, C-SVC) with the rows in memory. Input lines: C EPS; answers: CPU and wall
// seconds of svm_train() alone and both ends of the max-margin interval that its solution proves.
#include <libsvm/svm.h>

#include "peers.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: peer_libsvm FILE\n");
    return 2;
  }
  const bench::Data data = bench::read_data(argv[1]);
  svm_set_print_string_function([](const char*) {});

  std::vector<svm_node> nodes;
  std::vector<std::size_t> first;
  std::vector<double> labels;
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
    std::istringstream(line) >> p.C >> p.eps;

    const bench::Stopwatch watch;
    svm_model* model = svm_train(&problem, &p);
    const double cpu = watch.cpu(), wall = watch.wall();

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
