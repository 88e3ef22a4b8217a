// SPDX-License-Identifier: BSD-3-Clause
// Proposal: the options that one point of a sweep or search sets, on top of the experiment file. Place in the
// flow: proposal.cpp (grid, zips, draws) or a search proposes points -> point_maker.cpp makes runs of them
// and must not know where they come from. Stored sweeps are numbered in the order of propose_all(), so it
// does not change.
#pragma once

#include <string>
#include <vector>

#include "config/value.hpp"

namespace encore::plan {

struct Sweep;

struct Assignment {
  std::vector<std::string> path;  ///< {"model", "layers"}
  std::string key;                ///< "model.layers"
  config::Origin key_origin;      ///< where the sweep names the option
  config::Value value;            ///< with the origin "sweep"; a table replaces a table
  std::string label;              ///< the value in a run's name: "4", "alibi_attention"
};

/// The assignments in the order of the sweep's keys; empty if nothing is varied.
using Proposal = std::vector<Assignment>;

/// Returns the label of a drawn or proposed value: three digits of a number. The run has the exact value.
std::string drawn_label(const config::Value& value);

/// Returns all points of a sweep: the grid's keys as nested loops, the first one slowest, within them the
/// zips, then the draws.
std::vector<Proposal> propose_all(const Sweep& sweep);

}  // namespace encore::plan
