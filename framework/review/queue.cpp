// SPDX-License-Identifier: BSD-3-Clause
// Queue: adding, claiming, deciding and taking back, each in one transaction that takes the write lock at its
// beginning, so two reviewers never get the same item. The time of a claim and a decision does not depend on
// the number of items: each reads a few rows by an index. The audit trail is only added to. Read queue.hpp
// first; queue_texts.cpp removes the input, queue_numbers.cpp counts.
#include "review/queue.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/nearest.hpp"

namespace encore::review {

namespace {

constexpr std::pair<Band, const char*> bands[] = {
    {Band::answer, "answer"}, {Band::review, "review"}, {Band::refuse, "refuse"}};
constexpr std::pair<Reason, const char*> reasons[] = {{Reason::review, "review"}, {Reason::audit, "audit"}};
constexpr std::pair<Event, const char*> events[] = {
    {Event::queued, "queued"},      {Event::claimed, "claimed"}, {Event::released, "released"},
    {Event::skipped, "skipped"},    {Event::decided, "decided"}, {Event::undone, "undone"},
    {Event::forgotten, "forgotten"}};
constexpr std::pair<Order, const char*> orders[] = {{Order::uncertainty, "uncertainty"}, {Order::age, "age"}};

template <class Pairs, class Value>
const char* name_in(const Pairs& pairs, Value value) {
  for (const auto& [known, name] : pairs)
    if (known == value) return name;
  return "";
}

template <class Value, std::size_t n>
std::optional<Value> value_in(const std::pair<Value, const char*> (&pairs)[n], std::string_view name) {
  for (const auto& [value, known] : pairs)
    if (name == known) return value;
  return std::nullopt;
}

constexpr const char* item_columns =
    "SELECT item.number, id, run, digest, band, reason, proposed, confidence, scope, queued, text_until, "
    "holder, "
    "held_until, label FROM item ";

std::string with_columns(const std::string& condition) {
  return item_columns + condition;
}

/// Returns the value of item.rank: a smaller one is claimed first. An audit must not depend on confidence, so
/// its items come first, in the order of arrival.
double rank_of(const NewItem& item) {
  if (item.reason == Reason::audit) return -1.0;
  return item.confidence.value_or(0.0);
}

bool has_voted(const std::string& voters, const std::string& reviewer) {
  return ("\n" + voters).find("\n" + reviewer + "\n") != std::string::npos;
}

std::string refusal_place(const store::Database& database, const std::string& id) {
  return "item \"" + id + "\" of review queue " + database.path().string();
}

/// Names are keys of leases and of item.voters.
void require_reviewer(const std::string& reviewer) {
  const auto is_control = [](unsigned char letter) { return letter < ' ' || letter == 127; };
  if (reviewer.empty() || reviewer.size() > 200 || std::ranges::any_of(reviewer, is_control))
    throw Error("invalid name of a reviewer \"" + reviewer +
                "\": expected 1 to 200 bytes without control characters");
}

}  // namespace

const char* name_of(Band band) {
  return name_in(bands, band);
}
const char* name_of(Reason reason) {
  return name_in(reasons, reason);
}
const char* name_of(Event event) {
  return name_in(events, event);
}
const char* name_of(Order order) {
  return name_in(orders, order);
}
std::optional<Band> band_from(std::string_view name) {
  return value_in(bands, name);
}
std::optional<Order> order_from(std::string_view name) {
  return value_in(orders, name);
}

// --- the file ---

Queue Queue::make(const std::filesystem::path& path, const QueueSettings& settings,
                  const std::vector<std::string>& classes, QueueHooks hooks) {
  const double now = hooks.now();
  {
    const auto database = make_queue_file(path, hooks.patience);
    store::Transaction transaction(*database);
    database
        ->cached(
            "INSERT INTO queue (number, application, run, audit, lease_seconds, text_days, opinions, format, "
            "created) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)")
        .run(settings.application, settings.run, settings.audit, settings.lease_seconds, settings.text_days,
             settings.opinions, settings.format, now);
    transaction.commit();
  }
  Queue queue(path, std::move(hooks));
  queue.add_classes(classes);
  return queue;
}

Queue::Queue(const std::filesystem::path& path, QueueHooks hooks)
    : Queue(open_queue_file(path, hooks.patience), std::move(hooks)) {}

Queue::Queue(std::unique_ptr<store::Database> database, QueueHooks hooks)
    : database_(std::move(database)),
      wait_(std::make_unique<store::BusyWait>(*database_, hooks.patience)),
      hooks_(std::move(hooks)) {
  store::Statement row(*database_,
                       "SELECT application, run, audit, lease_seconds, text_days, opinions, format, created "
                       "FROM queue");
  if (!row.step())
    throw Error("review queue " + path().string() +
                " has no settings, because its creation was interrupted; remove it, then run exp review new");
  settings_ = {.application = row.text(0),
               .run = row.text(1),
               .audit = row.number(2),
               .lease_seconds = row.number(3),
               .text_days = row.number(4),
               .opinions = static_cast<int>(row.integer(5)),
               .format = row.text(6),
               .created = row.number(7)};
}

void Queue::reached(std::string_view point) const {
  if (hooks_.reached) hooks_.reached(point);
}

void Queue::write(const std::function<void()>& work) {
  store::Transaction transaction(*database_);
  reached("begun");
  work();
  reached("written");
  transaction.commit();
  reached("committed");
}

void Queue::record(std::int64_t item, const std::string& person, Event event, const std::string& label) {
  database_->cached("INSERT INTO trail (item, time, person, event, label) VALUES (?, ?, ?, ?, ?)")
      .run(item, hooks_.now(), person, name_of(event), label);
}

void Queue::count(const std::string& name, std::int64_t more) {
  if (more == 0) return;
  database_
      ->cached(
          "INSERT INTO tally (name, count) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET count = count + "
          "excluded.count")
      .run(name, more);
}

// --- programs ---

void Queue::add(std::span<const NewItem> items, const std::map<Band, std::int64_t>& seen,
                const std::string& program) {
  write([&] {
    std::int64_t added = 0;
    for (const NewItem& item : items) {
      const double now = hooks_.now();
      const bool keeps_text = settings_.text_days > 0.0 && !item.text.empty();
      database_
          ->cached(
              "INSERT INTO item (id, run, digest, band, reason, proposed, confidence, scope, queued, rank, "
              "text_until, voters, skips) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0) "
              "ON CONFLICT (id) DO NOTHING")
          .run(item.id, item.run, item.digest, name_of(item.band), name_of(item.reason), item.proposed,
               item.confidence, item.scope, now, rank_of(item),
               keeps_text ? std::optional(now + settings_.text_days * seconds_of_day) : std::nullopt);
      if (database_->changes() == 0) continue;
      const std::int64_t number = database_->last_row();
      if (keeps_text)
        database_->cached("INSERT INTO content (item, text) VALUES (?, ?)").run(number, item.text);
      if (!item.proposed.empty())
        database_->cached("INSERT INTO class (label) VALUES (?) ON CONFLICT (label) DO NOTHING")
            .run(item.proposed);
      record(number, program, Event::queued);
      ++added;
    }
    count("waiting", added);
    for (const auto& [band, requests] : seen) count(name_of(band), requests);
  });
}

void Queue::add_classes(const std::vector<std::string>& classes) {
  if (classes.empty()) return;
  write([&] {
    for (const std::string& label : classes)
      database_->cached("INSERT INTO class (label) VALUES (?) ON CONFLICT (label) DO NOTHING").run(label);
  });
}

std::vector<std::string> Queue::classes() {
  std::vector<std::string> labels;
  store::Statement& rows = database_->cached("SELECT label FROM class ORDER BY number");
  while (rows.step()) labels.push_back(rows.text(0));
  return labels;
}

// --- claims ---

Item Queue::item_of(store::Statement& row) {
  Item item{.number = row.integer(0),
            .id = row.text(1),
            .run = row.text(2),
            .digest = row.text(3),
            .band = band_from(row.text(4)).value_or(Band::review),
            .reason = value_in(reasons, row.text(5)).value_or(Reason::review),
            .proposed = row.text(6),
            .confidence = row.optional_number(7),
            .scope = row.optional_number(8),
            .queued = row.number(9),
            .text = {},
            .opinions = {},
            .holder = {},
            .label = row.optional_text(13)};
  if (row.number(12) > hooks_.now()) {
    item.holder = row.text(11);
    item.held_until = row.number(12);
  }
  if (row.number(10) > hooks_.now()) {
    store::Statement& text = database_->cached("SELECT text FROM content WHERE item = ?").with(item.number);
    if (text.step()) item.text = text.text(0);
    text.reset();
  }
  store::Statement& opinions = database_->cached(
      "SELECT reviewer, label, time FROM decision WHERE item = ? AND undone IS NULL ORDER BY number");
  opinions.with(item.number);
  while (opinions.step())
    item.opinions.push_back(
        {.reviewer = opinions.text(0), .label = opinions.text(1), .time = opinions.number(2)});
  return item;
}

Item Queue::numbered(std::int64_t number) {
  store::Statement& row = database_->cached(with_columns("WHERE number = ?")).with(number);
  row.step();
  Item item = item_of(row);
  row.reset();
  return item;
}

Item Queue::find(const std::string& id) {
  store::Statement& row = database_->cached(with_columns("WHERE id = ?")).with(id);
  if (!row.step())
    throw ItemRefused(ItemRefused::Why::unknown, "review queue " + path().string() + " has no item \"" + id +
                                                     "\"; exp review ls QUEUE lists the items");
  Item item = item_of(row);
  row.reset();
  return item;
}

std::optional<Item> Queue::held_by(const std::string& reviewer) {
  store::Statement& row = database_->cached(
      with_columns("WHERE holder = ? AND held_until > ? AND done IS NULL ORDER BY held_until DESC LIMIT 1"));
  if (!row.with(reviewer, hooks_.now()).step()) return std::nullopt;
  Item item = item_of(row);
  row.reset();
  return item;
}

/// Items with the same voters are one range of the index, so the first free item of each range is compared.
/// There are few ranges: one without voters, and one for each group of people who have decided an item that
/// needs more opinions.
std::optional<std::int64_t> Queue::next_for(const std::string& reviewer, Order order) {
  struct Candidate {
    std::int64_t skips;
    bool is_new;
    double rank;
    std::int64_t number;
    auto key() const { return std::tuple(skips, is_new, rank, number); }
  };
  store::Statement& ranges = database_->cached(
      "SELECT min(voters) FROM item INDEXED BY item_by_rank WHERE done IS NULL AND voters >= ?");
  store::Statement& first = database_->cached(
      order == Order::age
          ? "SELECT skips, 0.0, number FROM item INDEXED BY item_by_age WHERE done IS NULL AND voters = ? "
            "AND (holder IS NULL OR held_until <= ?) ORDER BY skips, number LIMIT 1"
          : "SELECT skips, rank, number FROM item INDEXED BY item_by_rank WHERE done IS NULL AND voters = ? "
            "AND (holder IS NULL OR held_until <= ?) ORDER BY skips, rank, number LIMIT 1");
  std::optional<Candidate> best;
  std::string from;
  for (;;) {
    const bool found = ranges.with(from).step() && !ranges.is_null(0);
    const std::string voters = found ? ranges.text(0) : "";
    ranges.reset();
    if (!found) break;
    from = voters + '\x01';  // names have no control characters: no key lies between
    if (has_voted(voters, reviewer)) continue;
    if (first.with(voters, hooks_.now()).step()) {
      const Candidate candidate{.skips = first.integer(0),
                                .is_new = voters.empty(),
                                .rank = first.number(1),
                                .number = first.integer(2)};
      if (!best || candidate.key() < best->key()) best = candidate;
    }
    first.reset();
  }
  return best ? std::optional(best->number) : std::nullopt;
}

void Queue::lease(std::int64_t item, const std::string& reviewer) {
  database_->cached("UPDATE item SET holder = ?, held_until = ? WHERE number = ?")
      .run(reviewer, hooks_.now() + settings_.lease_seconds, item);
}

std::optional<Item> Queue::claim(const std::string& reviewer, Order order) {
  require_reviewer(reviewer);
  std::optional<Item> item;
  write([&] {
    if ((item = held_by(reviewer))) {
      lease(item->number, reviewer);
      item->held_until = hooks_.now() + settings_.lease_seconds;
      return;
    }
    const std::optional<std::int64_t> number = next_for(reviewer, order);
    if (!number) return;
    lease(*number, reviewer);
    record(*number, reviewer, Event::claimed);
    item = numbered(*number);
  });
  return item;
}

void Queue::release(const std::string& id, const std::string& reviewer, bool skip) {
  require_reviewer(reviewer);
  write([&] {
    const Item item = find(id);
    if (item.holder != reviewer) {
      if (item.holder.empty()) return;
      throw ItemRefused(ItemRefused::Why::held, refusal_place(*database_, id) + " is with " + item.holder +
                                                    ", not with " + reviewer + "; its lease ends by itself");
    }
    database_->cached("UPDATE item SET holder = NULL, held_until = NULL, skips = skips + ? WHERE number = ?")
        .run(skip ? 1 : 0, item.number);
    record(item.number, reviewer, skip ? Event::skipped : Event::released);
  });
}

// --- decisions ---

std::string Queue::known_label(const std::string& label, bool new_class) {
  if (label.empty() || label.size() > 1000)
    throw ItemRefused(ItemRefused::Why::label, "invalid label: expected 1 to 1000 bytes");
  const std::vector<std::string> known = classes();
  if (known.empty() || std::ranges::find(known, label) != known.end()) return label;
  if (!new_class)
    throw ItemRefused(ItemRefused::Why::label, "unknown label \"" + label + "\"" +
                                                   did_you_mean(label, known) +
                                                   "; to add it to the labels of the queue, decide with "
                                                   "--new-label (\"new_label\": true over HTTP)");
  database_->cached("INSERT INTO class (label) VALUES (?)").run(label);
  return label;
}

/// Computes from the opinions that count whether the item is decided, and who has decided it.
void Queue::settle(std::int64_t number) {
  const Item item = numbered(number);
  std::map<std::string, int> votes;
  std::vector<std::string> names;
  for (const Opinion& opinion : item.opinions) {
    ++votes[opinion.label];
    names.push_back(opinion.reviewer);
  }
  std::ranges::sort(names);
  std::string voters;
  for (const std::string& name : names) voters += name + "\n";
  const auto settled =
      std::ranges::find_if(votes, [&](const auto& each) { return each.second >= settings_.opinions; });
  const bool done = settled != votes.end();
  if (done != item.label.has_value()) {
    count("done", done ? 1 : -1);
    count("waiting", done ? -1 : 1);
  }
  database_->cached("UPDATE item SET voters = ?, label = ?, done = ? WHERE number = ?")
      .run(voters, done ? std::optional(settled->first) : std::nullopt,
           done ? std::optional(hooks_.now()) : std::nullopt, number);
}

Item Queue::decide(const std::string& id, const std::string& label, const std::string& reviewer,
                   bool new_class) {
  require_reviewer(reviewer);
  std::optional<Item> decided;
  write([&] {
    const Item item = find(id);
    const auto own = std::ranges::find(item.opinions, reviewer, &Opinion::reviewer);
    const std::string undo = "; undo the decision first";
    if (own != item.opinions.end() && own->label == label) {  // the answer to the first call was lost
      decided = item;
      return;
    }
    if (own != item.opinions.end())
      throw ItemRefused(ItemRefused::Why::decided, refusal_place(*database_, id) + ": " + reviewer +
                                                       " has decided \"" + own->label + "\"" + undo);
    if (item.label)
      throw ItemRefused(ItemRefused::Why::decided, refusal_place(*database_, id) + " is decided as \"" +
                                                       *item.label + "\" by " +
                                                       item.opinions.back().reviewer + undo);
    if (!item.holder.empty() && item.holder != reviewer)
      throw ItemRefused(ItemRefused::Why::held, refusal_place(*database_, id) + " is with " + item.holder +
                                                    "; wait until it is released or its lease ends");
    database_->cached("INSERT INTO decision (item, reviewer, label, time) VALUES (?, ?, ?, ?)")
        .run(item.number, reviewer, known_label(label, new_class), hooks_.now());
    database_->cached("UPDATE item SET holder = NULL, held_until = NULL WHERE number = ?").run(item.number);
    settle(item.number);
    record(item.number, reviewer, Event::decided, label);
    decided = numbered(item.number);
  });
  return *std::move(decided);
}

Item Queue::undo(const std::string& id, const std::string& reviewer) {
  std::optional<Item> undone;
  write([&] {
    const Item item = find(id);
    const auto last = std::ranges::find_if(
        item.opinions.rbegin(), item.opinions.rend(),
        [&](const Opinion& each) { return reviewer.empty() || each.reviewer == reviewer; });
    if (last == item.opinions.rend())
      throw ItemRefused(ItemRefused::Why::decided, refusal_place(*database_, id) + " has no decision" +
                                                       (reviewer.empty() ? "" : " of " + reviewer) +
                                                       " to undo");
    if (!item.holder.empty() && item.holder != last->reviewer)
      throw ItemRefused(ItemRefused::Why::held, refusal_place(*database_, id) + " is with " + item.holder +
                                                    "; wait until it is released or its lease ends");
    database_->cached("UPDATE decision SET undone = ? WHERE item = ? AND reviewer = ? AND undone IS NULL")
        .run(hooks_.now(), item.number, last->reviewer);
    record(item.number, last->reviewer, Event::undone, last->label);
    settle(item.number);
    if (!reviewer.empty()) {
      while (const std::optional<Item> other = held_by(reviewer)) {
        database_->cached("UPDATE item SET holder = NULL, held_until = NULL WHERE number = ?")
            .run(other->number);
        record(other->number, reviewer, Event::released);
      }
      lease(item.number, reviewer);
    }
    undone = numbered(item.number);
  });
  return *std::move(undone);
}

// --- reading ---

QueueCounts Queue::counts() {
  QueueCounts counts;
  store::Statement& rows = database_->cached("SELECT name, count FROM tally");
  while (rows.step()) {
    const std::string name = rows.text(0);
    if (name == "waiting") counts.waiting = rows.integer(1);
    if (name == "done") counts.done = rows.integer(1);
    if (name == "waiting" || name == "done") continue;
    if (const std::optional<Band> band = band_from(name)) counts.seen[*band] = rows.integer(1);
  }
  return counts;
}

std::vector<Item> Queue::list(const ItemFilter& filter) {
  const store::Snapshot snapshot(*database_);
  std::vector<Item> items;
  const auto take = [&](store::Statement& rows) {
    rows.with(filter.most - items.size());
    while (rows.step()) items.push_back(item_of(rows));
    rows.reset();
  };
  if (filter.waiting)
    take(database_->cached(with_columns("WHERE done IS NULL ORDER BY skips, rank, number LIMIT ?")));
  if (filter.done) take(database_->cached(with_columns("WHERE done IS NOT NULL ORDER BY done DESC LIMIT ?")));
  return items;
}

std::vector<TrailEntry> Queue::trail(const std::string& id) {
  std::vector<TrailEntry> entries;
  store::Statement& rows =
      database_->cached("SELECT time, person, event, label FROM trail WHERE item = ? ORDER BY number");
  rows.with(find(id).number);
  while (rows.step())
    entries.push_back({.time = rows.number(0),
                       .person = rows.text(1),
                       .event = value_in(events, rows.text(2)).value_or(Event::queued),
                       .label = rows.text(3)});
  return entries;
}

void Queue::visit_decided(const std::function<void(const Item&)>& visit) {
  const store::Snapshot snapshot(*database_);
  store::Statement rows(*database_,
                        with_columns("WHERE label IS NOT NULL AND text_until > ? ORDER BY number"));
  rows.with(hooks_.now());
  while (rows.step()) visit(item_of(rows));
}

}  // namespace encore::review
