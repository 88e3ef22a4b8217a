// SPDX-License-Identifier: BSD-3-Clause
// Tree: grows a regression tree by its best splits, and computes its variance and marginals as sums over the
// leaves. importance.cpp uses it for reports; no decision of a search depends on it. Read forest.hpp first.
#include "plan/search/forest.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace encore::plan::search {

namespace {

using Kind = AxisShape::Kind;

/// A leaf has at least this many samples: with fewer it would repeat what one trial gave by chance.
constexpr std::size_t smallest_leaf = 3;

/// Returns the side that covers the whole axis.
Side whole_side(const AxisShape& axis) {
  Side side;
  if (axis.kind == Kind::choice) side.choices.assign(axis.choices, true);
  return side;
}

/// Samples that an axis does not distinguish: one value of a choice, one place of numbers.
struct Group {
  double place = 0.0;
  double sum = 0.0;
  std::size_t count = 0;

  double mean() const { return sum / static_cast<double>(count); }
};

/// Returns the groups in the order in which a split may cut: numbers by place, the values of a choice by
/// their means. The best of all subsets is found in this order (Fisher 1958).
std::vector<Group> groups_of(const Samples& samples, const std::vector<std::size_t>& rows, std::size_t axis) {
  std::map<double, Group> by_place;
  for (const std::size_t row : rows) {
    Group& group = by_place[samples.places[row][axis]];
    group.place = samples.places[row][axis];
    group.sum += samples.values[row];
    ++group.count;
  }
  std::vector<Group> groups;
  for (const auto& [place, group] : by_place) groups.push_back(group);
  if (samples.axes[axis].kind == Kind::choice)
    std::ranges::stable_sort(groups, [](const Group& a, const Group& b) { return a.mean() < b.mean(); });
  return groups;
}

}  // namespace

bool Side::holds(double place) const {
  return choices.empty() ? place >= low && (place < high || high == 1.0)
                         : choices[static_cast<std::size_t>(place)];
}

double Side::share() const {
  if (choices.empty()) return high - low;
  return static_cast<double>(std::ranges::count(choices, true)) / static_cast<double>(choices.size());
}

double overlap(const Side& a, const Side& b) {
  if (a.choices.empty()) return std::max(0.0, std::min(a.high, b.high) - std::max(a.low, b.low));
  std::size_t both = 0;
  for (std::size_t i = 0; i < a.choices.size(); ++i) both += a.choices[i] && b.choices[i] ? 1 : 0;
  return static_cast<double>(both) / static_cast<double>(a.choices.size());
}

/// The part of an axis that goes to the left, and by how much that reduces the squared error.
struct Tree::Split {
  std::size_t axis = 0;
  double gain = 0.0;
  double threshold = 0.0;              // of numbers
  std::vector<std::size_t> left = {};  // of a choice: its values
};

Tree::Tree(const Samples& samples, std::vector<std::size_t> rows) {
  std::vector<Side> box;
  for (const AxisShape& axis : samples.axes) box.push_back(whole_side(axis));
  grow(samples, std::move(rows), std::move(box));
  for (const Leaf& leaf : leaves_) mean_ += leaf.value * leaf.volume;
}

/// Returns the first of the best splits, in the order of axes and places.
Tree::Split Tree::best_split(const Samples& samples, const std::vector<std::size_t>& rows) {
  Split best;
  double sum = 0.0;
  for (const std::size_t row : rows) sum += samples.values[row];
  const auto count = static_cast<double>(rows.size());
  for (std::size_t axis = 0; axis < samples.axes.size(); ++axis) {
    const std::vector<Group> groups = groups_of(samples, rows, axis);
    double left_sum = 0.0;
    std::size_t left_count = 0;
    for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
      left_sum += groups[i].sum;
      left_count += groups[i].count;
      if (left_count < smallest_leaf || rows.size() - left_count < smallest_leaf) continue;
      const double left = static_cast<double>(left_count), right = count - left;
      const double right_sum = sum - left_sum;
      const double gain = left_sum * left_sum / left + right_sum * right_sum / right - sum * sum / count;
      if (!(gain > best.gain)) continue;
      best = {.axis = axis, .gain = gain, .threshold = 0.5 * (groups[i].place + groups[i + 1].place)};
      if (samples.axes[axis].kind == Kind::choice)
        for (std::size_t k = 0; k <= i; ++k) best.left.push_back(static_cast<std::size_t>(groups[k].place));
    }
  }
  return best;
}

