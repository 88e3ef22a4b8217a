// Proposal: what one point of a sweep sets on top of the experiment file. The seam between who proposes
// (grid, zip and random draws here; a search that looks at finished runs uses the same type) and
// point_maker.hpp, which makes runs.
#pragma once

#include <string>
#include <vector>

#include "config/value.hpp"

namespace encore {

struct Sweep;

struct Assignment {
  std::vector<std::string> path;  ///< {"model", "layers"}
  std::string key;                ///< "model.layers"
  Origin key_origin;              ///< where the sweep names the option
  Value value;                    ///< with the origin "sweep"; a table replaces a table
  std::string label;              ///< the value in a run's name: "4", "alibi_attention"
};

/// In the order of the sweep's keys; empty where nothing is varied.
using Proposal = std::vector<Assignment>;

/// Of a value that was drawn or proposed: of a number three digits, the value itself is in the run.
std::string drawn_label(const Value& value);

/// All points of a sweep: the grid's keys as nested loops, the first one slowest; within them the zips, then
/// the draws.
std::vector<Proposal> propose_all(const Sweep& sweep);

}  // namespace encore
