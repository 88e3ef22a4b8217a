// SPDX-License-Identifier: BSD-3-Clause
// Tests the table `newest` (store/newest.hpp), which has the newest point of each metric with number, minimum
// and maximum: it must agree with the view current_point, over random attempts merged in any order and after
// everything else that changes points. Lists and scores read the table.
#include <cmath>
#include <limits>
#include <random>

#include "record/spool.hpp"
#include "store/database_merge.hpp"
#include "store/newest.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

using testing::StoreTest;

/// Returns the expected content of the table, from another query of the points that count.
std::string told(Database& database) {
  std::string text;
  Statement rows(
      database,
      "SELECT DISTINCT run, metric, "
      "last_value(step) OVER w || '|' || last_value(attempt) OVER w || '|' || "
      "quote(last_value(value) OVER w) || '|' || quote(last_value(special) OVER w) || '|' || count(*) OVER "
      "w || '|' || quote(min(value) OVER w) || '|' || quote(max(value) OVER w) FROM current_point "
      "WINDOW w AS (PARTITION BY run, metric ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND "
      "UNBOUNDED FOLLOWING) ORDER BY run, metric");
  while (rows.step())
    text +=
        std::to_string(rows.integer(0)) + " " + std::to_string(rows.integer(1)) + " " + rows.text(2) + "\n";
  return text;
}

std::string kept(Database& database) {
  std::string text;
  Statement rows(
      database,
      "SELECT run, metric, step || '|' || attempt || '|' || quote(value) || '|' || quote(special) || '|' "
      "|| points || '|' || quote(least) || '|' || quote(greatest) FROM newest ORDER BY run, metric");
  while (rows.step())
    text +=
        std::to_string(rows.integer(0)) + " " + std::to_string(rows.integer(1)) + " " + rows.text(2) + "\n";
  return text;
}

/// An attempt with points at random steps: mostly in ascending order, as a worker writes them, sometimes
/// repeated or descending.
class RandomAttempt {
 public:
  RandomAttempt(const std::filesystem::path& folder, const std::string& run, int ordinal,
                std::mt19937& random)
      : spool_(folder / record::spool_name(ordinal), ordinal, run), random_(random), step_(draw(30)) {}

  void write(int points) {
    for (int i = 0; i < points; ++i) {
      constexpr const char* metrics[] = {"train/loss", "train/loss", "dev/f1", "test/f1"};
      spool_.point(metrics[draw(4)], step_, value());
      if (draw(20) == 0)
        step_ = std::max(0, step_ - draw(6));
      else
        step_ += draw(3);
    }
    spool_.flush();
  }

 private:
  int draw(int below) { return std::uniform_int_distribution(0, below - 1)(random_); }
  double value() {
    switch (draw(12)) {
      case 0:
        return std::numeric_limits<double>::quiet_NaN();
      case 1:
        return -std::numeric_limits<double>::infinity();
      default:
        return draw(100) / 8.0 - 4.0;
    }
  }

  record::SpoolWriter spool_;
  std::mt19937& random_;
  int step_;
};

class NewestTest : public StoreTest {
 protected:
  /// Checks that the table is as expected after a merge.
  void expect_right(const std::string& what) {
    ASSERT_EQ(kept(store().database()), told(store().database())) << what;
    for (const RunRow& run : store().list_runs({.sight = Sight::any}))
      EXPECT_EQ(wrong_newest(store().database(), run.number), std::nullopt) << what;
  }
};

TEST_F(NewestTest, AgreesWithThePointsThatCountAfterEveryMerge) {
  std::mt19937 random(20);
  for (int trial = 0; trial < 40; ++trial) {
    const std::int64_t run = add(static_cast<char>('A' + trial), "run" + std::to_string(trial));
    const std::string id = store().read_run(run).id;
    std::vector<std::unique_ptr<RandomAttempt>> attempts;
    std::vector<Lease> leases;
    const int count = 1 + static_cast<int>(random() % 4);
    for (int ordinal = 1; ordinal <= count; ++ordinal) {
      leases.push_back(*store().begin_attempt(run));
      attempts.push_back(
          std::make_unique<RandomAttempt>(store().run_folder(id), id, leases.back().ordinal, random));
      for (int merge = 0; merge < 3; ++merge) {
        // Earlier attempts are also merged late.
        const std::size_t which = merge == 2 ? random() % attempts.size() : attempts.size() - 1;
        attempts[which]->write(1 + static_cast<int>(random() % 25));
        const Lease& lease = leases[which];
        merge_spool(store().database(), {spool_of(lease), run, lease.attempt, lease.ordinal, id});
        expect_right("trial " + std::to_string(trial) + ", attempt " + std::to_string(ordinal));
      }
      store().finish_attempt(leases.back(), RunState::interrupted);
    }
  }
  EXPECT_GT(store().database().integer("SELECT count(*) FROM newest"), 60);
  const std::string before = kept(store().database());
  store().database().execute("UPDATE newest SET points = points + 1 WHERE run = 3");
  EXPECT_EQ(wrong_newest(store().database(), 3), "dev/f1") << "a wrong row is found";
  refresh_newest(store().database());
  EXPECT_EQ(kept(store().database()), before);
}

TEST_F(NewestTest, IsBroughtByAMergeOfDatabasesAndGoesWithItsRun) {
  std::mt19937 random(3);
  const std::int64_t run = add();
  const Lease lease = *store().begin_attempt(run);
  RandomAttempt(store().run_folder(lease.run_id), lease.run_id, 1, random).write(200);
  store().finish_attempt(lease, RunState::interrupted);
  Store other(folder_ / "other.db", OpenMode::create);
  merge_database(other, path());
  EXPECT_EQ(kept(other.database()), told(other.database()));
  EXPECT_NE(kept(other.database()), "");
  other.set_removed({other.find_run("test").number}, true);
  other.set_removed({other.find_run("test", Sight::removed).number}, false);
  EXPECT_EQ(kept(other.database()), told(other.database()));
  other.purge_run(other.find_run("test").number);
  EXPECT_EQ(kept(other.database()), "");
}

TEST_F(NewestTest, ScoresSoFarComeFromIt) {
  const std::int64_t run = add();
  const Lease lease = *store().begin_attempt(run);
  record::SpoolWriter spool(spool_of(lease), 1, lease.run_id);
  for (const auto& [step, value] : {std::pair(10, 0.5), {20, 0.75}, {30, std::nan("")}, {40, 0.625}})
    spool.point("dev/f1", step, value);
  spool.flush();
  store().merge(lease);
  const MetricSummary summary = store().read_summary(run, "dev/f1").value();
  EXPECT_EQ(summary.newest.step, 40);
  EXPECT_EQ(summary.newest.value, 0.625);
  EXPECT_EQ(summary.points, 4);
  EXPECT_EQ(summary.least, 0.5);
  EXPECT_EQ(summary.greatest, 0.75);
  EXPECT_EQ(store().read_summary(run, "dev/accuracy").has_value(), false);
}

}  // namespace
}  // namespace encore::store
