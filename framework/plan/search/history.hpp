// What a search is and what it knows: the space, the options, and the history of trials, decisions and
// observations. Values only; the store keeps them as rows, decide.hpp reads them.
// A trial is a point of the space, trained with every seed of the experiment. It is trained up to a rung (a
// number of epochs), observed there, and then promoted to a higher rung or pruned. When the search has ended
// the best trials may be confirmed: trained again with seeds that no trial had. That tells what they are
// worth, and changes nothing that the search decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/sweep.hpp"

namespace encore::search {

enum class Method : std::uint8_t { random, quasi_random, tpe };
enum class Pruning : std::uint8_t { none, asha, median };
/// In which a trial's length is counted, and the rungs with it: that of the experiment (train.epochs,
/// train.steps). What is called epochs below is steps where it says so.
enum class LengthUnit : std::uint8_t { epochs, steps };

/// A metric of the runs, and which way is better.
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
  std::int64_t eta = 3;          ///< asha: one of eta goes on, to eta times the epochs
  std::int64_t interval = 1;     ///< median: epochs from one judgement to the next
  std::int64_t comparisons = 5;  ///< median: other trials that must have come to a rung
};

/// When a search ends. No part of what it is: a search whose limits are raised goes on.
struct SearchLimits {
  std::int64_t trials = 20;
  std::int64_t patience = 0;       ///< complete trials without a better one; 0: no matter
  double hours = 0.0;              ///< of training, of all trials together; 0: no matter
  std::int64_t confirm = 0;        ///< so many of the best trials are confirmed at the end
  std::int64_t confirm_seeds = 5;  ///< each with so many fresh seeds

  friend bool operator==(const SearchLimits&, const SearchLimits&) = default;
};

/// By variable of the space: the value, of a choice its place in the list (coordinate_at).
using Point = std::vector<double>;

struct Trial {
  Point point;
  std::vector<bool> active;  ///< by variable: whether the conditions of the space leave it in the trial
};

enum class DecisionKind : std::uint8_t {
  propose,  ///< a new trial, trained up to `epochs`
  promote,  ///< a trial goes on, up to `epochs`
  prune,    ///< a trial stays where it is
  confirm,  ///< a complete trial is trained again with fresh seeds, as many as the limits say
  wait,     ///< nothing to do before the next observation; not stored
  finish    ///< nothing to do any more; not stored
};

struct Decision {
  DecisionKind kind = DecisionKind::wait;
  std::size_t trial = 0;
  std::int64_t epochs = 0;
  std::size_t observations = 0;  ///< how many were known
  Point point = {};              ///< of a proposal
  SearchLimits limits = {};      ///< under which it was made

  friend bool operator==(const Decision&, const Decision&) = default;
};

enum class Outcome : std::uint8_t {
  measured,  ///< came to its rung, and can go on
  complete,  ///< trained to its end
  failed,
  repeated,  ///< asks what an earlier trial asked; not trained
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

/// Of a trial, as a history leaves it.
struct TrialState {
  bool active = false;  ///< being trained
  bool pruned = false;  ///< by the last decision about it
  std::optional<Outcome> last;
  std::vector<const Observation*> measured;   ///< with values, by rising epochs
  std::vector<std::int64_t> confirmations;    ///< with how many fresh seeds, by confirmation that was decided
  std::vector<const Observation*> confirmed;  ///< by confirmation that has ended

  bool has_values() const { return !measured.empty(); }
  bool is_confirming() const { return confirmations.size() > confirmed.size(); }
  /// Stands at a rung, and could go on.
  bool rests() const { return !active && last == Outcome::measured; }
};

/// Pointers go into `history`, which outlives the result.
std::vector<TrialState> trial_states(const History& history);

/// "1 epoch", "40 steps"
std::string length_text(LengthUnit unit, std::int64_t length);
const char* name_of(LengthUnit unit);
const char* name_of(Method method);
const char* name_of(Pruning pruning);
const char* name_of(DecisionKind kind);
const char* name_of(Outcome outcome);

}  // namespace encore::search
