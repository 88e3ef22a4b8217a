// Whether a head fits the task and the model it is to stand in: found when the model is built, with the key
// of the experiment that must change. Place in the flow: Network -> here.
#pragma once

#include <vector>

#include "config/experiment.hpp"
#include "model/network.hpp"

namespace encore {

/// Throws ConfigError where the head reads a column that the task does not fill as it wants, does not give
/// what the task reads, couples the sequences of a batch that is to be cut, or cannot learn from the teacher
/// that there is; and where the task's segments are not what an embedding can read.
void require_fit(const HeadPlan& head, const Experiment& experiment, const ModelSize& size);
/// Every part of the model is read by another, up to the head; else throws ConfigError.
void require_readers(const std::vector<Node>& nodes, const Experiment& experiment);
/// A tied parameter is one that another part has, of the same shape; else throws ConfigError.
void require_aliases(const std::vector<Node>& nodes, const Experiment& experiment);

}  // namespace encore
