// SPDX-License-Identifier: BSD-3-Clause
// The thresholds of `decide`: from which score on a request is answered, and from which on it is refused.
// They keep a promise (a share of errors that holds with a stated confidence) or minimize a cost. fitting.cpp
// calls these pure functions. Thresholds of stored runs follow from them, so a change needs a new version of
// the step.
//
// Promises are found by fixed sequence testing (Angelopoulos et al. 2021, "Learn then test"). The calibration
// part alone decides which thresholds are tried and with which the tests begin: the one that is the likeliest
// to pass. The bound part, which nothing else was fitted on, tests this one and then lower ones; the first
// that fails ends the tests, and the last that passed is taken.
#pragma once

#include <optional>
#include <span>

namespace encore::decide {

/// One request of the development set with its two scores.
struct Outcome {
  double answer = 0.0;     ///< the probability that its answer is right and the request in scope, in [0, 1]
  double scope = 0.0;      ///< larger: the request is rather out of scope
  bool may_answer = true;  ///< false: the classifier itself says "out of scope"
  bool is_right = false;   ///< its answer is right; false for a request that is out of scope
  bool in_scope = true;
};

using Outcomes = std::span<const Outcome>;

/// The two parts of the development set.
struct Parts {
  Outcomes calibration, bound;
};

struct Promise {
  double most = 0.05;                ///< of the errors, in (0, 1)
  double confidence = 0.95;          ///< in (0, 1)
  std::optional<double> share = {};  ///< of the requests that are out of scope; none: as in the bound part
};

/// What testing found. The counts are of the bound part.
struct Tested {
  std::optional<double> threshold = {};  ///< the lowest score that is taken; none: no threshold passed
  /// The threshold whose test failed, if one did. The bound of a later promise holds for requests below it.
  std::optional<double> failed = {};
  double taken = 0.0, errors = 0.0;  ///< of the threshold, or of the failed test if none passed
  double bound = 1.0;                ///< the upper end of the share of errors there
  friend bool operator==(const Tested&, const Tested&) = default;
};

/// Returns the lowest threshold of Outcome::answer for which the share of errors among answered requests (a
/// wrong answer, or any answer to a request out of scope) is at most `most` with probability `confidence`.
Tested test_answers(const Parts& parts, const Promise& promise);

/// Returns the lowest threshold of Outcome::scope for which the share of requests in scope among refused ones
/// is at most `most` with probability `confidence`. A request is refused only if it may not be answered or if
/// its answer score is below `answered_from`.
Tested test_refusals(const Parts& parts, const Promise& promise, std::optional<double> answered_from);

/// What decisions cost, in any unit. A right answer and a refusal out of scope cost nothing.
struct Costs {
  double wrong = 0.0;                 ///< an answer that is an error
  double review = 0.0;                ///< a person decides
  std::optional<double> missed = {};  ///< a request in scope is refused; none: no request is refused
};

struct Thresholds {
  std::optional<double> answer = {}, refuse = {};  ///< none: no request is answered, or refused
  /// Requests with at least this answer score are not refused; none: any request that is not answered may be.
  std::optional<double> no_refusal = {};
  friend bool operator==(const Thresholds&, const Thresholds&) = default;
};

enum class Band { answer, review, refuse };

/// Returns the band of a request. Answering comes before refusing.
Band band_of(double answer, double scope, bool may_answer, const Thresholds& thresholds);

/// Returns the thresholds with the smallest mean cost over the requests; of equal ones those with most
/// reviews. `share` weighs the requests so that this share of them is out of scope.
Thresholds cheapest(Outcomes outcomes, const Costs& costs, std::optional<double> share);

/// Returns the smallest number of requests without a single error that keeps a promise.
double fewest_for(const Promise& promise);

}  // namespace encore::decide
