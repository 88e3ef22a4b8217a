// SPDX-License-Identifier: BSD-3-Clause
// Knowledge: everything that `decide` knows after fitting, and its form as JSON, which runs store.
// fitting.cpp makes it, decide.cpp applies it. restore() of a stored run reads JSON of any released version,
// so its members keep their names; a new member needs a default for old runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "class_distance.hpp"
#include "logistic.hpp"
#include "temperature.hpp"
#include "thresholds.hpp"

namespace encore::decide {

/// The distance of a text to the classes, and what it is compared with.
struct Distance {
  ClassDistance classes;
  double typical = 1.0;  ///< the mean distance of the requests in scope of the calibration part
};

/// The numbers that a report needs beside the measures.
struct Findings {
  double examples = 0.0, calibration = 0.0,
         out_of_scope = 0.0;  ///< numbers of examples in the fitting share of the development set
  std::optional<Tested> answers = {}, refusals = {};  ///< of the promises that were asked for
  friend bool operator==(const Findings&, const Findings&) = default;
};

/// A request as `decide` sees it: the answer of the classifier and, if there is one, the vector of its text.
struct Request {
  const std::string* label = nullptr;
  const Scores* scores = nullptr;
  const std::vector<double>* vector = nullptr;
};

/// The two scores of a request.
struct RequestScores {
  double answer = 0.0;  ///< the probability that the label is right and the request in scope
  double scope = 0.0;   ///< the probability of out of scope; without examples of it a score in [0, 1]
};

struct Knowledge {
  double temperature = 1.0;
  std::optional<Distance> distance = {};
  std::optional<Logistic> answer = {};  ///< none: the probability of the label at the temperature
  std::optional<Logistic> scope = {};   ///< none: the distance or 1 - that probability
  std::string out_of_scope = {};  ///< a class of the classifier that means "out of scope"; "": it has none
  std::vector<std::string> frequent = {};  ///< the 20 most frequent true classes in scope
  Thresholds thresholds = {};
  Findings findings = {};

  /// Returns the features of a request: the log-odds of its label, and, if the distance counts, the distance.
  /// `own` is the class of a vector that the distance was fitted on (ClassDistance::nearest).
  std::vector<double> features(const Request& request, std::optional<std::size_t> own = {}) const;
  /// Returns these and, if the classifier has a class for out of scope, the log-odds of this class.
  std::vector<double> scope_features(const Request& request, std::vector<double> features) const;
  RequestScores scores_of(const Request& request) const { return scores_of(request, features(request)); }
  RequestScores scores_of(const Request& request, const std::vector<double>& features) const;
  /// Returns whether the label may be an answer: it does not itself mean "out of scope".
  bool may_answer(const Request& request) const;
};

/// Writes the knowledge as JSON. Numbers read back with equal bits.
std::string knowledge_text(const Knowledge& knowledge);
/// Reads it back. Throws Error if knowledge_text() did not write the text, or a later version did.
Knowledge knowledge_in(std::string_view text);

}  // namespace encore::decide
