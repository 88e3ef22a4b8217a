// SPDX-License-Identifier: BSD-3-Clause
// Tests Queue (review/queue.hpp), the requests of an application that people decide, with a clock that the
// test sets: the order of claims, leases that end, one and two opinions, undo, and files that are not such a
// queue. No item may be decided twice, and no line of the audit trail may ever change. Several processes:
// queue_process_test.cpp.
#include "review/queue.hpp"

#include "store/encore_database.hpp"
#include "unit/review/queue_fixture.hpp"

namespace encore::testing {
namespace {

using review::Band;
using review::ItemRefused;
using review::Order;
using review::Queue;
using review::Reason;

using Lines = std::vector<std::string>;

ItemRefused::Why why_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ItemRefused& refused) {
    return refused.why();
  }
  ADD_FAILURE() << "nothing was refused";
  return ItemRefused::Why::unknown;
}

TEST_F(QueueTest, GivesTheMostUncertainItemFirstAndTheAuditBefore) {
  Queue queue = make();
  add(queue, {new_item("sure", 0.8), new_item("unsure", 0.3), new_item("middle", 0.5)});
  review::NewItem audit = new_item("audit", 0.99);
  audit.band = Band::answer;
  audit.reason = Reason::audit;
  add(queue, {audit});
  EXPECT_EQ(id_of(queue.claim("anna")), "audit");
  EXPECT_EQ(id_of(queue.claim("bob")), "unsure");
  EXPECT_EQ(id_of(queue.claim("cleo")), "middle");
  EXPECT_EQ(id_of(queue.claim("dora")), "sure");
  EXPECT_EQ(id_of(queue.claim("emil")), "none");
  EXPECT_EQ(id_of(queue.claim("bob")), "unsure") << "the item that the reviewer has already";
}

TEST_F(QueueTest, GivesTheOldestItemFirstWhereAskedTo) {
  Queue queue = make();
  add(queue, {new_item("first", 0.8), new_item("second", 0.3)});
  EXPECT_EQ(id_of(queue.claim("anna", Order::age)), "first");
}

TEST_F(QueueTest, GivesASkippedItemAfterAllOthers) {
  Queue queue = make();
  add(queue, {new_item("hard", 0.1), new_item("easy", 0.5)});
  EXPECT_EQ(id_of(queue.claim("anna")), "hard");
  queue.release("hard", "anna", true);
  EXPECT_EQ(id_of(queue.claim("anna")), "easy");
  EXPECT_EQ(id_of(queue.claim("bob")), "hard");
  queue.release("hard", "bob");
  EXPECT_EQ(id_of(queue.claim("bob")), "hard") << "released, not skipped again";
  EXPECT_EQ(trail(queue, "hard"), (Lines{"queued server", "claimed anna", "skipped anna", "claimed bob",
                                         "released bob", "claimed bob"}));
}

TEST_F(QueueTest, TakesBackALeaseThatHasEnded) {
  Queue queue = make({.lease_seconds = 60.0});
  add(queue, {new_item("one", 0.5)});
  const std::optional<review::Item> item = queue.claim("anna");
  ASSERT_EQ(id_of(item), "one");
  EXPECT_EQ(item->held_until, start + 60.0);
  now_ = start + 59.0;
  EXPECT_EQ(id_of(queue.claim("bob")), "none");
  EXPECT_EQ(why_of([&] { queue.decide("one", "billing", "bob"); }), ItemRefused::Why::held);
  now_ = start + 60.0;
  EXPECT_EQ(queue.find("one").holder, "");
  EXPECT_EQ(id_of(queue.claim("bob")), "one");
  EXPECT_EQ(why_of([&] { queue.decide("one", "billing", "anna"); }), ItemRefused::Why::held)
      << "the first reviewer comes back too late";
  EXPECT_EQ(why_of([&] { queue.release("one", "anna"); }), ItemRefused::Why::held);
}

TEST_F(QueueTest, RenewsTheLeaseOfAReviewerWhoClaimsAgain) {
  Queue queue = make({.lease_seconds = 60.0});
  add(queue, {new_item("one", 0.5)});
  queue.claim("anna");
  now_ = start + 50.0;
  EXPECT_EQ(queue.claim("anna")->held_until, start + 110.0);
}

