// SPDX-License-Identifier: BSD-3-Clause
// Started, Logged and others: the events that a worker reports, one struct for each type. The trainer makes
// them, SpoolWriter (spool.hpp) writes them, and SpoolRecord::event returns them to the runner, the database
// (store/merge.hpp) and the screen. Stored spools must stay readable, so fields are only added. Read next:
// event_fields.hpp, the names of the JSON fields.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace encore::record {

/// A JSON value whose content is defined elsewhere (a description of a host, a numeric environment), kept as
/// its text; empty: not reported.
struct JsonText {
  std::string text = {};

  JsonText() = default;
  /// Replaces invalid bytes of a text that is not UTF-8.
  explicit JsonText(const nlohmann::json& value);
  /// Returns null if nothing was reported.
  nlohmann::json value() const;
  bool operator==(const JsonText&) const = default;
};

/// A measured value, named `split/measure`: {"dev/f1", 0.83}. Fractions are in [0, 1]. An event keeps a value
/// that is not finite as NaN only; a point keeps it exactly.
struct MeasuredValue {
  std::string name;
  double value = 0.0;
  bool operator==(const MeasuredValue&) const = default;
};
using MeasuredValues = std::vector<MeasuredValue>;

// --- Started and its parts ---

/// A plugin that the worker has loaded.
struct PluginUse {
  std::string name, version, sha256, fingerprint;
  std::string file = {};
  bool operator==(const PluginUse&) const = default;
};

/// The parameters of one part of the model: "embedding", "encoder", "head".
struct PartSize {
  std::string part;
  std::int64_t parameters = 0;
  bool operator==(const PartSize&) const = default;
};

/// Bin i counts the lengths from i * width + 1 to (i + 1) * width.
struct LengthHistogram {
  std::int64_t width = 1;
  std::vector<std::int64_t> counts = {};
  bool operator==(const LengthHistogram&) const = default;
};

/// A count from reading a set: {"cut words", 41}.
struct NamedCount {
  std::string name;
  std::int64_t value = 0;
  bool operator==(const NamedCount&) const = default;
};

/// One data set as the model sees it.
struct SetFacts {
  std::int64_t examples = 0;
  std::optional<std::int64_t> tokens = {};
  std::optional<std::int64_t> longest = {};  ///< tokens of the longest example
  std::optional<std::int64_t> unknown_tokens = {};
  LengthHistogram lengths = {};                     ///< of the examples in tokens; no counts: not reported
  std::map<std::string, std::int64_t> labels = {};  ///< how often each occurs
  std::vector<NamedCount> counts = {};              ///< what the task counted, in the order of its report
  bool operator==(const SetFacts&) const = default;
};

/// Data and model are ready and training begins. It describes a run from the database alone. Optional members
/// are those that a worker of an earlier version did not report.
struct Started {
  static constexpr const char* type = "started";
  JsonText numeric_environment = {}, host = {}, build = {};
  std::vector<PluginUse> plugins = {};
  std::optional<std::int64_t> threads = {};
  std::string pinning = {};
  std::optional<std::int64_t> parameters = {};
  std::vector<PartSize> parameter_parts = {};
  /// The number of parameters of each layer, by its path ("encoder.0.attention"). All layers of a decoder
  /// together have the key "decoder".
  std::map<std::string, std::int64_t> parameter_layers = {};
  std::optional<std::int64_t> vocabulary_size = {};
  std::vector<std::string> labels = {};
  std::map<std::string, SetFacts> data = {};    ///< by split: "train", "dev", "test"
  std::optional<std::int64_t> max_length = {};  ///< what data.max_length is, where it is a share ("95%")
  bool operator==(const Started&) const = default;
};

// --- training ---

enum class LogLevel : std::uint8_t { info, warning, error };

/// A line for the user.
struct Logged {
  static constexpr const char* type = "log";
  LogLevel level = LogLevel::info;
  std::string text;
  bool operator==(const Logged&) const = default;
};

/// The state of training a few times a second, for the live line, and once more before the end of an attempt,
/// to say how far the run is trained.
struct Progressed {
  static constexpr const char* type = "progress";
  std::int64_t step = 0;         ///< from 1
  std::int64_t total_steps = 0;  ///< of the whole run
  std::int64_t epoch = 0;        ///< from 1
  double loss = 0.0;             ///< NaN: this attempt has trained no step yet
  double learning_rate = 0.0;
  double tokens_per_second = 0.0;
  double eta_seconds = 0.0;
  double step_seconds = 0.0;    ///< of a usual step; 0: not reported
  double longest_pause = 0.0;   ///< seconds between two steps until now; 0: not reported
  std::string activity = {};    ///< the activity between two steps, such as "scoring dev"; empty: steps
  double activity_share = 0.0;  ///< of that, from 0 to 1
  bool operator==(const Progressed&) const = default;
};

/// A score of dev or test. The values are points too.
struct Evaluated {
  static constexpr const char* type = "measured";
  std::int64_t step = 0;
  std::int64_t epoch = 0;  ///< in which it was taken, from 1; 0: not reported
  MeasuredValues measures;
  bool operator==(const Evaluated&) const = default;
};

