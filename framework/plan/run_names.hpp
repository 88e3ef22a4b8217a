// RunNames: what the runs of a plan are called. A name is a label for people and no part of a run's identity:
// the experiment's name, the labels of what the sweep varies, the seed.
// Place in the flow: point_maker.hpp asks for each point; label.hpp makes the labels.
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

namespace encore {

/// Longer names of a sweep's points end in eight digits of a hash instead of the rest.
inline constexpr std::size_t longest_point_name = 80;

class RunNames {
 public:
  RunNames(NamePattern pattern, const Sweep& sweep);

  /// Of a point, without its seed; two groups never share one. `applied` is what the point sets.
  std::string of_group(const Proposal& applied, const Resolved& resolved, const std::string& group,
                       Problems& problems);
  /// "depth-4" -> "depth-4-s2"; where the pattern has {seed} the seed stands there.
  static std::string with_seed(const std::string& group_name, std::int64_t seed);
  /// Whether the name of a group is one that a run can have by itself.
  bool names_seed() const { return pattern_.names_seed(); }

  /// Placeholders that were no option in any point; `known` are the options that the points have.
  void finish(const std::set<std::string>& known, Problems& problems) const;

 private:
  /// Replaces the placeholder; `mentioned` gets the key of a varied option.
  std::string filled(const NamePart& part, const Proposal& applied, const Resolved& resolved,
                     std::set<std::string>& mentioned, Problems& problems);
  /// Draws that look alike are numbered; with a count for each name that takes no search.
  std::string distinct(const std::string& name, const std::string& group);

  NamePattern pattern_;
  std::map<std::string, std::string> prefixes_;         // of labels, by key: "", "layers="
  std::set<std::string> met_;                           // placeholders that some point has
  std::unordered_map<std::string, std::string> names_;  // by group
  std::unordered_map<std::string, int> groups_;         // how many have asked for a name
};

}  // namespace encore
