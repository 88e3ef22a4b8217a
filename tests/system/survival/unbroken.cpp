// SPDX-License-Identifier: BSD-3-Clause
// Implements unbroken.hpp: reads points, checkpoints and results of all runs, without times and ids, as one
// text. A value that differs between equal runs, such as a time, must stay out of this text.
#include "system/survival/unbroken.hpp"
#include "support/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace encore::system_test {

std::vector<std::string> records_as_text(const Sandbox& sandbox, std::int64_t after) {
  const std::string later = " WHERE step > " + std::to_string(after);
  std::vector<std::string> lines;
  const std::vector<std::string> questions = {
      "SELECT name || ' is ' || state || ': ' || coalesce(result ->> 'measures', '') || coalesce(result ->> "
      "'best_step', '') FROM run",
      "SELECT run || ' ' || metric || ' ' || step || ' ' || CASE WHEN metric LIKE '%seconds' OR metric LIKE "
      "'%per_second' THEN 'some time' ELSE coalesce(special, printf('%!.17g', value)) END FROM curve" +
          later,
      "SELECT run.name || ' ' || step || ' ' || scope || ' ' || value FROM current_digest JOIN run ON "
      "run.number = run" +
          later,
      "SELECT DISTINCT run.name || ' ' || artifact.name || ' ' || sha256 FROM artifact JOIN run ON "
      "run.number = run"};
  for (const std::string& sql : questions) {
    const std::vector<std::string> rows = sandbox.query(sql);
    lines.insert(lines.end(), rows.begin(), rows.end());
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void expect_same(const Sandbox& disturbed, const std::vector<std::string>& unbroken) {
  const std::vector<std::string> now = records_as_text(disturbed);
  EXPECT_GT(unbroken.size(), 20u) << "there is something to compare";
  std::vector<std::string> missing, extra;
  std::set_difference(unbroken.begin(), unbroken.end(), now.begin(), now.end(), std::back_inserter(missing));
  std::set_difference(now.begin(), now.end(), unbroken.begin(), unbroken.end(), std::back_inserter(extra));
  for (const auto& [what, lines] :
       {std::pair("missing", missing), std::pair("not in the unbroken one", extra)})
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 5); ++i)
      ADD_FAILURE() << lines.size() << " " << what << ": " << lines[i];
  EXPECT_EQ(
      disturbed.one("SELECT count(*) FROM (SELECT 1 FROM current_point GROUP BY run, metric, step HAVING "
                    "count(*) > 1)"),
      "0")
      << "a point counts twice";
  EXPECT_EQ(disturbed.one(
                "SELECT count(*) FROM attempt AS done JOIN attempt AS later USING (run) WHERE done.state = "
                "'completed' AND later.ordinal > done.ordinal"),
            "0")
      << "a run continued after it was completed";
  const runner::ProgramOutput check = disturbed.exp({"db", "check"});
  EXPECT_EQ(check.end.exit_code, 0) << check.output << check.errors;
}

bool real_worker_runs() {
  return std::filesystem::exists(ENCORE_BUILD_DIR "/bin/encore-worker") &&
         runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"}).end.success();
}

}  // namespace encore::system_test
