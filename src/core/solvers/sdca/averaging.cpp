#include "core/solvers/sdca/averaging.hpp"

namespace margin {

namespace {

class WindowedHistory : public SdcaHistory {
 public:
  WindowedHistory(SdcaState& state, std::optional<std::int64_t> from) : state_(state), from_(from) {}

  void begin_epoch() override {
    ++epoch_;
    const std::int64_t done = epoch_ - 1;
    if (from_.has_value() ? done == *from_ : done > 0 && (done & (done - 1)) == 0) {
      window_epochs_ = 0;
      restart();
    }
    ++window_epochs_;
    plan();
  }
  void enter() override {
    iterate_.resize(state_.rows.size());
    for (std::size_t i = 0; i < iterate_.size(); ++i) iterate_[i] = state_.rows[i].a;
    weights_ = state_.weights;
    z_ = state_.z;
    intercept_ = state_.intercept;
    for (const std::int32_t i : state_.movable) {
      Coordinate& row = state_.rows[static_cast<std::size_t>(i)];
      row.a = state_.problem.loss->project(output(static_cast<std::size_t>(i), row.a), row.y);
    }
    state_.refresh_weights();
  }
  void leave() override {
    for (std::size_t i = 0; i < iterate_.size(); ++i) state_.rows[i].a = iterate_[i];
    state_.weights = weights_;
    state_.z = z_;
    state_.intercept = intercept_;
  }

 protected:
  virtual void restart() = 0;
  virtual void plan() {}
  virtual double output(std::size_t i, double a) const = 0;

  SdcaState& state_;
  const std::optional<std::int64_t> from_;  ///< T₀ where it was given
  std::int64_t epoch_ = 0, window_epochs_ = 0;

 private:
  std::vector<double> iterate_, weights_, z_;
  double intercept_ = 0;
};

/// Averages α^(T₀) … α^(T−1) over every single iteration at no cost per iteration: a coordinate is summed up when it
/// changes.
class AverageHistory final : public WindowedHistory {
 public:
  AverageHistory(SdcaState& state, std::optional<std::int64_t> from)
      : WindowedHistory(state, from),
        current_(state.rows.size(), 0.0),
        previous_(state.rows.size(), 0.0),
        since_(state.rows.size(), 0) {}

  void before_change(std::size_t i, double a) override {
    sum_up(i, a, now_ + 1);  // the value before a visit counts for it
  }
  void after_visit() override { ++now_; }

 private:
  void sum_up(std::size_t i, double a, std::int64_t until) {
    current_[i] += a * static_cast<double>(until - since_[i]);
    since_[i] = until;
  }
  void restart() override {
    for (std::size_t i = 0; i < current_.size(); ++i) sum_up(i, state_.rows[i].a, now_);
    previous_.swap(current_);
    current_.assign(current_.size(), 0.0);
    start_previous_ = start_current_;
    start_current_ = now_;
  }
  double output(std::size_t i, double a) const override {
    const double sum = current_[i] + a * static_cast<double>(now_ - since_[i]);
    // Whether the current window is long enough by itself.
    const bool half = from_.has_value() || 2 * (now_ - start_current_) >= now_;
    const auto length = static_cast<double>(now_ - (half ? start_current_ : start_previous_));
    return length > 0 ? (half ? sum : sum + previous_[i]) / length : a;
  }

  std::vector<double> current_, previous_;
  std::vector<std::int64_t> since_;
  std::int64_t now_ = 0, start_current_ = 0, start_previous_ = 0;
};

/// One iterate of the window, each with the same probability: an epoch's random iteration replaces the sample with
/// probability 1 / (epochs in the window).
class SampleHistory final : public WindowedHistory {
 public:
  SampleHistory(SdcaState& state, Random& random, std::optional<std::int64_t> from)
      : WindowedHistory(state, from), random_(random), sample_(state.rows.size(), 0.0) {}

  void before_change(std::size_t, double) override {}
  void after_visit() override {
    if (at_-- == 0)
      for (std::size_t i = 0; i < sample_.size(); ++i) sample_[i] = state_.rows[i].a;
  }

 private:
  void restart() override {}
  void plan() override {
    const bool replace = random_.below(static_cast<std::uint64_t>(window_epochs_)) == 0;
    const std::uint32_t position = random_.below(std::max<std::size_t>(1, state_.movable.size()));
    at_ = replace ? static_cast<std::int64_t>(position) : -1;
  }
  double output(std::size_t i, double) const override { return sample_[i]; }

  Random& random_;
  std::vector<double> sample_;
  std::int64_t at_ = -1;  // visits until the sample is taken; negative: not in this epoch
};

}  // namespace

std::unique_ptr<SdcaHistory> make_history(const Options& options, SdcaState& state, Random& random) {
  if (options.output == Output::average) return std::make_unique<AverageHistory>(state, options.average_from);
  if (options.output == Output::random) return std::make_unique<SampleHistory>(state, random, options.average_from);
  return nullptr;
}

}  // namespace margin
