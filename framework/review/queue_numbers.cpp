// SPDX-License-Identifier: BSD-3-Clause
// Queue::numbers(): counts items and decisions in one state of the file, without blocking writers. It reads
// all items once, so it takes about a second for a million of them. Read queue_numbers.hpp first.
#include <algorithm>

#include "review/queue.hpp"

namespace encore::review {

QueueNumbers Queue::numbers() {
  const store::Snapshot snapshot(*database_);
  QueueNumbers numbers{.time = hooks_.now(), .seen = counts().seen, .reviewed = {}};
  const auto one = [&](const char* sql, const auto&... values) {
    store::Statement& row = database_->cached(sql).with(values...);
    const std::int64_t number = row.step() ? row.integer(0) : 0;
    row.reset();
    return number;
  };
  store::Statement& groups = database_->cached(
      "SELECT band, reason, count(*), count(label), coalesce(sum(label = proposed), 0) FROM item "
      "GROUP BY band, reason");
  while (groups.step())
    numbers.reviewed[{band_from(groups.text(0)).value_or(Band::review),
                      groups.text(1) == name_of(Reason::audit) ? Reason::audit : Reason::review}] = {
        .queued = groups.integer(2), .done = groups.integer(3), .as_proposed = groups.integer(4)};
  numbers.claimed =
      one("SELECT count(*) FROM item WHERE holder IS NOT NULL AND held_until > ?", numbers.time);
  store::Statement& voters =
      database_->cached("SELECT voters, count(*) FROM item WHERE done IS NULL GROUP BY voters");
  while (voters.step()) {
    const std::string names = voters.text(0);
    if (std::count(names.begin(), names.end(), '\n') >= settings_.opinions)
      numbers.disputed += voters.integer(1);
  }
  numbers.texts = one("SELECT count(*) FROM item WHERE text_until > ?", numbers.time);
  const char* queued_since = "SELECT count(*) FROM item WHERE queued > ?";
  const char* decided_since = "SELECT count(*) FROM decision WHERE undone IS NULL AND time > ?";
  numbers.queued_day = one(queued_since, numbers.time - seconds_of_day);
  numbers.queued_week = one(queued_since, numbers.time - 7.0 * seconds_of_day);
  numbers.decided_day = one(decided_since, numbers.time - seconds_of_day);
  numbers.decided_week = one(decided_since, numbers.time - 7.0 * seconds_of_day);
  store::Statement& oldest = database_->cached("SELECT min(queued) FROM item WHERE done IS NULL");
  if (oldest.step()) numbers.oldest_waiting = oldest.optional_number(0);
  oldest.reset();
  store::Statement& reviewers = database_->cached(
      "SELECT reviewer, count(*) FROM decision WHERE undone IS NULL GROUP BY reviewer ORDER BY reviewer");
  while (reviewers.step()) numbers.by_reviewer[reviewers.text(0)] = reviewers.integer(1);
  if (settings_.opinions < 2) return numbers;
  store::Statement& opinions = database_->cached(
      "SELECT item, reviewer, label FROM decision WHERE undone IS NULL ORDER BY item, number");
  std::int64_t item = -1;
  std::vector<std::pair<std::string, std::string>> of_item;
  const auto add_pair = [&] {
    if (of_item.size() < 2) return;
    std::sort(of_item.begin(), of_item.begin() + 2);
    numbers.pairs.emplace_back(of_item[0].second, of_item[1].second);
  };
  while (opinions.step()) {
    if (opinions.integer(0) != item) {
      add_pair();
      of_item.clear();
      item = opinions.integer(0);
    }
    of_item.emplace_back(opinions.text(1), opinions.text(2));
  }
  add_pair();
  return numbers;
}

}  // namespace encore::review
