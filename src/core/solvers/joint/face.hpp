// A step of Crammer–Singer's dual within the face that it is on: all rows at once, of each only the classes that have
// weight.
//
// Problem    max D(p) of certificate/joint.hpp over the p that are 0 where this one is: a quadratic function. Coordinate
//            ascent soon finds the classes of a row, and slowly their weights where many rows pull at the same W.
// Update     conjugate gradients, a row's variables in units of its own curvature. Where a step would take a weight below
//            0, it ends there, the class leaves the face, and the gradients start again from the residual of the others.
//            Of sparse rows they are preconditioned (coarse.hpp).
//            A product goes through the rows, or through inner products of the rows of each class where that is cheaper;
//            of sparse rows class by class, whose weights then lie in a cache.
// Source     Polyak (1969), USSR Computational Mathematics 9: conjugate gradients with bounds.
#pragma once

#include <vector>

#include "core/solvers/joint/coarse.hpp"
#include "core/solvers/joint/newton.hpp"

namespace margin {

class JointFace {
 public:
  JointFace(const JointRows& rows, Run& run);
  static double workspace(const Problem& problem);

  /// From p of these rows, point.w its weights, to a p of no smaller D, point.w the weights of that. True when few classes
  /// left the face, so that more than `most_products` are worth their time. `wanted`: the gap at which sparse rows end.
  bool step(JointPoint& point, const std::vector<std::int32_t>& rows, int most_products, double wanted);
  /// What the last step cost, as a visit of JointRows::cost_of() counts.
  double spent() const { return spent_; }
  /// Whether the last step was one of sparse rows, preconditioned.
  bool sparse() const { return coarse_ready_; }

 private:
  void collect(const JointPoint& point, const std::vector<std::int32_t>& rows);
  void prepare_inner_products(int products);
  void scores(const LargeArray& w, std::vector<double>& out);
  void combine(const std::vector<double>& x);
  void centre(std::vector<double>& v, bool in_units);
  void list_members();
  void multiply();
  void multiply_inner_products();
  void multiply_classes();
  double gap() const;
  bool bend(double length, double gain);
  std::size_t drop();
  void give_back(JointPoint& point);
  const std::vector<double>& preconditioned();

  const JointRows& rows_;
  Run& run_;
  // The t-th row of the face is which_[t]; its variables lie from begin_[t], the alive_[t] first of them on the face.
  std::vector<std::int32_t> which_, classes_;
  std::vector<std::size_t> begin_, alive_;
  std::vector<double> unit_;  // of a row's variables: x = unit · p
  std::vector<double> x_, before_, residual_, search_, image_, along_, image_along_, scratch_;
  LargeArray u_;  // weights
  JointCoarse coarse_;
  bool coarse_ready_ = false;
  std::vector<double> slope_;  // the residual, preconditioned
  // Of every class the variables of the face, and the inner products of their rows, each of length 1.
  std::vector<std::size_t> first_, place_;
  std::vector<std::int32_t> member_;
  std::vector<double> gathered_, products_, dense_;
  LargeArray inner_products_;
  bool by_class_ = false;
  double pass_ = 0, product_ = 0, spent_ = 0;  // what a pass over the rows, a product by class, the step cost
};

}  // namespace margin
