// SPDX-License-Identifier: BSD-3-Clause
// The values of a review queue: its settings, the items that programs add, the items that people get, and the
// entries of the audit trail. Queue (queue.hpp) reads and writes them; serve/, app/ and cli/ pass them on.
// The names of bands, reasons and events are stored, so they never change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <encore/error.hpp>

namespace encore::review {

inline constexpr double seconds_of_day = 86400.0;

/// What an application did with a request. A step gives it as the text field `band` (encore/step.hpp).
enum class Band : std::uint8_t { answer, review, refuse };
/// Why an item is in the queue: its band is `review`, or it belongs to the random share of the others.
enum class Reason : std::uint8_t { review, audit };
/// What happened to an item.
enum class Event : std::uint8_t { queued, claimed, released, skipped, decided, undone, forgotten };
/// In which order claim() gives items.
enum class Order : std::uint8_t { uncertainty, age };

const char* name_of(Band band);
const char* name_of(Reason reason);
const char* name_of(Event event);
const char* name_of(Order order);
std::optional<Band> band_from(std::string_view name);
std::optional<Order> order_from(std::string_view name);

/// Chosen when a queue is made.
struct QueueSettings {
  std::string application = {};  ///< name of its run
  std::string run = {};          ///< id of the run that the queue was made for
  double audit = 0.0;            ///< share of the automatic decisions that a person reviews too
  double lease_seconds = 900.0;  ///< for which a claim lasts
  double text_days = 0.0;        ///< for which the input is kept; 0: it is not kept
  int opinions = 1;              ///< number of people who must give an item the same label
  std::string format = {};       ///< data.type of the application, for exports
  double created = 0.0;          ///< seconds since 1970, as all times here
};

/// A request that a person is to decide.
struct NewItem {
  std::string id;                     ///< id of the request, or "ID.i" for input i of a request with several
  std::string run = {}, digest = {};  ///< id of the application's run, SHA-256 of its weights
  Band band = Band::review;
  Reason reason = Reason::review;
  std::string proposed = {};  ///< label of the application; "": it proposes none
  /// The numbers that its step gives in fields of these names (band_field in encore/step.hpp).
  std::optional<double> confidence = {}, scope = {};
  std::string text = {};
};

/// The label that a reviewer gave an item and did not undo.
struct Opinion {
  std::string reviewer, label;
  double time = 0.0;
};

struct Item {
  std::int64_t number = 0;  ///< in the order of arrival
  std::string id, run, digest;
  Band band = Band::review;
  Reason reason = Reason::review;
  std::string proposed;
  std::optional<double> confidence, scope;
  double queued = 0.0;
  std::optional<std::string> text;  ///< nothing: it was not kept, or was removed
  std::vector<Opinion> opinions;    ///< in the order of time
  std::string holder;               ///< who has claimed it; "": no reviewer has it now
  double held_until = 0.0;
  std::optional<std::string> label;  ///< nothing: it is not decided yet
};

struct TrailEntry {
  double time = 0.0;
  std::string person;  ///< or the program that did it
  Event event = Event::queued;
  std::string label;  ///< of a decision, else ""
};

/// Counts that every write keeps exact, so that reading them takes no time.
struct QueueCounts {
  std::map<Band, std::int64_t> seen;  ///< requests that the application answered, by band
  std::int64_t waiting = 0;           ///< items without a decision, claimed ones too
  std::int64_t done = 0;              ///< decided items
};

/// Whether the opinions of others are included: a reviewer must not see them before the own decision.
enum class Opinions : std::uint8_t { hidden, shown };

/// Returns an item for programs, as `exp review --json` prints it and the routes /v1/review/... of `exp
/// serve` send it (item_json.cpp). Members may be added, none renamed.
nlohmann::ordered_json item_json(const Item& item, Opinions opinions);
/// {"waiting", "done", "seen": {"answer", "review", "refuse"}}
nlohmann::ordered_json counts_json(const QueueCounts& counts);

/// An action on an item that cannot be done: the item is unknown, another reviewer has it, it is decided, or
/// the label is not valid. Nothing was changed.
class ItemRefused : public Error {
 public:
  enum class Why : std::uint8_t { unknown, held, decided, label };
  ItemRefused(Why why, const std::string& message) : Error(message), why_(why) {}
  Why why() const { return why_; }

 private:
  Why why_;
};

}  // namespace encore::review
