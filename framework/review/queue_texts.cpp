// SPDX-License-Identifier: BSD-3-Clause
// The inputs that a queue keeps: how each is removed so that no byte of it is left. A row of `content` is
// never deleted and keeps its size: SQLite writes a value of equal size over the old one, in the same place
// of the same page. Deleting rows would let SQLite move other rows between pages, and their old bytes would
// stay there although `secure_delete` is on. Rows are added in the order of their keys, which moves none
// either. The journal (WAL) has older copies of pages, so it is written back and emptied. VACUUM is never
// called: it copies the whole file. Read queue.hpp first.
#include "review/queue.hpp"

namespace encore::review {

namespace {

/// Items whose input is removed in one transaction, so that others can write in between.
constexpr std::size_t most_at_once = 500;

}  // namespace

bool Queue::overwrite(std::int64_t item, const std::string& person) {
  store::Statement& size = database_->cached(
      "SELECT length(CAST(text AS BLOB)) FROM content JOIN item ON item.number = content.item "
      "WHERE content.item = ? AND item.text_until IS NOT NULL");
  const bool found = size.with(item).step();
  const auto bytes = static_cast<std::size_t>(found ? size.integer(0) : 0);
  size.reset();
  if (!found) return false;
  database_->cached("UPDATE content SET text = ? WHERE item = ?").run(std::string(bytes, ' '), item);
  database_->cached("UPDATE item SET text_until = NULL WHERE number = ?").run(item);
  record(item, person, Event::forgotten);
  return true;
}

void Queue::empty_journal() {
  store::Statement& checkpoint = database_->cached("PRAGMA wal_checkpoint(TRUNCATE)");
  const bool blocked = checkpoint.step() && checkpoint.integer(0) != 0;
  checkpoint.reset();
  if (blocked)
    throw Error("review queue " + path().string() + ": another process still reads it, so its journal " +
                path().string() + "-wal may still have what was removed; run the same command again");
}

std::size_t Queue::forget(const std::vector<std::string>& ids, const std::string& person) {
  std::size_t texts = 0;
  write([&] {
    for (const std::string& id : ids) texts += overwrite(find(id).number, person) ? 1 : 0;
  });
  empty_journal();  // also if a call before was interrupted behind its commit
  return texts;
}

std::size_t Queue::forget_older(double seconds, const std::string& person, const Watch& watch) {
  store::Statement& all =
      database_->cached("SELECT number FROM item WHERE text_until IS NOT NULL AND queued <= ?");
  all.with(hooks_.now() - seconds);
  std::vector<std::int64_t> items;
  while (all.step()) items.push_back(all.integer(0));
  std::size_t texts = 0;
  for (std::size_t first = 0; first < items.size(); first += most_at_once) {
    const std::size_t end = std::min(items.size(), first + most_at_once);
    write([&] {
      for (std::size_t i = first; i < end; ++i) texts += overwrite(items[i], person) ? 1 : 0;
    });
    if (watch) watch(end, items.size());
  }
  empty_journal();
  return texts;
}

std::size_t Queue::forget_expired() {
  store::Statement& expired =
      database_->cached("SELECT number FROM item WHERE text_until <= ? ORDER BY text_until LIMIT ?");
  std::size_t texts = 0;
  for (;;) {
    expired.with(hooks_.now(), most_at_once);
    std::vector<std::int64_t> items;
    while (expired.step()) items.push_back(expired.integer(0));
    expired.reset();
    if (items.empty()) break;
    write([&] {
      for (const std::int64_t item : items) texts += overwrite(item, "retention") ? 1 : 0;
    });
  }
  if (texts > 0) empty_journal();
  return texts;
}

}  // namespace encore::review
