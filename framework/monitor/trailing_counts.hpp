// SPDX-License-Identifier: BSD-3-Clause
// TrailingCounts: how many events of one group fell into windows that end now, such as the last hour and the
// hour before. Place in the flow: alert_watch.cpp adds events and asks for the sums at each second at which
// one changes. Only seconds with events take memory, and only while a window still reaches them. The sums are
// a pure function of the events and of the time.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

namespace encore::monitor {

/// Events, and those of them that have what a rule counts.
struct EventCount {
  std::int64_t all = 0, hits = 0;

  friend bool operator==(const EventCount&, const EventCount&) = default;
};

/// The seconds from now - `from` (counted) to now - `to` (not counted).
struct TrailingWindow {
  std::int64_t from = 0, to = 0;
};

class TrailingCounts {
 public:
  /// Stands for "never" as the time of a change.
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  explicit TrailingCounts(std::span<const TrailingWindow> windows);
  /// Adds an event of the second `second`, which is not before the time of the last advance_to().
  void add(std::int64_t second, bool hit);
  /// Moves all windows to the time `now`, which never goes back.
  void advance_to(std::int64_t now);
  /// Returns the count in a window, by its place in the constructor's list.
  const EventCount& in(std::size_t window) const { return cursors_[window].count; }
  /// Returns the next time at which a count changes if no event is added, or `never`.
  std::int64_t next_change() const;

 private:
  struct Second {
    std::int64_t second;
    EventCount count;
  };
  struct Cursor {
    TrailingWindow window;
    std::size_t left = 0, entered = 0;  ///< seconds that were passed by the end or the beginning, by number
    EventCount count = {};
  };

  const Second& numbered(std::size_t number) const { return seconds_[number - dropped_]; }

  std::vector<Cursor> cursors_;
  std::deque<Second> seconds_;  ///< in ascending order
  std::size_t dropped_ = 0;     ///< seconds that no window reaches any more
};

}  // namespace encore::monitor
