// SPDX-License-Identifier: BSD-3-Clause
// Tests print_csv() (cli/run_list.hpp), the CSV of `exp ls` and other lists of runs: a column that two lists
// of columns name is printed once. Programs read the header, so existing columns keep their names and their
// order.
#include "cli/run_list.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace encore::cli {
namespace {

/// Returns a line of the text, counted from 0.
std::string line_of(const std::string& text, int line) {
  std::istringstream in(text);
  std::string found;
  for (int i = 0; i <= line; ++i) std::getline(in, found);
  return found;
}

TEST(RunList, AColumnOfCsvStandsThereOnce) {
  store::RunRow run;
  run.number = 1;
  run.name = "a";
  run.seed = 7;
  app::RunList list{.runs = {run}, .scores = {store::RunScore()}, .seconds = {1.5}};
  list.columns = {{.name = "model.dropout", .title = "dropout", .values = {{1, 0.00327243}}},
                  {.name = "seed", .title = "seed", .values = {{1, 7}}},
                  {.name = "model.dropout", .title = "dropout", .values = {{1, 0.00327243}}}};
  std::ostringstream out;
  print_csv(out, list);
  EXPECT_EQ(line_of(out.str(), 0),
            "name,id,state,backend,seed,dev,test,epochs,seconds,created,select,best,latest,model.dropout\r");
  EXPECT_TRUE(line_of(out.str(), 1).ends_with(",0.00327243\r")) << out.str();
}

}  // namespace
}  // namespace encore::cli