/// SHA-256 of a block after `step` updates; scope names the block: "parameters", "optimizer/first_moment".
struct Digested {
  static constexpr const char* type = "digest";
  std::int64_t step = 0;
  std::string scope;
  std::string sha256;
  /// The first 16 digits of the SHA-256 of each tensor, by path, for the first steps. They name the tensors
  /// that differ; the block's digest decides whether anything does.
  std::map<std::string, std::string> tensors = {};
  bool operator==(const Digested&) const = default;
};

enum class CheckpointKind : std::uint8_t { last, best };

/// A checkpoint was renamed to its final name.
struct Saved {
  static constexpr const char* type = "checkpoint";
  std::int64_t step = 0;
  CheckpointKind kind = CheckpointKind::last;
  std::string path;  ///< relative to the run folder
  std::int64_t bytes = 0;
  std::string sha256;
  bool operator==(const Saved&) const = default;
};

/// A file of the run folder is finished, such as the predictions on the test set.
struct Wrote {
  static constexpr const char* type = "artifact";
  std::string name, path, sha256;
  bool operator==(const Wrote&) const = default;
};

/// The run's answer: step of the chosen checkpoint and its scores.
struct Concluded {
  static constexpr const char* type = "result";
  std::int64_t best_step = 0;
  MeasuredValues measures;
  std::string ties = {};   ///< "loss": the rule between equal scores (Ties); empty: the earliest checkpoint
  bool undefined = false;  ///< the development set leaves the selecting metric nothing to count
  bool operator==(const Concluded&) const = default;
};

/// Says how an attempt ended.
enum class Ending : std::uint8_t {
  completed,    ///< everything done, test set scored
  interrupted,  ///< the run can be resumed from its last checkpoint
  failed,       ///< by an error: resumed, it would fail again
};

/// The last event of an attempt.
struct Ended {
  static constexpr const char* type = "finished";
  Ending ending = Ending::completed;
  std::string reason = {};
  std::optional<std::int64_t> step = {};  ///< the last one trained; none before the first
  /// Epochs done, if the attempt was asked to end after N epochs (a rung of a search).
  std::optional<std::int64_t> epochs = {};
  bool operator==(const Ended&) const = default;
};

// --- exp bench ---

/// Maps a quantity to its seconds.
using Samples = std::map<std::string, double>;

/// The cases are prepared and measuring begins.
struct BenchStarted {
  static constexpr const char* type = "bench_started";
  JsonText host = {}, build = {}, numeric_environment = {};
  std::int64_t threads = 0;
  std::vector<std::string> cases = {};  ///< in the order of the request
  bool operator==(const BenchStarted&) const = default;
};

struct BenchRound {
  static constexpr const char* type = "bench_round";
  std::int64_t round = 0;
  bool warm_up = false;  ///< not to be counted
  Samples machine;
  std::map<std::string, Samples> cases = {};  ///< by name
  bool operator==(const BenchRound&) const = default;
};

struct BenchCaseFacts {
  JsonText environment, facts;
  bool operator==(const BenchCaseFacts&) const = default;
};

/// Facts that need no clock.
struct BenchFacts {
  static constexpr const char* type = "bench_facts";
  JsonText machine;
  std::map<std::string, BenchCaseFacts> cases = {};  ///< by name
  std::int64_t peak_bytes = 0;
  bool operator==(const BenchFacts&) const = default;
};

using Event = std::variant<Started, Logged, Progressed, Evaluated, Digested, Saved, Wrote, Concluded, Ended,
                           BenchStarted, BenchRound, BenchFacts>;

const char* name_of(LogLevel level);
const char* name_of(CheckpointKind kind);
const char* name_of(Ending ending);

/// Returns the event as one JSON object with its type and time (seconds since 1970). A number that is not
/// finite becomes null, and invalid bytes of a text are replaced, so that neither stops a run.
std::string event_text(const Event& event, double time);

/// An event as it was read.
struct ReadEvent {
  std::string type;   ///< as it is written; "unreadable" if the text is not an event
  double time = 0.0;  ///< seconds since 1970; 0: not written
  std::string body;   ///< JSON to keep: the object, or the reason if the text is not one
  std::optional<Event>
      event;                 ///< none of a type that only a newer program knows, and where there is a problem
  std::string problem = {};  ///< `event "digest": "step" is a text, not a whole number`
  bool operator==(const ReadEvent&) const = default;
};

/// Never throws for its content. Skips members that this program does not know. A missing member that was
/// always written, or one of another type, makes the event a problem.
ReadEvent read_event(std::string_view text);

/// Calls the handler that takes this kind of event; an event without a handler is skipped.
template <class... Handlers>
void handle(const Event& event, Handlers&&... handlers) {
  struct All : std::decay_t<Handlers>... {
    using std::decay_t<Handlers>::operator()...;
  };
  const All all{std::forward<Handlers>(handlers)...};
  std::visit(
      [&](const auto& one) {
        if constexpr (std::is_invocable_v<const All&, decltype(one)>) all(one);
      },
      event);
}

/// Receives the events of an attempt in the order in which they happen: in the worker while it trains, in the
/// control program while it follows the spool. It is called from one thread; the event is valid during the
/// call.
class EventObserver {
 public:
  virtual ~EventObserver() = default;
  virtual void happened(const Event& event) = 0;
};

}  // namespace encore::record
