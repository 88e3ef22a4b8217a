// SPDX-License-Identifier: BSD-3-Clause
// SearchOptions and History: the options of a search, and its trials, decisions and observations so far, as
// values. The store keeps them as rows, and decide.hpp reads them. A trial is a point of the space, trained
// with every seed up to a rung (a number of epochs), observed there, and then promoted to a higher rung or
// pruned. At the end the best trials may be confirmed: trained again with fresh seeds, which changes no
// decision. The names of the enumerations are stored and never change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/sweep.hpp"

namespace encore::plan::search {

enum class Method : std::uint8_t { random, quasi_random, tpe };
enum class Pruning : std::uint8_t { none, asha, median };
/// The unit of a trial's length and of the rungs, as the experiment has it (train.epochs or train.steps). If
/// it is `steps`, all fields called epochs below count steps.
enum class LengthUnit : std::uint8_t { epochs, steps };

/// A metric of the runs, with its direction.
struct Objective {
  std::string metric;  ///< "dev/f1"
  bool maximize = true;
};

struct SearchOptions {
  Method method = Method::tpe;
  std::vector<Objective> objectives;
  std::int64_t seed = 1;
  std::int64_t startup = 10;  ///< trials with values before tpe leaves random draws
  Pruning pruning = Pruning::none;
  LengthUnit unit = LengthUnit::epochs;
  std::int64_t epochs = 1;       ///< of a whole trial
  std::int64_t first_rung = 1;   ///< epochs before the first judgement
  std::int64_t eta = 3;          ///< asha: one of eta trials continues, for eta times the epochs
  std::int64_t interval = 1;     ///< median: epochs from one judgement to the next
  std::int64_t comparisons = 5;  ///< median: other trials that must have come to a rung
};

/// Says when a search ends. The limits are not part of its identity: a search with raised limits continues.
struct SearchLimits {
  std::int64_t trials = 20;
  std::int64_t patience = 0;       ///< complete trials without a better one; 0: no limit
  double hours = 0.0;              ///< of training, of all trials together; 0: no limit
  std::int64_t confirm = 0;        ///< number of best trials that are confirmed at the end
  std::int64_t confirm_seeds = 5;  ///< number of fresh seeds for each of them

  friend bool operator==(const SearchLimits&, const SearchLimits&) = default;
};

/// The values by variable of the space; for a choice its index in the list (coordinate_at).
using Point = std::vector<double>;

struct Trial {
  Point point;
  std::vector<bool> active;  ///< by variable: whether the conditions of the space leave it in the trial
};

enum class DecisionKind : std::uint8_t {
  propose,  ///< a new trial, trained up to `epochs`
  promote,  ///< a trial continues, up to `epochs`
  prune,    ///< a trial stays where it is
  confirm,  ///< a complete trial is trained again with fresh seeds, as many as the limits say
  wait,     ///< there is nothing to do before the next observation; not stored
  finish    ///< the search has ended; not stored
};

struct Decision {
  DecisionKind kind = DecisionKind::wait;
  std::size_t trial = 0;
  std::int64_t epochs = 0;
  std::size_t observations = 0;  ///< number of observations that were known
  Point point = {};              ///< of a proposal
  SearchLimits limits = {};      ///< under which it was made

  friend bool operator==(const Decision&, const Decision&) = default;
};

enum class Outcome : std::uint8_t {
  measured,  ///< came to its rung, and can continue
  complete,  ///< trained to its end
  failed,
  repeated,  ///< its runs have the settings of an earlier trial's; not trained
  confirmed  ///< trained again with fresh seeds, whose mean the values are
};

struct Observation {
  std::size_t trial = 0;
  std::int64_t epochs = 0;
  Outcome outcome = Outcome::measured;
  std::vector<double> values = {};  ///< by objective, the mean over the seeds; NaN and infinities are kept
  double seconds = 0.0;             ///< of training since the last observation of this trial
};

struct History {
  std::vector<Trial> trials;  ///< by number
  std::vector<Decision> decisions;
  std::vector<Observation> observations;
};

/// The state of a trial after a history.
struct TrialState {
  bool active = false;  ///< being trained
  bool pruned = false;  ///< by the last decision about it
  std::optional<Outcome> last;
  std::vector<const Observation*> measured;   ///< with values, by ascending epochs
  std::vector<std::int64_t> confirmations;    ///< numbers of fresh seeds, by confirmation that was decided
  std::vector<const Observation*> confirmed;  ///< by confirmation that has ended

  bool has_values() const { return !measured.empty(); }
  bool is_confirming() const { return confirmations.size() > confirmed.size(); }
  /// Returns whether the trial waits at a rung and may continue.
  bool rests() const { return !active && last == Outcome::measured; }
};

/// The pointers point into `history`, which must outlive the result.
std::vector<TrialState> trial_states(const History& history);

/// Returns "1 epoch", "40 steps".
std::string length_text(LengthUnit unit, std::int64_t length);
const char* name_of(LengthUnit unit);
const char* name_of(Method method);
const char* name_of(Pruning pruning);
const char* name_of(DecisionKind kind);
const char* name_of(Outcome outcome);

}  // namespace encore::plan::search
