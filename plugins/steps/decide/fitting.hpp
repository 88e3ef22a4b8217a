// SPDX-License-Identifier: BSD-3-Clause
// The fit of `decide`: from answers of a classifier with their truth to its Knowledge, and the remarks for
// the log of the run. Decide::fit (decide.cpp) calls it. A pure function of the requests in their order; a
// change of what it computes needs a new version of the step. Read thresholds.hpp next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "knowledge.hpp"
#include "thresholds.hpp"

namespace encore::decide {

/// What the options of the step ask for: a promise about errors, or costs.
struct Settings {
  std::string step = {};          ///< its name, for messages
  std::string out_of_scope = {};  ///< the true label of requests that belong to no class; "": there are none
  std::optional<double> error = {}, missed = {};
  double confidence = 0.95;
  std::optional<Costs> costs = {};
  std::optional<double> share = {};  ///< of the requests in service that are out of scope
};

struct KnownRequest {
  Request request;
  const std::string* truth = nullptr;
};

/// Vectors of the training set with their true labels; empty if there are none.
struct TrainingVectors {
  std::vector<const std::vector<double>*> vectors = {};
  std::vector<const std::string*> truths = {};
};

struct Fitted {
  Knowledge knowledge;
  std::vector<std::string> notes;
};

/// Returns whether a request belongs to the calibration part: a third of all, chosen by a hash of its label
/// and probabilities, so that equal requests are in the same part.
bool calibrates(const Request& request);

/// Fits the knowledge. `uses_distance`: each request has a vector, all of one width. Throws Error if no
/// request is in scope.
Fitted fit(const std::vector<KnownRequest>& dev, const TrainingVectors& train, bool uses_distance,
           const Settings& settings);

}  // namespace encore::decide
