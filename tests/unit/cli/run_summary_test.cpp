// SPDX-License-Identifier: BSD-3-Clause
// Tests sample_text() (cli/run_summary.hpp): the input that `exp run` suggests at the end of a run for a
// first `exp predict`. It must be a short input of the test set that no shell interprets; for private data,
// or without predictions, it must be a general text. The lines are those of predictions/test.jsonl.
#include "cli/run_summary.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "unit/record/temporary_folder.hpp"

namespace encore::cli {
namespace {

class SampleText : public ::testing::Test {
 protected:
  /// Returns the suggestion if the file of predictions has these lines.
  std::string of(const std::string& lines) const {
    std::ofstream(folder_ / "test.jsonl") << lines;
    return sample_text(folder_ / "test.jsonl", is_private_);
  }

  testing::TemporaryFolder folder_;
  bool is_private_ = false;
};

TEST_F(SampleText, IsTheFirstShortInputWhateverItsField) {
  EXPECT_EQ(of("{\"example\": 0, \"predicted\": [], \"words\": [\"Too\", \"short\"]}\n"
               "{\"example\": 1, \"predicted\": [], \"words\": [\"Ann\", \"lives\", \"in\", \"Lund\"]}\n"),
            "Ann lives in Lund");
  EXPECT_EQ(of("{\"predicted\": \"good\", \"text\": \"never was it better\", \"truth\": \"a b c d e\"}\n"),
            "never was it better");
}

TEST_F(SampleText, HasNothingThatAShellInterprets) {
  EXPECT_EQ(of("{\"predicted\": 1, \"text\": \"what does $(reboot) do\"}\n"
               "{\"predicted\": 1, \"text\": \"a bell \\u0007 rings here\"}\n"
               "{\"predicted\": 1, \"text\": \"this one is fine\"}\n"),
            "this one is fine");
}

TEST_F(SampleText, HasATabBetweenTwoFields) {
  EXPECT_EQ(
      of("{\"predicted\": \"same\", \"text\": \"one of these two\", \"text2\": \"the other of them\"}\n"),
      "one text\tanother text");
  EXPECT_EQ(of("{\"predicted\": \"in\", \"text\": \"Ann lives in Lund\", \"spans\": []}\n"), "a line of text")
      << "a second field is not always a text";
}

TEST_F(SampleText, OfPrivateDataShowsNothing) {
  is_private_ = true;
  EXPECT_EQ(of("{\"predicted\": \"good\", \"text\": \"never was it better\"}\n"), "a line of text");
  EXPECT_EQ(of("{\"predicted\": 1, \"text\": \"one of these\", \"text2\": \"and another\"}\n"),
            "one text\tanother text");
}

TEST_F(SampleText, IsThereWithoutPredictionsToo) {
  EXPECT_EQ(of("no JSON\n[]\n{}\n{\"predicted\": 1, \"text\": 3}\n"), "a line of text");
  EXPECT_EQ(sample_text(folder_ / "absent.jsonl", false), "a line of text");
}

}  // namespace
}  // namespace encore::cli
