// SPDX-License-Identifier: BSD-3-Clause
// Keeps the sums of trailing windows up to date by two cursors for each window: a second is added when the
// window's beginning passes it, and subtracted when its end does. So a step costs the same for each length of
// the window. Read trailing_counts.hpp first.
#include "monitor/trailing_counts.hpp"

#include <algorithm>

namespace encore::monitor {

TrailingCounts::TrailingCounts(std::span<const TrailingWindow> windows) {
  for (const TrailingWindow& window : windows) cursors_.push_back({.window = window});
}

void TrailingCounts::add(std::int64_t second, bool hit) {
  // Events come nearly in order, so the search from the end is short. No cursor is past this place, because
  // the second is not before the last advance.
  auto place = seconds_.end();
  while (place != seconds_.begin() && std::prev(place)->second > second) --place;
  if (place == seconds_.begin() || std::prev(place)->second != second)
    place = seconds_.insert(place, {.second = second, .count = {}});
  else
    --place;
  ++place->count.all;
  place->count.hits += hit ? 1 : 0;
}

void TrailingCounts::advance_to(std::int64_t now) {
  const std::size_t end = dropped_ + seconds_.size();
  std::size_t needed = end;
  for (Cursor& cursor : cursors_) {
    for (; cursor.entered < end && numbered(cursor.entered).second < now - cursor.window.to;
         ++cursor.entered) {
      cursor.count.all += numbered(cursor.entered).count.all;
      cursor.count.hits += numbered(cursor.entered).count.hits;
    }
    for (; cursor.left < cursor.entered && numbered(cursor.left).second < now - cursor.window.from;
         ++cursor.left) {
      cursor.count.all -= numbered(cursor.left).count.all;
      cursor.count.hits -= numbered(cursor.left).count.hits;
    }
    needed = std::min(needed, cursor.left);
  }
  for (; dropped_ < needed; ++dropped_) seconds_.pop_front();
}

std::int64_t TrailingCounts::next_change() const {
  const std::size_t end = dropped_ + seconds_.size();
  std::int64_t next = never;
  for (const Cursor& cursor : cursors_) {
    if (cursor.entered < end) next = std::min(next, numbered(cursor.entered).second + cursor.window.to + 1);
    if (cursor.left < cursor.entered)
      next = std::min(next, numbered(cursor.left).second + cursor.window.from + 1);
  }
  return next;
}

}  // namespace encore::monitor
