// SPDX-License-Identifier: BSD-3-Clause
// Tests the formats of numbers, times and sizes in the tables of `exp` (cli/table.hpp): percentages, counts
// with a unit such as k or M, durations, bytes. They may change, because people read them; --json and --csv
// must not use them.
#include "cli/table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace encore::cli {
namespace {

TEST(Format, FractionsArePercentWithTwoDigits) {
  EXPECT_EQ(document::percent_text(0.54321), "54.32");
  EXPECT_EQ(document::percent_text(1.0), "100.00");
  EXPECT_EQ(document::percent_text(std::nullopt), "-");
  EXPECT_EQ(document::percent_text(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(Format, CountsKeepThreeDigits) {
  EXPECT_EQ(document::count_text(940), "940");
  EXPECT_EQ(document::count_text(9999), "9999");
  EXPECT_EQ(document::count_text(12345), "12.3k");
  EXPECT_EQ(document::count_text(999499), "999k");
  EXPECT_EQ(document::count_text(999500), "1M");
  EXPECT_EQ(document::count_text(4.56e6), "4.56M");
}

TEST(Format, DurationsChangeTheirUnitWhereItRounds) {
  EXPECT_EQ(document::duration_text(0.44), "0.4 s");
  EXPECT_EQ(document::duration_text(9.96), "10 s");
  EXPECT_EQ(document::duration_text(59.6), "1m 00s");
  EXPECT_EQ(document::duration_text(185), "3m 05s");
  EXPECT_EQ(document::duration_text(7620), "2h 07m");
  EXPECT_EQ(document::duration_text(3 * 86400 + 4 * 3600), "3d 04h");
  EXPECT_EQ(document::duration_text(-1), "-");
  EXPECT_EQ(document::duration_text(std::numeric_limits<double>::infinity()), "-");
}

TEST(Format, BytesAndNumbers) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(4'200'000), "4.2 MB");
  EXPECT_EQ(document::number_text(0.00048), "0.00048");
  EXPECT_EQ(document::number_text(std::nan("")), "nan");
}

}  // namespace
}  // namespace encore::cli
