// SPDX-License-Identifier: BSD-3-Clause
// Tests Table (cli/table.hpp), by which all verbs print tables and CSV: alignment by displayed width,
// columns that are left out on a narrow terminal, styles, the names of CSV columns; and
// document::csv_record() (document/escape.hpp), which writes the lines of CSV, in which a spreadsheet must
// not take text for a formula.
#include "cli/table.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace encore::cli {
namespace {

TEST(Table, AlignsColumnsByDisplayedWidth) {
  Table table({{"NAME"}, {"F1", Align::right}, {"STATE"}});
  table.add({"größe", "9.50", "completed"});
  table.add({"日本", "100.00", "failed"});
  std::ostringstream out;
  table.print(out, Terminal{.utf8 = true});
  EXPECT_EQ(out.str(),
            "NAME       F1  STATE\n"
            "größe    9.50  completed\n"
            "日本   100.00  failed\n");
}

TEST(Table, ControlCharactersCannotMoveTheCursor) {
  Table table({{"NAME"}});
  table.add({"a\033[2Jb\n"});
  std::ostringstream out;
  table.print(out, Terminal());
  EXPECT_EQ(out.str(), "NAME\na?[2Jb?\n");
}

TEST(Table, OptionalColumnsGiveWayOnANarrowTerminal) {
  Table table({{"KERNEL"}, {"MS", Align::right}, {"95 %", Align::right, true}, {"GB/S", Align::right, true}});
  table.add({"layer_norm", "1.25", "1.20 .. 1.31", "12.0"});
  const auto printed = [&](int width, bool live) {
    std::ostringstream out;
    table.print(out, Terminal{.live = live, .width = width});
    return out.str();
  };
  EXPECT_EQ(printed(36, true),
            "KERNEL        MS          95 %  GB/S\nlayer_norm  1.25  1.20 .. 1.31  12.0\n");
  EXPECT_EQ(printed(35, true), "KERNEL        MS          95 %\nlayer_norm  1.25  1.20 .. 1.31\n");
  EXPECT_EQ(printed(20, true), "KERNEL        MS\nlayer_norm  1.25\n");
  EXPECT_EQ(printed(5, true), printed(20, true)) << "the others always stay";
  EXPECT_EQ(printed(5, false), printed(200, true)) << "a file gets everything";
}

TEST(Table, NoBlanksStandAtTheEndOfALine) {
  Table table({{"A"}, {"B", Align::right}, {"C"}});
  table.add({"x", "", ""});
  table.add({"longer", "1", ""});
  std::ostringstream out;
  table.print(out, Terminal{}, 2);
  EXPECT_EQ(out.str(), "  A       B  C\n  x\n  longer  1\n");
}

TEST(Table, StylesOnlyWhereThereIsColour) {
  Table table({{"STATE"}});
  table.add({Cell("ok", Style::green)});
  std::ostringstream plain, colored;
  table.print(plain, Terminal());
  table.print(colored, Terminal{.live = true, .color = true});
  EXPECT_EQ(plain.str(), "STATE\nok\n");
  EXPECT_NE(colored.str().find("\033[32mok\033[0m"), std::string::npos);
}

TEST(Table, RefusesARowOfAnotherLength) {
  Table table({{"A"}, {"B"}});
  EXPECT_THROW(table.add({"only one"}), std::logic_error);
}

TEST(Table, CsvHasNamesForProgramsAndNoDashes) {
  Table table({{"BEST SCORE", Align::right}, {"STATE", Align::left, true}});
  table.add({"9.50", "completed"});
  table.add({"-", "a, b"});
  std::ostringstream out;
  table.print_csv(out);
  EXPECT_EQ(out.str(), "best_score,state\r\n9.50,completed\r\n,\"a, b\"\r\n");
}

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(document::csv_record({"a", "b c", "1,5", "say \"x\""}), "a,b c,\"1,5\",\"say \"\"x\"\"\"\r\n");
  EXPECT_EQ(document::csv_record({""}), "\r\n");
}

TEST(Csv, TextThatASpreadsheetWouldComputeIsText) {
  EXPECT_EQ(document::csv_record({"=1+1", "+x", "-a", "@f", "\tt", "\rt", "a=b"}),
            "'=1+1,'+x,'-a,'@f,'\tt,\"'\rt\",a=b\r\n");
  EXPECT_EQ(document::csv_record({"-0.5", "-1e-05", "-inf", "-nan", "-1;x", "-0.5-A1"}),
            "-0.5,-1e-05,-inf,-nan,'-1;x,'-0.5-A1\r\n");
}

}  // namespace
}  // namespace encore::cli
