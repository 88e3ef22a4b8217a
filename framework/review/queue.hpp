// SPDX-License-Identifier: BSD-3-Clause
// Queue: the requests of an application that people decide. A program adds items, people claim one at a time,
// decide it or give it back, and each of these steps is a line of the audit trail. Place in the flow:
// serve/review_desk.cpp and app/review.cpp -> here -> queue_file.cpp. Each function is one short transaction,
// and several processes may use a queue at once. Read next: queue_items.hpp, queue.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "review/queue_items.hpp"
#include "review/queue_numbers.hpp"
#include "store/busy_wait.hpp"
#include "store/database.hpp"
#include "world/lease_clock.hpp"

namespace encore::review {

/// The clock, the patience and the observer of a Queue, which tests replace.
struct QueueHooks {
  std::function<double()> now = world::now_seconds;
  /// The longest wait for other processes that write.
  std::chrono::milliseconds patience = std::chrono::seconds(60);
  /// Called in each writing transaction: "begun", "written" before the commit, "committed" after it.
  std::function<void(std::string_view point)> reached = {};
};

/// Which items list() returns.
struct ItemFilter {
  bool waiting = true, done = false;
  std::size_t most = 20;
};

/// Not for use by several threads at once. Several processes and objects may use the same file.
class Queue {
 public:
  /// Makes a queue. `classes` are the labels to choose from; empty: any label. Throws Error if the path
  /// exists.
  static Queue make(const std::filesystem::path& path, const QueueSettings& settings,
                    const std::vector<std::string>& classes, QueueHooks hooks = {});
  /// Opens a queue. Throws Error for a missing file, another file, or a queue of another version.
  explicit Queue(const std::filesystem::path& path, QueueHooks hooks = {});

  const std::filesystem::path& path() const { return database_->path(); }
  const QueueSettings& settings() const { return settings_; }

  // --- programs ---
  /// Adds items, and counts the requests that were seen in each band. An item whose id the queue has is left
  /// as it is. On return all of it survives a power cut.
  void add(std::span<const NewItem> items, const std::map<Band, std::int64_t>& seen,
           const std::string& program);
  /// Adds labels to choose from.
  void add_classes(const std::vector<std::string>& classes);
  /// Returns the labels to choose from, in the order in which they were added.
  std::vector<std::string> classes();

  // --- people ---
  /// Gives an item to a reviewer until the lease ends: the one that the reviewer has already, or the next one
  /// that no other reviewer has and that this one has not decided. Items of the audit come before the others,
  /// and skipped ones last. Returns nothing if there is none.
  std::optional<Item> claim(const std::string& reviewer, Order order = Order::uncertainty);
  /// Records the opinion of a reviewer. The item is decided when as many people as settings().opinions have
  /// given it the same label. Repeating the same decision changes nothing. `new_class`: the label may be one
  /// that the queue does not have yet. Returns the item as it is then.
  Item decide(const std::string& id, const std::string& label, const std::string& reviewer,
              bool new_class = false);
  /// Takes back the newest opinion about an item, of this reviewer if one is named. The item waits again, and
  /// the named reviewer has it.
  Item undo(const std::string& id, const std::string& reviewer = {});
  /// Ends the lease of a reviewer. `skip`: the item comes after all that were skipped less often.
  void release(const std::string& id, const std::string& reviewer, bool skip = false);

  // --- inputs ---
  /// Overwrites the text of these items in the queue and its journal. Returns how many had one. `watch` gets
  /// the numbers of finished and of all items.
  using Watch = std::function<void(std::size_t done, std::size_t all)>;
  std::size_t forget(const std::vector<std::string>& ids, const std::string& person);
  /// The same for all items that are older than `seconds`.
  std::size_t forget_older(double seconds, const std::string& person, const Watch& watch = {});
  /// The same for each text whose time is over. Programs call it when they open a queue, and hourly.
  std::size_t forget_expired();

  // --- reading ---
  QueueCounts counts();
  /// Returns the item. Throws ItemRefused if the queue does not have it.
  Item find(const std::string& id);
  /// Returns items in the order of claims by uncertainty; decided ones by time, the newest first.
  std::vector<Item> list(const ItemFilter& filter);
  std::vector<TrailEntry> trail(const std::string& id);
  /// Calls `visit` for each decided item that has a text, in the order of arrival.
  void visit_decided(const std::function<void(const Item&)>& visit);
  QueueNumbers numbers();

 private:
  Queue(std::unique_ptr<store::Database> database, QueueHooks hooks);
  /// Does `work` in one transaction.
  void write(const std::function<void()>& work);
  void reached(std::string_view point) const;
  void record(std::int64_t item, const std::string& person, Event event, const std::string& label = {});
  void count(const std::string& name, std::int64_t more);
  Item item_of(store::Statement& row);
  std::optional<Item> held_by(const std::string& reviewer);
  std::optional<std::int64_t> next_for(const std::string& reviewer, Order order);
  void lease(std::int64_t item, const std::string& reviewer);
  Item numbered(std::int64_t number);
  std::string known_label(const std::string& label, bool new_class);
  void settle(std::int64_t item);
  bool overwrite(std::int64_t item, const std::string& person);
  void empty_journal();

  std::unique_ptr<store::Database> database_;
  std::unique_ptr<store::BusyWait> wait_;  ///< of database_
  QueueHooks hooks_;
  QueueSettings settings_;
};

// --- the SQLite file of a queue, which only Queue makes and opens (queue_file.cpp). A file of another
// program or version must be refused before a row of it is read. A change of the tables needs the next
// version. ---

/// The application id in the head of the file: the letters ENRQ. It never changes.
inline constexpr std::int64_t queue_application = 0x454E5251;
inline constexpr std::int64_t queue_version = 1;

/// Makes the file, which only its owner may read, with its tables. Throws Error if the path exists.
std::unique_ptr<store::Database> make_queue_file(const std::filesystem::path& path,
                                                 std::chrono::milliseconds patience);
/// Opens the file. Throws Error that names the path and what to do if it is missing, is not a review queue,
/// or is of another version.
std::unique_ptr<store::Database> open_queue_file(const std::filesystem::path& path,
                                                 std::chrono::milliseconds patience);

}  // namespace encore::review
