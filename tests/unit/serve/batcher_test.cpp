// SPDX-License-Identifier: BSD-3-Clause
// Tests Batcher (serve/batcher.hpp), the queue of a served model: which inputs are computed together, when a
// worker gets a batch, and that long inputs and requests of many inputs neither starve nor delay others. Time
// is a number that the test passes, so nothing here may wait or read a clock. The order of batches may change
// if no request waits without a limit.
#include "serve/batcher.hpp"

#include <gtest/gtest.h>

namespace encore::serve {
namespace {

using std::chrono::milliseconds;

class BatcherTest : public ::testing::Test {
 protected:
  std::shared_ptr<Job> add(std::size_t texts, int at, record::ServeWork work = record::ServeWork::answer) {
    const auto job = std::make_shared<Job>();
    job->work = work;
    for (std::size_t i = 0; i < texts; ++i) job->texts.push_back(std::to_string(i));
    batcher_.add(job, time(at));
    return job;
  }
  static ServeClock::time_point time(int at) { return ServeClock::time_point(milliseconds(1000 + at)); }
  std::size_t taken(std::size_t in_hands, int at) { return batcher_.take(in_hands, time(at)).size(); }

  /// Adds a job with one input, and returns the job.
  std::shared_ptr<Job> add_text(const std::string& text) {
    const auto job = std::make_shared<Job>();
    job->texts = {text};
    batcher_.add(job, time(0));
    return job;
  }
  /// Returns the jobs of the next batch.
  std::vector<std::shared_ptr<Job>> jobs_taken(Batcher::Take what = Batcher::Take::any_text) {
    std::vector<std::shared_ptr<Job>> jobs;
    for (const Waiting& each : batcher_.take(0, time(100), what)) jobs.push_back(each.job);
    return jobs;
  }
  using Jobs = std::vector<std::shared_ptr<Job>>;

  Batcher batcher_{{.texts = 4, .wait = milliseconds(5), .queue = 10}};
};

TEST_F(BatcherTest, ABatchLeavesWhenItIsFullOrItsOldestTextHasWaited) {
  EXPECT_EQ(taken(0, 0), 0U);
  EXPECT_FALSE(batcher_.due().has_value());
  add(2, 0);
  EXPECT_EQ(batcher_.due(), time(5));
  EXPECT_EQ(taken(0, 4), 0U);
  EXPECT_EQ(taken(0, 5), 2U) << "has waited";
  add(3, 6);
  EXPECT_EQ(taken(0, 6), 0U);
  add(3, 7);
  EXPECT_EQ(taken(0, 7), 4U) << "a full batch of two jobs";
  EXPECT_EQ(taken(0, 8), 0U);
  EXPECT_EQ(taken(0, 12), 2U) << "the rest waits from its own arrival";
}

TEST_F(BatcherTest, WithoutAWaitAnIdleWorkerTakesWhatIsThere) {
  batcher_ = Batcher({.texts = 4, .queue = 10});
  add(1, 0);
  EXPECT_EQ(batcher_.due(), time(0));
  EXPECT_EQ(taken(0, 0), 1U) << "one input waits for no other";
  add(3, 1);
  EXPECT_EQ(taken(1, 2), 0U) << "its worker is at work";
  EXPECT_EQ(taken(0, 2), 3U) << "inputs that came meanwhile form a batch";
}

TEST_F(BatcherTest, AWorkerAtWorkGetsOnlyAFullBatchAndOneOfThem) {
  add(3, 0);
  EXPECT_EQ(taken(4, 100), 0U);
  add(6, 0);
  EXPECT_EQ(taken(4, 100), 4U);
  EXPECT_EQ(taken(8, 100), 0U) << "it has its next batch already";
}

TEST_F(BatcherTest, TheQueueIsBounded) {
  EXPECT_TRUE(batcher_.has_room(10));
  add(8, 0);
  EXPECT_TRUE(batcher_.has_room(2));
  EXPECT_FALSE(batcher_.has_room(3));
}

TEST_F(BatcherTest, WhatAWorkerHadWhenItEndedGoesFirstAndAlone) {
  add(2, 0);
  auto batch = batcher_.take(0, time(5));
  ASSERT_EQ(batch.size(), 2U);
  add(4, 6);
  batcher_.add_again(batch[1]);
  batcher_.add_again(batch[0]);
  for (std::size_t text = 0; text < 2; ++text) {
    const auto again = batcher_.take(0, time(6));
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].text, text);
    EXPECT_TRUE(again[0].again);
  }
  EXPECT_EQ(taken(0, 6), 4U);
}

