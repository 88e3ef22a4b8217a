// SPDX-License-Identifier: BSD-3-Clause
// RunNames: names the runs of a plan from the experiment's name, the labels of the values that the sweep
// varies, and the seed. A group is all runs of one point, which differ in the seed only. PointMaker asks for
// each point; label.hpp makes the labels. A name is a label for people and not part of a run's identity, so a
// change affects new runs only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/resolve.hpp"
#include "plan/name_pattern.hpp"
#include "plan/proposal.hpp"
#include "plan/sweep.hpp"

namespace encore::plan {

/// Longer names of a sweep's points end in eight digits of a hash instead of the rest.
inline constexpr std::size_t longest_point_name = 80;

class RunNames {
 public:
  RunNames(NamePattern pattern, const Sweep& sweep);

  /// Names a point, without its seed. Two groups never share a name. `applied` is what the point sets.
  std::string of_group(const Proposal& applied, const config::Resolved& resolved, const std::string& group,
                       config::Problems& problems);
  /// Turns "depth-4" into "depth-4-s2". If the pattern has {seed}, the seed stands there.
  static std::string with_seed(const std::string& group_name, std::int64_t seed);
  /// Returns whether the name of a group can be that of a run, because it has the seed in it.
  bool names_seed() const { return pattern_.names_seed(); }

  /// Reports placeholders that match no option of any point; `known` are the options that the points have.
  void finish(const std::set<std::string>& known, config::Problems& problems) const;

 private:
  /// Replaces the placeholder. A varied option adds its key to `mentioned`.
  std::string filled(const NamePart& part, const Proposal& applied, const config::Resolved& resolved,
                     std::set<std::string>& mentioned, config::Problems& problems);
  /// Numbers draws with equal labels. A count for each name avoids a search.
  std::string distinct(const std::string& name, const std::string& group);

  NamePattern pattern_;
  std::map<std::string, std::string> prefixes_;         // of labels, by key: "", "layers="
  std::set<std::string> met_;                           // placeholders that some point has
  std::unordered_map<std::string, std::string> names_;  // by group
  std::unordered_map<std::string, int> groups_;         // number of groups that have asked for a name
};

}  // namespace encore::plan
