// SPDX-License-Identifier: BSD-3-Clause
// Tests prepare_work() (runner/prepare_work.hpp), which writes the specification of a run for its worker: a
// run that resumes keeps the rule for ties of scores with which it began, everything else is as planned. So a
// run of an earlier version ends with the bits that it would have had.
#include "runner/prepare_work.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "record/checkpoint.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::testing {
namespace {

class PrepareWorkTest : public StoreTest {
 protected:
  void SetUp() override {
    task_.specification = specification_of();
    task_.specification.ties = record::Ties::loss;
    task_.run = store().add_run(task_.specification).run.number;
    lease_ = *store().begin_attempt(task_.run);
    folder_ = store().run_folder(lease_.run_id);
  }

  /// Writes the run as an earlier version left it.
  void begin(record::Ties ties) {
    record::Specification before = task_.specification;
    before.ties = ties;
    before.save(folder_);
    std::filesystem::create_directories((folder_ / record::checkpoint_path(8)).parent_path());
    std::ofstream(folder_ / record::checkpoint_path(8)) << "a checkpoint";
    ASSERT_EQ(record::list_checkpoints(folder_).size(), 1U);
  }

  record::Ties prepared() {
    runner::WorkerPlace place;
    runner::prepare_work(store(), task_, lease_, place);
    return record::Specification::load(folder_).ties;
  }

  runner::RunTask task_;
  store::Lease lease_;
  std::filesystem::path folder_;
};

TEST_F(PrepareWorkTest, ANewRunHasThePlannedRuleForTies) {
  EXPECT_EQ(prepared(), record::Ties::loss);
}

TEST_F(PrepareWorkTest, AResumedRunKeepsItsRuleForTies) {
  begin(record::Ties::first);
  EXPECT_EQ(prepared(), record::Ties::first);
  EXPECT_EQ(prepared(), record::Ties::first) << "also the next time";
  begin(record::Ties::loss);
  task_.specification.ties = record::Ties::first;
  EXPECT_EQ(prepared(), record::Ties::loss);
}

TEST_F(PrepareWorkTest, ARunWithoutACheckpointHasThePlannedRuleForTies) {
  begin(record::Ties::first);
  task_.from_start = true;
  EXPECT_EQ(prepared(), record::Ties::loss);
}

TEST_F(PrepareWorkTest, ADamagedSpecificationIsWrittenAgain) {
  begin(record::Ties::first);
  std::ofstream(folder_ / "specification.json") << "{";
  EXPECT_EQ(prepared(), record::Ties::loss);
}

}  // namespace
}  // namespace encore::testing