void Tree::grow(const Samples& samples, std::vector<std::size_t> rows, std::vector<Side> box) {
  const Split split = best_split(samples, rows);
  if (!(split.gain > 0.0)) {
    Leaf& leaf = leaves_.emplace_back();
    for (const std::size_t row : rows) leaf.value += samples.values[row] / static_cast<double>(rows.size());
    leaf.volume = 1.0;
    for (const Side& side : box) leaf.volume *= side.share();
    leaf.box = std::move(box);
    return;
  }
  std::vector<Side> other = box;
  Side &left = box[split.axis], &right = other[split.axis];
  if (left.choices.empty()) {
    left.high = right.low = split.threshold;
  } else {
    // A value that no sample here has goes to the right.
    for (std::size_t value = 0; value < left.choices.size(); ++value) {
      const bool goes_left = std::ranges::find(split.left, value) != split.left.end();
      left.choices[value] = left.choices[value] && goes_left;
      right.choices[value] = right.choices[value] && !goes_left;
    }
  }
  std::vector<std::size_t> left_rows, right_rows;
  for (const std::size_t row : rows)
    (left.holds(samples.places[row][split.axis]) ? left_rows : right_rows).push_back(row);
  grow(samples, std::move(left_rows), std::move(box));
  grow(samples, std::move(right_rows), std::move(other));
}

double Tree::variance() const {
  double sum = 0.0;
  for (const Leaf& leaf : leaves_) sum += (leaf.value - mean_) * (leaf.value - mean_) * leaf.volume;
  return sum;
}

/// Computes the integral of the squared marginal as a sum over all pairs of leaves: the product of their
/// values, of the part of the known axes that both cover, and of the volume of each over the other axes.
double Tree::variance_by(const std::vector<std::size_t>& axes) const {
  std::vector<double> others;  // by leaf: its volume over the axes that are averaged over
  for (const Leaf& leaf : leaves_) {
    double volume = leaf.volume;
    for (const std::size_t axis : axes) volume /= leaf.box[axis].share();
    others.push_back(volume);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < leaves_.size(); ++i)
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      double common = others[i] * others[k];
      for (const std::size_t axis : axes) common *= overlap(leaves_[i].box[axis], leaves_[k].box[axis]);
      sum += (leaves_[i].value - mean_) * (leaves_[k].value - mean_) * common;
    }
  return std::max(sum, 0.0);
}

double Tree::marginal(const std::vector<std::size_t>& axes, const std::vector<double>& places) const {
  double sum = 0.0;
  for (const Leaf& leaf : leaves_) {
    double volume = leaf.volume;
    bool inside = true;
    for (std::size_t i = 0; i < axes.size() && inside; ++i) {
      inside = leaf.box[axes[i]].holds(places[i]);
      volume /= leaf.box[axes[i]].share();
    }
    if (inside) sum += leaf.value * volume;
  }
  return sum;
}

std::vector<Tree> grow_forest(const Samples& samples, std::size_t trees) {
  std::vector<Tree> forest;
  if (samples.values.empty()) return forest;
  const auto count = static_cast<double>(samples.values.size());
  for (std::size_t tree = 0; tree < trees; ++tree) {
    std::vector<std::size_t> rows;
    for (std::size_t draw = 0; draw < samples.values.size(); ++draw)
      rows.push_back(static_cast<std::size_t>(
          count * uniform_draw(static_cast<std::int64_t>(tree), static_cast<std::int64_t>(draw), "forest")));
    forest.emplace_back(samples, std::move(rows));
  }
  return forest;
}

}  // namespace encore::plan::search
