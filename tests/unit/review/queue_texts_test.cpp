// SPDX-License-Identifier: BSD-3-Clause
// Tests that a removed input is gone: the bytes of every file of the queue are searched, after single items,
// old ones and expired ones were removed, for short inputs and for inputs of several pages. The same search
// finds each input before, so it can fail. Read next: review/queue_texts.cpp.
#include <random>

#include "unit/review/queue_fixture.hpp"

namespace encore::testing {
namespace {

using review::Queue;

constexpr double day = 86400.0;

class QueueTexts : public QueueTest {
 protected:
  /// Returns a text that has the same word again and again, so that each part of it is recognized.
  static std::string text_of(int number, std::size_t words) {
    std::string text, word = "secret" + std::to_string(100000 + number) + "x";
    for (std::size_t i = 0; i < words; ++i) text += word + " ";
    return text;
  }
  static std::string mark_of(int number) { return std::to_string(100000 + number) + "x"; }
  bool is_on_disk(const std::string& mark) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (read_bytes(entry.path()).find(mark) != std::string::npos) return true;
    return false;
  }
  /// Adds items in several transactions, from two connections, as two servers do.
  void fill(Queue& queue, int count) {
    Queue other = open();
    for (int i = 0; i < count; ++i) {
      const std::size_t words = i % 10 == 0 ? 900 : static_cast<std::size_t>(1 + i % 40);
      add(i % 3 == 0 ? other : queue, {new_item(std::to_string(i), 0.5, "billing", text_of(i, words))});
    }
  }
};

TEST_F(QueueTexts, AreNotKeptUnlessAskedFor) {
  Queue queue = make();
  add(queue, {new_item("one", 0.5, "billing", text_of(1, 3))});
  EXPECT_EQ(queue.claim("anna")->text, std::nullopt);
  EXPECT_FALSE(is_on_disk(mark_of(1)));
}

TEST_F(QueueTexts, OfForgottenItemsLeaveNoByteInAnyFile) {
  Queue queue = make({.text_days = 30.0});
  constexpr int count = 300;
  fill(queue, count);
  std::vector<int> order(count);
  for (int i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
  std::mt19937 random(7);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  for (std::size_t i = 0; i < order.size(); i += 50) {
    std::vector<std::string> ids;
    for (std::size_t k = i; k < i + 50; ++k) {
      EXPECT_TRUE(is_on_disk(mark_of(order[k]))) << "the search finds what is there";
      ids.push_back(std::to_string(order[k]));
      if (k % 7 == 0) queue.decide(ids.back(), "billing", "anna");  // the row is written again
    }
    EXPECT_EQ(queue.forget(ids, "anna"), 50u);
    for (std::size_t k = 0; k < order.size(); k += 1 + (k > i + 50 ? 37 : 0))
      EXPECT_EQ(is_on_disk(mark_of(order[k])), k >= i + 50) << "item " << order[k];
  }
  EXPECT_EQ(queue.forget({"0"}, "anna"), 0u) << "there is nothing left to remove";
  EXPECT_EQ(queue.find("0").text, std::nullopt);
  EXPECT_EQ(queue.find("0").proposed, "billing") << "the item itself stays, for the figures";
}

TEST_F(QueueTexts, AreRemovedByAgeAndWhenTheirTimeIsOver) {
  Queue queue = make({.text_days = 30.0});
  fill(queue, 40);
  now_ = start + 10 * day;
  add(queue, {new_item("new", 0.5, "billing", text_of(500, 200))});
  EXPECT_EQ(queue.forget_older(5 * day, "anna"), 40u);
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(is_on_disk(mark_of(i))) << i;
  EXPECT_TRUE(is_on_disk(mark_of(500)));
  EXPECT_EQ(queue.forget_expired(), 0u);
  now_ = start + 40 * day;
  EXPECT_EQ(queue.find("new").text, std::nullopt) << "not shown any more, though it is not removed yet";
  EXPECT_EQ(queue.forget_expired(), 1u);
  EXPECT_FALSE(is_on_disk(mark_of(500)));
}

TEST_F(QueueTexts, ComeBackAsTheyWere) {
  Queue queue = make({.text_days = 30.0});
  const std::string text =
      "Grüße\taus \xE2\x80\x9C"
      "Lund\xE2\x80\x9D\n" +
      std::string(10000, 'z');
  add(queue, {new_item("one", 0.5, "billing", text), new_item("two", 0.6, "billing", "")});
  EXPECT_EQ(queue.claim("anna")->text, text);
  EXPECT_EQ(queue.find("two").text, std::nullopt);
  std::vector<std::string> decided;
  queue.decide("one", "delivery", "anna");
  queue.decide("two", "delivery", "anna");
  queue.visit_decided([&](const review::Item& item) { decided.push_back(item.text.value() + *item.label); });
  EXPECT_EQ(decided, (std::vector<std::string>{text + "delivery"})) << "without a text there is no record";
}

TEST_F(QueueTexts, ThatAnotherProcessReadsAreReportedAsNotRemovedYet) {
  Queue queue = make({.text_days = 30.0});
  fill(queue, 10);
  Queue reader = open();
  std::string refusal;
  reader.decide("1", "billing", "bob");
  reader.visit_decided([&](const review::Item&) {  // holds its state of the file meanwhile
    refusal = message_of<Error>([&] {
      review::Queue impatient(path(),
                              {.now = [] { return start; }, .patience = std::chrono::milliseconds(10)});
      impatient.forget({"2"}, "anna");
    });
  });
  expect_contains(refusal, "another process still reads it");
  EXPECT_EQ(queue.forget({"2"}, "anna"), 0u) << "the same command again";
  EXPECT_FALSE(is_on_disk(mark_of(2)));
}

}  // namespace
}  // namespace encore::testing