TEST_F(QueueTest, DecidesOnceAndAcceptsTheSameDecisionAgain) {
  Queue queue = make();
  add(queue, {new_item("one", 0.5), new_item("two", 0.6)});
  queue.claim("anna");
  EXPECT_EQ(queue.decide("one", "delivery", "anna").label, "delivery");
  EXPECT_EQ(queue.decide("one", "delivery", "anna").label, "delivery") << "the first answer was lost";
  EXPECT_EQ(trail(queue, "one"), (Lines{"queued server", "claimed anna", "decided anna delivery"}));
  EXPECT_EQ(why_of([&] { queue.decide("one", "billing", "anna"); }), ItemRefused::Why::decided);
  EXPECT_EQ(why_of([&] { queue.decide("one", "billing", "bob"); }), ItemRefused::Why::decided);
  EXPECT_EQ(queue.counts().waiting, 1);
  EXPECT_EQ(queue.counts().done, 1);
  EXPECT_EQ(queue.decide("two", "billing", "bob").label, "billing") << "without a claim";
  EXPECT_EQ(id_of(queue.claim("cleo")), "none");
}

TEST_F(QueueTest, RefusesUnknownItemsAndLabelsAndReviewers) {
  Queue queue = make();
  add(queue, {new_item("one", 0.5)});
  EXPECT_EQ(why_of([&] { queue.decide("onf", "billing", "anna"); }), ItemRefused::Why::unknown);
  EXPECT_EQ(why_of([&] { queue.decide("one", "biling", "anna"); }), ItemRefused::Why::label);
  expect_contains(message_of<Error>([&] { queue.decide("one", "biling", "anna"); }),
                  "did you mean \"billing\"");
  EXPECT_EQ(queue.find("one").label, std::nullopt);
  EXPECT_EQ(queue.decide("one", "spam", "anna", true).label, "spam");
  EXPECT_EQ(queue.classes(), (Lines{"billing", "delivery", "spam"}));
  for (const char* name : {"", "two\nlines"})
    expect_contains(message_of<Error>([&] { queue.claim(name); }), "invalid name of a reviewer");
}

TEST_F(QueueTest, UndoesADecisionAndGivesTheItemBack) {
  Queue queue = make();
  add(queue, {new_item("one", 0.5), new_item("two", 0.6)});
  queue.claim("anna");
  queue.decide("one", "delivery", "anna");
  ASSERT_EQ(id_of(queue.claim("anna")), "two");
  EXPECT_EQ(queue.undo("one", "anna").label, std::nullopt);
  EXPECT_EQ(id_of(queue.claim("anna")), "one") << "the reviewer has this item again, and not the other";
  EXPECT_EQ(id_of(queue.claim("bob")), "two");
  EXPECT_EQ(queue.counts().waiting, 2);
  EXPECT_EQ(queue.decide("one", "billing", "anna").label, "billing");
  EXPECT_EQ(queue.undo("one").label, std::nullopt) << "the newest decision, of any person";
  EXPECT_EQ(why_of([&] { queue.undo("one"); }), ItemRefused::Why::decided);
  EXPECT_EQ(trail(queue, "one"),
            (Lines{"queued server", "claimed anna", "decided anna delivery", "undone anna delivery",
                   "decided anna billing", "undone anna billing"}));
}

TEST_F(QueueTest, AddsToTheTrailAndNeverChangesIt) {
  Queue queue = make({.text_days = 1.0});
  Lines before;
  const auto grows = [&](const std::string& what) {
    const Lines now = trail(queue, "one");
    ASSERT_GT(now.size(), before.size()) << what;
    EXPECT_TRUE(std::equal(before.begin(), before.end(), now.begin())) << what;
    before = now;
  };
  add(queue, {new_item("one", 0.5, "billing", "a text")});
  grows("queued");
  queue.claim("anna");
  grows("claimed");
  queue.release("one", "anna", true);
  grows("skipped");
  queue.decide("one", "billing", "bob");
  grows("decided");
  queue.undo("one");
  grows("undone");
  queue.forget({"one"}, "cleo");
  grows("forgotten");
}

TEST_F(QueueTest, NeedsTwoEqualOpinionsOfTwoPeople) {
  Queue queue = make({.opinions = 2});
  add(queue, {new_item("one", 0.5), new_item("two", 0.6)});
  EXPECT_EQ(id_of(queue.claim("anna")), "one");
  EXPECT_EQ(queue.decide("one", "billing", "anna").label, std::nullopt);
  EXPECT_EQ(id_of(queue.claim("anna")), "two") << "not the one that she has decided";
  EXPECT_EQ(id_of(queue.claim("bob")), "one") << "items with an opinion come before new ones";
  EXPECT_EQ(queue.decide("one", "delivery", "bob").label, std::nullopt) << "the two disagree";
  EXPECT_EQ(queue.numbers().disputed, 1);
  EXPECT_EQ(id_of(queue.claim("cleo")), "one");
  EXPECT_EQ(queue.decide("one", "delivery", "cleo").label, "delivery");
  EXPECT_EQ(queue.numbers().disputed, 0);
  EXPECT_EQ(queue.numbers().pairs,
            (std::vector<std::pair<std::string, std::string>>{{"billing", "delivery"}}));
  EXPECT_EQ(queue.undo("one", "cleo").label, std::nullopt);
  EXPECT_EQ(queue.counts().done, 0);
}

