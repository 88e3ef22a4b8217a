// SPDX-License-Identifier: BSD-3-Clause
// Tests SpoolObserver (train/spool_observer.hpp), which writes the events of a training into its spool:
// progress may be written rarely during a training, but the last progress event must be of the last step,
// also in a short run.
#include "train/spool_observer.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "record/spool_reader.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::train {
namespace {

class SpoolObserverTest : public ::testing::Test {
 protected:
  /// Reports `count` steps from step `first` on, each of `seconds`, with four steps in an epoch.
  static void step(Observer& observer, std::int64_t first, std::int64_t count, double seconds) {
    for (std::int64_t at = first; at < first + count; ++at)
      observer.stepped({.step = at,
                        .total_steps = 100,
                        .epoch = (at - 1) / 4 + 1,
                        .loss = 1.0 / static_cast<double>(at),
                        .seconds = seconds});
  }

  /// Returns the progress of an attempt that does `work`, and expects Ended as its last event.
  template <class Work>
  static std::vector<record::Progressed> progress_after(Work work) {
    const testing::TemporaryFolder folder;
    record::SpoolWriter writer(folder / "spool", 1);
    SpoolObserver observer(writer);
    work(observer);
    writer.sync();
    record::SpoolReader reader(folder / "spool");
    record::SpoolRecord record;
    std::vector<record::Progressed> progress;
    bool over = false;
    while (reader.next(record)) {
      EXPECT_FALSE(over) << "a record behind the end";
      if (record.kind != record::SpoolKind::event) continue;
      const std::optional<record::Event> event = record.event().event;
      if (!event) continue;
      if (const auto* one = std::get_if<record::Progressed>(&*event)) progress.push_back(*one);
      over = std::holds_alternative<record::Ended>(*event);
    }
    EXPECT_TRUE(over);
    return progress;
  }
};

TEST_F(SpoolObserverTest, EndsWithTheLastStepHoweverShortTheRunIs) {
  const std::vector<record::Progressed> progress = progress_after([](Observer& observer) {
    step(observer, 1, 10, 0.001);
    observer.happened(record::Ended{.ending = record::Ending::interrupted, .step = 10});
  });
  ASSERT_EQ(progress.size(), 2u) << "one for the first step and one for the last";
  EXPECT_EQ(progress[0].step, 1);
  EXPECT_EQ(progress[1].step, 10);
  EXPECT_EQ(progress[1].epoch, 3);
  EXPECT_EQ(progress[1].loss, 0.1);
}

TEST_F(SpoolObserverTest, AResumedAttemptThatIsShortEndsWithItsLastStepToo) {
  const std::vector<record::Progressed> progress = progress_after([](Observer& observer) {
    observer.resumed({.step = 90, .total_steps = 100, .epoch = 23});
    step(observer, 91, 10, 0.001);
    observer.happened(record::Ended{.ending = record::Ending::completed, .step = 100});
  });
  ASSERT_EQ(progress.size(), 1u);
  EXPECT_EQ(progress[0].step, 100);
  EXPECT_EQ(progress[0].epoch, 25);
}

TEST_F(SpoolObserverTest, AResumedAttemptWithNoStepLeftReportsTheEarlierSteps) {
  const std::vector<record::Progressed> progress = progress_after([](Observer& observer) {
    observer.resumed({.step = 100, .total_steps = 100, .epoch = 25});
    observer.happened(record::Ended{.ending = record::Ending::completed, .step = 100});
  });
  ASSERT_EQ(progress.size(), 1u);
  EXPECT_EQ(progress[0].step, 100);
  EXPECT_EQ(progress[0].total_steps, 100);
  EXPECT_EQ(progress[0].epoch, 25);
  EXPECT_TRUE(std::isnan(progress[0].loss)) << "before any step of this attempt";
}

TEST_F(SpoolObserverTest, NothingIsWrittenTwiceOrBeforeTheFirstStep) {
  EXPECT_TRUE(progress_after([](Observer& observer) {
                observer.happened(record::Ended{.ending = record::Ending::failed, .reason = "no data"});
              }).empty());
  EXPECT_EQ(progress_after([](Observer& observer) {
              step(observer, 1, 3, 0.5);
              observer.happened(record::Ended{.ending = record::Ending::completed, .step = 3});
            }).size(),
            3u)
      << "each of these steps takes longer than the time between two events";
}

}  // namespace
}  // namespace encore::train
