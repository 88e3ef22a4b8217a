// SPDX-License-Identifier: BSD-3-Clause
// Checks when the model is built whether a head fits its task and model. Errors name the key of the
// experiment that must change. Network calls it.
#pragma once

#include <vector>

#include "config/experiment.hpp"
#include "model/network.hpp"

namespace encore::model {

/// Throws ConfigError if the head reads a column that the task does not fill accordingly, does not give what
/// the task reads, couples the sequences of a batch that is to be cut, or cannot learn from the given
/// teacher; and if the task's segments are not what an embedding can read.
void require_fit(const HeadPlan& head, const config::Experiment& experiment, const ModelSize& size);
/// Throws ConfigError unless every part of the model is read by another, up to the head.
void require_readers(const std::vector<Node>& nodes, const config::Experiment& experiment);
/// Throws ConfigError unless every tied parameter is one of another part, with the same shape.
void require_aliases(const std::vector<Node>& nodes, const config::Experiment& experiment);

}  // namespace encore::model
