// SPDX-License-Identifier: BSD-3-Clause
// Tests the dialog of `exp review next` (cli/review_loop.hpp) with lines that a person could type: numbers,
// names and their beginnings, skip, undo, and the end of the input. An unclear line must decide nothing, and
// an item whose reviewer leaves must go back to the queue. The queue is a real one in a folder.
#include "cli/review_loop.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <sstream>

#include "unit/record/temporary_folder.hpp"

namespace encore::cli {
namespace {

class ReviewLoop : public ::testing::Test {
 protected:
  ReviewLoop() {
    for (const char* id : {"one", "two", "three"})
      queue_.add(std::vector<review::NewItem>{{.id = id,
                                               .proposed = "delivery",
                                               .confidence = 0.1 * static_cast<double>(++items_),
                                               .text = std::string("text of ") + id}},
                 {}, "test");
  }
  /// Returns what the dialog prints when these lines are typed; then the input ends.
  std::string typed(std::deque<std::string> lines) {
    std::ostringstream out;
    decided_ = review_on_terminal(queue_, "anna", review::Order::uncertainty, out, Terminal(),
                                  [&](const std::string&) -> std::optional<std::string> {
                                    if (lines.empty()) return std::nullopt;
                                    std::string line = lines.front();
                                    lines.pop_front();
                                    return line;
                                  });
    return out.str();
  }
  std::string label_of(const std::string& id) { return queue_.find(id).label.value_or("none"); }

  testing::TemporaryFolder folder_;
  int items_ = 0;
  std::size_t decided_ = 0;
  review::Queue queue_ = review::Queue::make(
      folder_ / "desk.queue", {.application = "desk", .text_days = 1.0}, {"billing", "delivery", "account"});
};

TEST_F(ReviewLoop, TakesNumbersNamesAndBeginnings) {
  const std::string shown = typed({"1", "billing", " acc "});
  EXPECT_EQ(decided_, 3u);
  EXPECT_EQ(label_of("one"), "delivery") << "the proposed label is the first:\n" << shown;
  EXPECT_EQ(label_of("two"), "billing");
  EXPECT_EQ(label_of("three"), "account");
  EXPECT_NE(shown.find("text of one"), std::string::npos) << shown;
  EXPECT_NE(shown.find("proposed: delivery (10.0 %)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("no item waits for anna"), std::string::npos) << shown;
}

TEST_F(ReviewLoop, DecidesNothingWithoutALabel) {
  const std::string shown = typed({"", "7", "0", "x", "?", "q"});
  EXPECT_EQ(decided_, 0u);
  EXPECT_EQ(label_of("one"), "none");
  EXPECT_NE(shown.find("not one label; labels with \"x\""), std::string::npos) << shown;
  EXPECT_EQ(queue_.find("one").holder, "") << "given back";
}

TEST_F(ReviewLoop, SkipsAndUndoes) {
  typed({"s", "1", "u", "billing", "q"});
  EXPECT_EQ(decided_, 1u);
  EXPECT_EQ(label_of("one"), "none") << "skipped";
  EXPECT_EQ(label_of("two"), "billing") << "decided again";
}

TEST_F(ReviewLoop, GivesTheItemBackAtTheEndOfTheInput) {
  typed({"1"});
  EXPECT_EQ(decided_, 1u);
  EXPECT_EQ(queue_.find("two").holder, "");
}

}  // namespace
}  // namespace encore::cli