TEST_F(QueueTest, CountsWhatPeopleDecidedByBandAndReason) {
  Queue queue = make();
  review::NewItem audit = new_item("audit", 0.99, "delivery");
  audit.band = Band::answer;
  audit.reason = Reason::audit;
  queue.add(std::vector{audit, new_item("one", 0.5), new_item("two", 0.6)},
            {{Band::answer, 100}, {Band::review, 2}, {Band::refuse, 7}}, "server");
  queue.add({}, {{Band::answer, 20}}, "server");
  now_ += 3 * 86400.0;
  queue.decide("audit", "billing", "anna");
  queue.decide("one", "billing", "anna");
  const review::QueueNumbers numbers = queue.numbers();
  EXPECT_EQ(numbers.seen.at(Band::answer), 120);
  EXPECT_EQ(numbers.seen.at(Band::refuse), 7);
  const review::ReviewedCounts& audited = numbers.reviewed.at({Band::answer, Reason::audit});
  EXPECT_EQ(std::tuple(audited.queued, audited.done, audited.as_proposed), std::tuple(1, 1, 0));
  const review::ReviewedCounts& reviewed = numbers.reviewed.at({Band::review, Reason::review});
  EXPECT_EQ(std::tuple(reviewed.queued, reviewed.done, reviewed.as_proposed), std::tuple(2, 1, 1));
  EXPECT_EQ(numbers.queued_day, 0);
  EXPECT_EQ(numbers.queued_week, 3);
  EXPECT_EQ(numbers.decided_day, 2);
  EXPECT_EQ(numbers.oldest_waiting, start);
}

TEST_F(QueueTest, KeepsAnItemThatIsAddedAgainAsItIs) {
  Queue queue = make();
  add(queue, {new_item("one", 0.5)});
  queue.decide("one", "billing", "anna");
  add(queue, {new_item("one", 0.5, "delivery"), new_item("two", 0.5)});
  EXPECT_EQ(queue.find("one").label, "billing");
  EXPECT_EQ(queue.find("one").proposed, "billing");
  EXPECT_EQ(queue.counts().waiting, 1);
}

TEST_F(QueueTest, KeepsItsSettingsAndIsPrivate) {
  make({.audit = 0.02, .lease_seconds = 5.0, .text_days = 30.0, .opinions = 2});
  Queue queue = open();
  EXPECT_EQ(queue.settings().application, "desk");
  EXPECT_EQ(queue.settings().audit, 0.02);
  EXPECT_EQ(queue.settings().opinions, 2);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.status().permissions() & std::filesystem::perms(0077), std::filesystem::perms::none)
        << entry.path();
  expect_contains(message_of<Error>([&] { make(); }), "exists already; name a new file");
}

TEST_F(QueueTest, RefusesOtherFilesAndOtherVersions) {
  const auto refusal = [&] { return message_of<Error>([&] { open(); }); };
  expect_contains(refusal(),
                  "there is no review queue " + path().string() + "; make one with exp review new");
  write_bytes(path(), "");
  expect_contains(refusal(), "is empty, because its creation was interrupted; remove it");
  write_bytes(path(),
              "Dear reader, this is a letter that is much longer than the head of a database file is.");
  expect_contains(refusal(), "is not a review queue; name another queue");
  std::filesystem::remove(path());
  store::open_encore_database(path(), store::OpenMode::create);
  expect_contains(refusal(), "is a database of runs, not a review queue");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    std::filesystem::remove(entry.path());
  make();
  store::open_writable(path(), {})->execute("PRAGMA user_version = 2");
  expect_contains(refusal(), "is of version 2, this Encore needs 1; use the Encore that made it");
  store::open_writable(path(), {})->execute("PRAGMA user_version = 1");
  EXPECT_EQ(open().settings().application, "desk");
  store::open_writable(path(), {})->execute("CREATE VIEW more AS SELECT 1");
  expect_contains(refusal(), "has other tables than Encore makes");
}

}  // namespace
}  // namespace encore::testing
