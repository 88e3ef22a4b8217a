// The `started` event: what a worker tells of itself, its model and its data before the first step, so that a
// run can be described from the database alone. Place in the flow: train_verb.cpp -> spool -> store
// (attempt.started_event) -> report/method.cpp, report/data.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "train/session.hpp"

namespace encore {

/// numeric_environment, host, build, plugins, threads; parameters, parameter_parts, parameter_layers (those
/// of a block by its sub-layers), labels; data by split, see set_description.
nlohmann::json started_event(Session& session, int threads);

/// Sizes of a set, what max_length cut, the histogram of lengths ({"width": w, "counts": [...]}, bin i holds
/// lengths from i * w + 1 to (i + 1) * w) and how many words carry each label ("unseen": those whose label
/// the training set lacks).
nlohmann::json set_description(const EncodedSet& set, const std::vector<std::string>& labels);

}  // namespace encore
