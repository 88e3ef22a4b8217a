#include "cli/table.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace encore {
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

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_record({"a", "b c", "1,5", "say \"x\""}), "a,b c,\"1,5\",\"say \"\"x\"\"\"\r\n");
  EXPECT_EQ(csv_record({""}), "\r\n");
}

}  // namespace
}  // namespace encore
