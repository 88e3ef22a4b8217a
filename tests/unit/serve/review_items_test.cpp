// SPDX-License-Identifier: BSD-3-Clause
// Tests which answers of an application become items of its review queue (serve/review_items.hpp), with
// answers as the worker of an application sends them. The desk (serve/review_desk.hpp) is tested with a queue
// in a folder: an answer must not be sent before its items are on disk, and several answers share a commit.
#include "serve/review_items.hpp"

#include <gtest/gtest.h>

#include "serve/review_desk.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::serve {
namespace {

using review::Band;
using review::Reason;

const record::ServeModel desk_model = {.digest = "d1",
                                       .task = "application",
                                       .labels = {"billing"},
                                       .band = "decide.band",
                                       .proposal = "intent.label"};

std::string answer(const std::string& band, const std::string& label, double confidence) {
  return R"({"decide.band":")" + band + R"(","decide.label":")" + label + R"(","decide.confidence":)" +
         std::to_string(confidence) + R"(,"decide.scope":0.25,"intent.label":"billing","text":"a text"})";
}

Job job_with(const std::vector<std::string>& answers) {
  Job job;
  for (const std::string& each : answers) {
    job.texts.push_back("text " + std::to_string(job.texts.size()));
    job.answers.push_back({.text = each});
  }
  return job;
}

ReviewIntake items_of(const Job& job, double audit, const std::string& id = "s-1") {
  return review_items({.id = id, .run = "0123456789", .model = desk_model}, job, audit);
}

TEST(ReviewItems, AreTheAnswersOfTheBandReviewWithTheirProposal) {
  const ReviewIntake intake = items_of(
      job_with({answer("review", "", 0.5), answer("answer", "billing", 0.9), answer("refuse", "other", 0.1)}),
      0.0);
  ASSERT_EQ(intake.items.size(), 1u);
  const review::NewItem& item = intake.items.front();
  EXPECT_EQ(item.id, "s-1.0");
  EXPECT_EQ(item.proposed, "billing") << "of the step that is decided on, because decide.label is empty";
  EXPECT_EQ(item.confidence, 0.5);
  EXPECT_EQ(item.scope, 0.25);
  EXPECT_EQ(item.digest, "d1");
  EXPECT_EQ(item.text, "text 0");
  EXPECT_EQ(item.reason, Reason::review);
  EXPECT_EQ(intake.seen,
            (std::map<Band, std::int64_t>{{Band::answer, 1}, {Band::review, 1}, {Band::refuse, 1}}));
}

TEST(ReviewItems, HaveTheTextOfTheStepInPlaceOfTheInput) {
  const std::string of_step = R"({"decide.band":"review","decide.item":"text 0 and its summary","text":"a"})",
                    empty = R"({"decide.band":"review","decide.item":"","text":"a"})",
                    of_other = R"({"decide.band":"review","other.item":"b","text":"a"})";
  const ReviewIntake intake = items_of(job_with({of_step, empty, of_other}), 0.0);
  ASSERT_EQ(intake.items.size(), 3u);
  EXPECT_EQ(intake.items[0].text, "text 0 and its summary");
  EXPECT_EQ(intake.items[0].proposed, "");
  EXPECT_EQ(intake.items[1].text, "text 1");
  EXPECT_EQ(intake.items[2].text, "text 2") << "only the step with the band says what people see";
}

TEST(ReviewItems, OfTheAuditAreARandomShareOfTheOthers) {
  int audited = 0;
  constexpr int requests = 4000;
  for (int i = 0; i < requests; ++i) {
    const ReviewIntake intake =
        items_of(job_with({answer("refuse", "other", 0.1)}), 0.1, "session-" + std::to_string(i));
    audited += static_cast<int>(intake.items.size());
    if (intake.items.empty()) continue;
    EXPECT_EQ(intake.items.front().reason, Reason::audit);
    EXPECT_EQ(intake.items.front().proposed, "other");
    EXPECT_EQ(intake.items.front().id, "session-" + std::to_string(i)) << "one input: the id of the request";
  }
  EXPECT_NEAR(audited, 400, 4 * 19);  // four standard deviations
  EXPECT_EQ(items_of(job_with({answer("answer", "billing", 0.9)}), 1.0).items.size(), 1u);
  EXPECT_EQ(items_of(job_with({answer("answer", "billing", 0.9)}), 0.0).items.size(), 0u);
}

TEST(ReviewItems, LeaveOutAnswersWithoutABand) {
  const ReviewIntake intake =
      items_of(job_with({R"({"text":"a"})", answer("perhaps", "", 0.5), R"([1])"}), 1.0);
  EXPECT_TRUE(intake.items.empty() && intake.seen.empty());
}

class ReviewDeskTest : public ::testing::Test {
 protected:
  ReviewDeskTest() { review::Queue::make(path(), {.application = "desk", .run = "0123456789"}, {"billing"}); }
  std::filesystem::path path() const { return folder_ / "desk.queue"; }

  testing::TemporaryFolder folder_;
  boost::asio::io_context loop_{1};
  std::vector<std::string> notices_;
};

TEST_F(ReviewDeskTest, AnswersWhenTheItemsAreOnTheDisk) {
  std::vector<std::string> committed;
  {
    ReviewDesk desk(loop_, path(), std::chrono::seconds(10), {});
    const auto work = boost::asio::make_work_guard(loop_);
    for (int i = 0; i < 20; ++i) {
      const std::string id = "s-" + std::to_string(i);
      desk.take(items_of(job_with({answer("review", "", 0.5)}), 0.0, id),
                [&, id](const std::string& failure) {
                  EXPECT_EQ(failure, "");
                  EXPECT_EQ(review::Queue(path()).find(id).id, id) << "another connection sees it already";
                  committed.push_back(id);
                  if (committed.size() == 20) loop_.stop();
                });
    }
    bool at_once = false;
    desk.take(items_of(job_with({answer("answer", "billing", 0.9)}), 0.0, "s-20"),
              [&](const std::string&) { at_once = true; });
    EXPECT_TRUE(at_once) << "a request without items does not wait";
    EXPECT_TRUE(committed.empty());
    loop_.run();
  }
  EXPECT_EQ(committed.size(), 20u);
  const review::QueueCounts counts = review::Queue(path()).counts();
  EXPECT_EQ(counts.waiting, 20);
  EXPECT_EQ(counts.seen.at(Band::answer), 1) << "written when the desk ends, at the latest";
}

TEST_F(ReviewDeskTest, SaysWhyItemsCannotBeWritten) {
  ReviewDesk desk(loop_, path(), std::chrono::seconds(10),
                  [&](const std::string& text) { notices_.push_back(text); });
  std::filesystem::rename(path(), folder_ / "moved.queue");
  const auto work = boost::asio::make_work_guard(loop_);
  std::string refused;
  desk.take(items_of(job_with({answer("review", "", 0.5)}), 0.0), [&](const std::string& failure) {
    refused = failure;
    loop_.stop();
  });
  loop_.run();
  EXPECT_NE(refused.find("was moved, removed or replaced"), std::string::npos) << refused;
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_NE(notices_.front().find("requests for review are refused"), std::string::npos);
}

}  // namespace
}  // namespace encore::serve
