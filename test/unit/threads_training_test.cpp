// Trainings on several threads: the same model to the bit for every number of them, and a cancel that ends them all.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/threads.hpp"
#include "core/train/train.hpp"
#include "newton_problems.hpp"

namespace margin {
namespace {

using testing::normal;
using testing::sample;
using testing::soft;
using testing::Storage;
using testing::store;
using testing::Table;

int running_threads() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  return -1;
}

/// Once the kernel has finished with threads that have ended, a little after they were joined.
int settled_threads() {
  int number = running_threads();
  for (int same = 0; same < 10; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const int now = running_threads();
    if (now != number) same = 0;
    number = now;
  }
  return number;
}

/// Never cancels, or at its n-th poll.
class OnThreads final : public Progress {
 public:
  struct Cancel {};
  explicit OnThreads(Threads& threads, int cancel_at = -1) : Progress(1048576, &threads), cancel_at_(cancel_at) {}
  void poll() const override {
    if (++polls_ == cancel_at_) throw Cancel();
  }
  int polls() const { return polls_; }

 private:
  int cancel_at_;
  mutable int polls_ = 0;
};

void append(std::string& bytes, const double* values, Eigen::Index count) {
  bytes.append(reinterpret_cast<const char*>(values), static_cast<std::size_t>(count) * sizeof(double));
}

/// All that was computed.
std::string bits(const Model& m) {
  std::string bytes;
  append(bytes, m.weights.data(), m.weights.size());
  append(bytes, m.intercept.data(), m.intercept.size());
  const Certificate& c = m.certificate;
  const double figures[] = {c.lower,
                            c.upper,
                            c.radius,
                            static_cast<double>(c.support),
                            static_cast<double>(*m.iterations),
                            static_cast<double>(static_cast<int>(*m.status))};
  append(bytes, figures, 6);
  if (m.dual_weights) append(bytes, m.dual_weights->data(), m.dual_weights->size());
  return bytes;
}

/// Trains with 1, 2, 3 and 8 threads.
void expect_same_bits(const Dataset& data, Options options) {
  options.dual_weights = true;
  std::string expected;
  for (const int count : {1, 2, 3, 8}) {
    Threads threads(count);
    const OnThreads progress(threads);
    const int before = settled_threads();
    const std::string found = bits(train(data, options, progress));
    EXPECT_EQ(running_threads(), before + count - 1) << "it did not need them";
    if (expected.empty()) expected = found;
    EXPECT_TRUE(found == expected) << count << " threads";
  }
}

/// Rows with a gap between the classes.
Table separated(int n, int d, int classes) {
  Random random(5);
  Table t;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(static_cast<std::size_t>(d));
    for (double& v : x) v = normal(random);
    const int c = i % classes;
    x[static_cast<std::size_t>(c)] = 3 + std::fabs(x[static_cast<std::size_t>(c)]);
    for (int o = 0; o < classes; ++o)
      if (o != c) x[static_cast<std::size_t>(o)] = -std::fabs(x[static_cast<std::size_t>(o)]);
    t.x.push_back(std::move(x));
    t.y.push_back(c);
  }
  return t;
}

Options by(const std::string& solver, Options options) {
  options.solver = solver;
  return options;
}

TEST(ThreadsTraining, newton_has_the_same_bits) {
  Table t = sample(1, 24000, 30, true);
  const Dataset dense = store(t, true, Storage::floats), sparse = store(t, true, Storage::sparse);
  Options logistic = by("newton", soft("logistic", 1e-3, 1e-8));
  for (const InterceptForm form : {InterceptForm::penalized, InterceptForm::free}) {
    logistic.intercept_form = form;
    expect_same_bits(dense, logistic);
  }
  expect_same_bits(sparse, logistic);
  expect_same_bits(dense, by("newton", soft("hinge", 1e-3, 1e-4)));
  expect_same_bits(sparse, by("newton_cg", soft("logistic", 1e-3, 1e-6)));
}

TEST(ThreadsTraining, matrices_of_many_features_have_the_same_bits) {
  Table t = sample(2, 2500, 400, true, 3);
  expect_same_bits(store(t, true, Storage::floats, 3), by("newton", soft("squared_hinge", 1e-2, 1e-4)));
}

TEST(ThreadsTraining, hard_margins_have_the_same_bits) {
  Options options;
  options.solver = "cutting_plane";
  options.tolerance = 1e-3;
  Table two = separated(30000, 20, 2), four = separated(12000, 20, 4);
  const Dataset rows = store(two, true, Storage::floats);
  expect_same_bits(rows, options);
  Options steps = by("momentum", options);
  steps.max_iterations = 40;
  expect_same_bits(rows, steps);
  steps.loss = "logistic";
  steps.intercept = false;
  expect_same_bits(rows, steps);
  Table wide = separated(300, 2400, 2);
  steps.max_iterations = 100;
  expect_same_bits(store(wide, true, Storage::floats), steps);  // products of rows
  expect_same_bits(store(four, true, Storage::doubles, 4), options);
}

TEST(ThreadsTraining, certificates_of_other_solvers_have_the_same_bits) {
  Table t = sample(3, 24000, 30, true, 3);
  expect_same_bits(store(t, true, Storage::floats, 3), by("sdca", soft("hinge", 1e-3, 1e-1)));
}

TEST(ThreadsTraining, joint_classes_have_the_same_bits) {
  Table t = sample(6, 24000, 30, true, 5);
  Options joint = by("joint", soft("logistic", 1e-3, 1e-6));
  joint.multiclass = Multiclass::joint;
  expect_same_bits(store(t, true, Storage::floats, 5), joint);
  expect_same_bits(store(t, true, Storage::sparse, 5), joint);
  joint.loss = "hinge";
  joint.tolerance = 1e-2;
  joint.intercept_form = InterceptForm::free;  // else coordinate ascent comes first, on one thread
  expect_same_bits(store(t, true, Storage::floats, 5), joint);
}

TEST(ThreadsTraining, a_cancel_at_any_poll_ends_it) {
  Table t = sample(4, 12000, 30, true);
  const Dataset data = store(t, true, Storage::floats);
  const Options options = by("newton", soft("logistic", 1e-3, 1e-6));
  Threads threads(4);
  const OnThreads whole(threads);
  const std::string expected = bits(train(data, options, whole));
  int ended = 0;
  for (int at = 1; at < whole.polls() / 2; at += 1 + at / 3) {
    const OnThreads cancelled(threads, at);
    try {  // with fewer chunks for the caller than in the run above there may be fewer polls
      EXPECT_TRUE(bits(train(data, options, cancelled)) == expected);
      EXPECT_LT(cancelled.polls(), at);
    } catch (const OnThreads::Cancel&) {
      EXPECT_EQ(cancelled.polls(), at);
      ++ended;
    }
  }
  EXPECT_GT(ended, 0);
  const OnThreads again(threads);
  EXPECT_TRUE(bits(train(data, options, again)) == expected);
}

}  // namespace
}  // namespace margin
