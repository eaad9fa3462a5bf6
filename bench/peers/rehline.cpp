// ReHLine's solver (Dai & Qiu, 2023; its header, of which MARGIN_REHLINE names the folder) with the rows in memory: min 1/n Σ φ(x_i·w) + λ/2 ‖w‖², A w + b ≥ 0. Input lines: LOSS PARAMETER LAMBDA TOLERANCE ITERATIONS CONSTANT K, with a
// constant feature of that value, then K rows of A, without it, each before its b; answers: CPU and wall seconds of the solver alone, the objective of what it
// returns, and by how much it misses a constraint.
#include <rehline.h>

#include "peers.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: peer_rehline FILE\n");
    return 2;
  }
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const bench::Data data = bench::read_data(argv[1]);
  const Eigen::Index n = data.rows, d = data.width + 1;
  Matrix x = Matrix::Zero(n, d);
  for (Eigen::Index i = 0; i < n; ++i) {
    data.each(i, [&](std::int32_t j, double v) { x(i, j) = v; });
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    std::string loss;
    double parameter = 0, lambda = 0, tolerance = 0, constant = 0;
    int iterations = 0;
    Eigen::Index count = 0;
    in >> loss >> parameter >> lambda >> tolerance >> iterations >> constant >> count;
    x.col(d - 1).setConstant(constant);
    Matrix a = Matrix::Zero(count, d);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      for (Eigen::Index j = 0; j + 1 < d; ++j) in >> a(k, j);
      in >> b(k);
    }
    const double c = 1 / (lambda * static_cast<double>(n));
    const bool hinge = loss == "hinge", quantile = loss == "quantile";
    Matrix u(hinge ? 1 : quantile ? 2 : 0, n), v = u, s(hinge || quantile ? 0 : 2, n), t = s, tau = s;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double y = hinge ? data.sign(i) : data.y[static_cast<std::size_t>(i)];
      if (hinge) {
        u(0, i) = -c * y, v(0, i) = c;
      } else if (quantile) {
        u(0, i) = -c * parameter, v(0, i) = c * parameter * y;
        u(1, i) = c * (1 - parameter), v(1, i) = -c * (1 - parameter) * y;
      } else {
        const double scale = std::sqrt(c / parameter);
        s(0, i) = -scale, t(0, i) = scale * y, s(1, i) = scale, t(1, i) = -scale * y;
        tau(0, i) = tau(1, i) = scale * parameter;
      }
    }
    rehline::ReHLineResult<Matrix, int> result;
    const bench::Stopwatch watch;
    rehline::rehline_solver(result, x, a, b, Eigen::VectorXd(0), u, v, s, t, tau, iterations, tolerance);
    const double cpu = watch.cpu(), wall = watch.wall();
    double sum = 0, missed = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double score = x.row(i).dot(result.beta), y = hinge ? data.sign(i) : data.y[static_cast<std::size_t>(i)],
                   r = y - score;
      sum += hinge                       ? std::max(0.0, 1 - y * score)
             : quantile                  ? std::max(parameter * r, (parameter - 1) * r)
             : std::fabs(r) <= parameter ? r * r / (2 * parameter)
                                         : std::fabs(r) - parameter / 2;
    }
    for (Eigen::Index k = 0; k < count; ++k) missed = std::max(missed, -(a.row(k).dot(result.beta) + b(k)));
    std::printf("{\"cpu\": %.9g, \"wall\": %.9g, \"objective\": %.17g, \"missed\": %.9g, \"iterations\": %d}\n", cpu,
                wall, sum / static_cast<double>(n) + lambda / 2 * result.beta.squaredNorm(), missed,
                static_cast<int>(result.niter));
    std::fflush(stdout);
  }
}