TEST_F(BatcherTest, AGenerationIsAloneInItsBatchAndKeepsItsPlace) {
  add(1, 0);
  add(1, 0, record::ServeWork::writing);
  add(1, 0);
  EXPECT_EQ(taken(0, 5), 1U);
  EXPECT_EQ(batcher_.take(0, time(5)).front().job->work, record::ServeWork::writing);
  EXPECT_EQ(taken(0, 5), 1U);
}

TEST_F(BatcherTest, AbandonedInputsAreNotComputed) {
  const auto gone = add(3, 0);
  add(1, 1);
  gone->over = true;
  EXPECT_EQ(batcher_.due(), time(6)) << "for the remaining job";
  EXPECT_EQ(taken(0, 6), 1U);
}

TEST_F(BatcherTest, OneTextWaitsForNoneOfTheManyOfAnotherRequest) {
  const auto many = add(9, 0);
  const auto one = add_text("short");
  EXPECT_EQ(jobs_taken(), (Jobs{many, one, many, many}));
  const auto late = add_text("short");
  EXPECT_EQ(jobs_taken(), (Jobs{many, late, many, many})) << "and the many get their turns";
}

TEST_F(BatcherTest, ALongTextGoesAloneAndAfterShortOnesThatComeLater) {
  const auto hostile = add_text(std::string(240'000, 'x'));
  const auto other = add_text(std::string(240'000, 'x'));
  const auto short_one = add_text("short"), short_two = add_text("short");
  EXPECT_EQ(jobs_taken(), (Jobs{short_one, short_two}));
  EXPECT_EQ(jobs_taken(), Jobs{hostile});
  const auto short_three = add_text("short");
  EXPECT_EQ(jobs_taken(), Jobs{other}) << "it has waited for its cost already";
  EXPECT_EQ(jobs_taken(), Jobs{short_three});
}

TEST_F(BatcherTest, ALongTextGetsItsTurnHoweverManyShortOnesCome) {
  const auto long_one = add_text(std::string(240'000, 'x'));
  int before = 0;
  for (Jobs taken; taken != Jobs{long_one} && before < 1000; ++before) {
    add(4, 0);
    taken = jobs_taken();
  }
  EXPECT_LT(before, 20);
}

TEST_F(BatcherTest, AWorkerReservedForShortInputsGetsNoLongOne) {
  const auto long_one = add_text(std::string(20'000, 'x'));
  EXPECT_EQ(jobs_taken(Batcher::Take::short_texts), Jobs{});
  EXPECT_FALSE(batcher_.due(Batcher::Take::short_texts).has_value());
  EXPECT_TRUE(batcher_.due().has_value());
  const auto short_one = add_text("short");
  EXPECT_EQ(jobs_taken(Batcher::Take::short_texts), Jobs{short_one});
  EXPECT_EQ(jobs_taken(), Jobs{long_one});
}

TEST_F(BatcherTest, LongInputsRestWhileShortOnesCome) {
  add_text(std::string(20'000, 'x'));
  const auto second = add_text(std::string(20'000, 'x'));
  EXPECT_EQ(taken(0, 0), 1U);
  add(1, 3);
  batcher_.long_text_ended(time(0), time(7));
  EXPECT_EQ(taken(0, 8), 1U) << "the short input, whose turn is later";
  EXPECT_EQ(batcher_.due(), time(28)) << "three times the 7 ms of the first";
  EXPECT_EQ(taken(0, 27), 0U);
  EXPECT_EQ(jobs_taken(), Jobs{second});
}

TEST_F(BatcherTest, LongInputsFollowEachOtherWhereNoShortOneComes) {
  add(1, 0);
  EXPECT_EQ(taken(0, 5), 1U);
  add_text(std::string(20'000, 'x'));
  add_text(std::string(20'000, 'x'));
  EXPECT_EQ(taken(0, 1006), 1U);
  batcher_.long_text_ended(time(1006), time(1012));
  EXPECT_EQ(taken(0, 1012), 1U);
}

TEST_F(BatcherTest, ABatchHasABoundInBytes) {
  batcher_ = Batcher({.texts = 32, .queue = 100});
  for (int i = 0; i < 20; ++i) add_text(std::string(16'000, 'x'));
  EXPECT_EQ(jobs_taken().size(), 5U) << "the one that passes 64 KiB is the last";
}

TEST_F(BatcherTest, RequestsOfOneTextHaveRoomBesideThoseOfMany) {
  add(10, 0);
  EXPECT_FALSE(batcher_.has_room(2));
  EXPECT_TRUE(batcher_.has_room(1));
  for (int i = 0; i < 10; ++i) add_text("short");
  EXPECT_FALSE(batcher_.has_room(1));
}

}  // namespace
}  // namespace encore::serve
