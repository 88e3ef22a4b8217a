// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "database": databases of other people. The store reads everything of each run, comparisons
// are computed, and a report is written in one of its formats (store/store.hpp, analysis/comparison.hpp,
// report/report.hpp). verbs_target.cpp tests what `exp` prints of such a database. fuzz.cpp calls the target;
// read changed_database.hpp first.
#include "analysis/comparison.hpp"
#include "analysis/difference.hpp"
#include "document/writers.hpp"
#include "fuzz/changed_database.hpp"
#include "fuzz/target.hpp"
#include "report/report.hpp"
#include "store/store.hpp"
#include "support/places.hpp"

namespace encore::fuzz {

namespace {

void read_runs(store::Store& store) {
  for (const store::RunRow& run : store.list_runs({.sight = store::Sight::any})) {
    store.read_params(run.number);
    store.read_tags(run.number);
    store.read_datasets(run.number);
    store.read_attempts(run.number);
    store.read_checkpoints(run.number);
    store.read_digests(run.number);
    store.read_artifacts(run.number);
    store.read_events(run.number);
    store.read_verifications(run.number);
    for (const store::MetricRow& metric : store.read_metrics(run.number)) {
      store.read_curve(run.number, metric.name);
      store.read_latest(run.number, metric.name);
    }
  }
}

void write_report(store::Store& store, std::size_t format) {
  const document::Document document = report::make_report(store, {});
  const document::Templates templates(ENCORE_SOURCE_DIR "/reports");
  switch (format) {
    case 0:
      document::html_files(document, templates, "a.html");
      break;
    case 1:
      document::markdown_files(document, templates, "a.md");
      break;
    case 2:
      document::latex_files(document, templates, "a.tex");
      break;
    case 3:
      document::csv_files(document, "a.csv");
      break;
    default:
      document::json_text(document);
  }
}

class DatabaseTarget final : public Target {
 public:
  std::string name() const override { return "database"; }

  std::vector<std::string> corpus() override {
    database_ = std::make_unique<ChangedDatabase>();
    return {"-- read\n",     "-- compare\n",  "-- report 0\n", "-- report 1\n",
            "-- report 2\n", "-- report 3\n", "-- report 4\n"};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    // A report takes as long as twenty other cases.
    input = random.once_in(8) ? random.any_of(others) : others[random.below(2)];
    input += database_->changes(random);
  }

  void take(const std::string& input) override {
    database_->write(input);
    store::Store store(database_->path(), store::OpenMode::read);
    const std::string question = input.substr(3, input.find('\n') - 3);
    if (question == "read") read_runs(store);
    if (question == "compare")
      analysis::compare_runs(store, store::select_runs(store, {.words = {"net"}}).runs,
                             {.metric = {.name = "test/f1"}});
    if (question.starts_with("report")) write_report(store, static_cast<std::size_t>(question.back() - '0'));
  }

 private:
  std::unique_ptr<ChangedDatabase> database_;  ///< made by corpus()
};

}  // namespace

std::unique_ptr<Target> make_database_target() {
  return std::make_unique<DatabaseTarget>();
}

}  // namespace encore::fuzz
