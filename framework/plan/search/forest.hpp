// Forest: regression trees over the trials of a search. A tree is a piecewise constant function of the whole
// space, so what it says on average over all other variables, and how much of its variance that is, are sums
// over its leaves: F. Hutter, H. Hoos and K. Leyton-Brown, "An efficient approach for assessing
// hyperparameter importance" (2014). Each tree sees the trials drawn with replacement (Breiman 1996); how far
// the trees agree is the uncertainty. Place in the flow: importance.hpp asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/search/axis.hpp"

namespace encore::search {

/// Trials with scores: by trial a position for each axis (Cell::center; of a choice its place in the list).
struct Samples {
  std::vector<AxisShape> axes;
  std::vector<std::vector<double>> places;
  std::vector<double> values;  ///< finite
};

/// What a leaf covers of an axis.
struct Side {
  double low = 0.0, high = 1.0;    ///< of numbers
  std::vector<bool> choices = {};  ///< of a choice: whether each value is in

  bool holds(double place) const;
  /// Of the axis, by the law of the variable.
  double share() const;
};
/// Of the axis, what both cover.
double overlap(const Side& a, const Side& b);

class Tree {
 public:
  /// `rows`: of the samples, with repetitions.
  Tree(const Samples& samples, std::vector<std::size_t> rows);

  /// Over the space, by the laws of its variables.
  double mean() const { return mean_; }
  double variance() const;
  /// Of what the tree says where these variables are known, on average over the others. With one variable
  /// this is the variance of its main effect; with two those of both and of their interaction.
  double variance_by(const std::vector<std::size_t>& axes) const;
  /// What the tree says there on average over all other variables.
  double marginal(const std::vector<std::size_t>& axes, const std::vector<double>& places) const;

 private:
  struct Leaf {
    std::vector<Side> box;
    double value = 0.0;
    double volume = 0.0;
  };
  struct Split;
  void grow(const Samples& samples, std::vector<std::size_t> rows, std::vector<Side> box);
  static Split best_split(const Samples& samples, const std::vector<std::size_t>& rows);

  std::vector<Leaf> leaves_;
  double mean_ = 0.0;
};

/// A pure function of its arguments.
std::vector<Tree> grow_forest(const Samples& samples, std::size_t trees);

}  // namespace encore::search
