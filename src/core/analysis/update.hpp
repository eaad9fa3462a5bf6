// A model after rows have come and gone, from these rows alone: what margin_update answers. The weights stay, the certificate is
// that of the rows as they are now. With v = (1/λW) Σ c a (x, B), ‖·‖ the norm of (w, b/B), and per row and output the slack
// ψ(a) = φ(u) + φ*(−a) + a u ≥ 0 of its dual weight,
//   P − D(a) = (1/W) Σ c ψ(a) + (λ/2)‖w − v‖²                                        for any a.
// Rows that come get a = −φ'(u), whose slack is 0. Those that go take theirs with them, which the model does not tell: but the
// slacks of all rows together are at most F, which it does tell. So with any a₀, such as −φ'(u), and any μ > 0
//   ‖Σ c (a − a₀)(x, B)‖ ≤ Σ c abs(a − a₀) r ≤ μF + Σ c max over a of (abs(a − a₀) r − μψ(a)),  r = ‖(x, B)‖,
// over the rows that go, and as φ is the conjugate of φ*, the last maximum is μ times how far φ is above its line of slope −a₀
// through u where u is r/μ more or less. The best of a list of μ is taken. v is thus known up to that, over λW of the rows that are left.
//
// What an update stores is what the next one and gap_at begin with, and none of it is exact. U, the stored upper end, is no less than
// P of the weights; the stored slacks hold by how much, and so do those of the next update, with what this one rounds:
//   D(a) ≥ U − Σ slack − (λ/2)‖w − v‖²   (certificate/ball.hpp).
// W is a StoredSum, since weights that go may leave 1e-12 of it; v has its `error`; the sums of a curvature have theirs, but for the
// metric and N, which are any. λ, B, w, b and the rows themselves are what the stored bits say.
//
// A model with its curvature (consequences/where/ellipsoid.hpp) keeps the ellipsoid as well: what it takes are sums over rows, of terms that
// w determines. Its lower bound of the optimum counts where it is above that of the dual weights.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/model_ball.hpp"
#include "core/consequences/where/ellipsoid.hpp"
#include "core/data/nonzeros.hpp"
#include "core/loss/loss.hpp"
#include "core/math/exact_sum.hpp"

namespace margin {

/// The status of a model that came from an update, of the name that SQL gives to it.
std::string_view updated_status(const Model& updated, const Options& options);
/// Of any model: what a training (status_name) or an update says.
bool is_status(std::string_view name);

/// Throws Error(unsupported), in the name of `product`, for a model whose certificate says too little.
void require_updatable(const Model& model, const Options& options, const Consumer& product);

class ModelUpdate {
 public:
  /// Both, with which the model was trained, are kept by reference. Throws Error(unsupported), saying why, where the proof does
  /// not reach: joint classes, an l1 norm, a free intercept, balanced class weights, a model without its ball, and others.
  ModelUpdate(const Model& model, const Options& options, const Progress& progress = {});

  /// A finite row that fits the model, of a sorted class or with its target, and its weight (above 0). `removed`: it was one
  /// of the model's, with that weight. Throws Error(invalid_value): a new row with a feature that no old one had.
  void add(const Row& x, std::int32_t label, double weight, bool removed);
  void add(const Row& x, double target, double weight, bool removed);
  std::int64_t rows() const { return came_ + went_; }

  /// As plain numbers; merge() is false, and nothing is changed, when they are not of this shape.
  std::vector<double> state() const;
  bool merge(const std::vector<double>& state);

  /// `model`, with the figures of its certificate, as it is after all rows so far. Without a dual point, and with a lower
  /// end of 0, where nothing is proven any more. Throws Error(invalid_value): more went than there was.
  Model updated(Model model, const Progress& progress = {}) const;

 private:
  static constexpr std::size_t guesses = 33;  // of μ
  static constexpr std::size_t most_waiting = 4096;
  static constexpr std::size_t head = 5, per_output = 6 + guesses;
  /// A row that went: its score, target, dual weight, weight, ‖(x, B)‖, the score's rounding and φ'' there.
  struct Gone {
    double u, y, a, c, reach, error, bend;
  };
  struct Output {
    double loss = 0, loss_size = 0, loss_error = 0;                  // Σ ± c φ(u), Σ c φ(u), ≥ its rounding
    double slack = 0;                                                // ≥ Σ c ψ(a) of the rows that came
    double mass = 0;                                                 // Σ c abs(a) r
    double gone = 0;                                                 // Σ c of the rows that went
    std::vector<double> excess = std::vector<double>(guesses, 0.0);  // Σ c (φ above its tangent) of these, by μ,
    std::vector<Gone> waiting;                                       // but of those that are not in it yet
  };

  void add(const Row& x, std::int32_t label, double target, double weight, bool removed);
  double likely_dual(std::size_t output, double u, double y) const;
  double above(const Gone& row, double h) const;
  double excess(const Output& sums, std::size_t guess) const;
  double least_unknown(const Output& sums, double all, double many) const;
  void take(Output& sums, std::size_t output, const Row& x, double u, double y, double c, bool removed);
  void require_left(const StoredSum& left, std::optional<std::int64_t> rows) const;
  void bend(Certificate& now, DualPoint& point, double slack, const Progress& progress) const;

  const Model& model_;
  const Objective objective_;
  OwnColumns columns_;
  NonZeros own_values_;        // of the row at hand
  std::vector<double> norms_;  // of each output's weights
  std::int64_t came_ = 0, went_ = 0;
  ExactSum weight_;         // what W grew by
  double weight_size_ = 0;  // Σ of the weights that came and went
  std::vector<Output> outputs_;
  std::vector<ExactSum> change_;         // Σ ± c a (x, 1): outputs × (d + 1)
  std::vector<CurvatureChange> curved_;  // of each output, where the model has its curvature
};

}  // namespace margin
