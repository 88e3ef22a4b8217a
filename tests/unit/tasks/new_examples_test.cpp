// SPDX-License-Identifier: BSD-3-Clause
// Tests NewExamples (tasks/new_examples.hpp), which selects the examples of data.more that `exp retrain`
// trains on: never examples that are scored or held out, and always the same ones, even if the file gets more
// examples later.
#include "tasks/new_examples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include <encore/error.hpp>

#include "unit/record/temporary_folder.hpp"

namespace encore::tasks {
namespace {

using Texts = Records::Texts;
using testing::message_of;

const TaskFields parts = {.structure = {"text"}, .truth = {"label"}};

Records labelled(const Texts& texts, const std::string& label = "x") {
  Records records;
  records.add("text", texts);
  records.add("label", Texts(texts.size(), label));
  return records;
}

Texts from_to(int begin, int end) {
  Texts texts;
  for (int i = begin; i < end; ++i) texts.push_back("text number " + std::to_string(i));
  return texts;
}

std::set<std::string> texts_of(const Records& records) {
  return {records.texts("text").begin(), records.texts("text").end()};
}

TEST(NewExamples, HeldOutAndLearnedExamplesAreAllAndShareNone) {
  const Records added = labelled(from_to(0, 1000));
  const std::set<std::string> held = texts_of(held_out(added, parts, 0.2)),
                              learned = texts_of(NewExamples(parts, 0.2).learned(added, nullptr));
  EXPECT_EQ(held.size() + learned.size(), 1000u);
  for (const std::string& text : held) EXPECT_FALSE(learned.contains(text)) << text;
  EXPECT_NEAR(static_cast<double>(held.size()), 200.0, 60.0);
}

TEST(NewExamples, AnApplicationIsFittedOnWhatIsNeitherLearnedNorCompared) {
  const Records added = labelled(from_to(0, 1000));
  NewExamples examples(parts, 0.4);
  const std::set<std::string> learned = texts_of(examples.learned(added, nullptr)),
                              compared = texts_of(held_out(added, parts, 0.2)),
                              fitted = texts_of(examples.fitted_on(added, 0.2));
  EXPECT_EQ(learned.size() + compared.size() + fitted.size(), 1000u);
  for (const std::string& text : fitted)
    EXPECT_FALSE(learned.contains(text) || compared.contains(text)) << text;
  EXPECT_EQ(examples.fitted_on(added, 0.2).notes.back().find("warning"), std::string::npos);

  examples.score(labelled({*learned.begin(), *fitted.begin(), *compared.begin()}));
  const Records without = examples.fitted_on(added, 0.2);
  EXPECT_EQ(without.size() + 1, fitted.size());
  const std::string& note = without.notes.back();
  EXPECT_NE(note.find("1 left out"), std::string::npos) << note;
  EXPECT_NE(note.find("warning: models learned from 1 that"), std::string::npos) << note;
}

TEST(NewExamples, ARecordStaysInItsPartWhenOthersOrItsLabelChange) {
  const std::set<std::string> before = texts_of(held_out(labelled(from_to(0, 200)), parts, 0.2)),
                              after = texts_of(held_out(labelled(from_to(0, 900), "y"), parts, 0.2));
  EXPECT_TRUE(std::ranges::includes(after, before));
}

TEST(NewExamples, ScoredExamplesAreNotLearnedAndKnownOnesAreCounted) {
  NewExamples examples(parts, 0.0);
  examples.score(labelled(from_to(0, 3)));
  examples.score(labelled(from_to(8, 20)));
  const Records train = labelled(from_to(4, 6));
  const Records learned = examples.learned(labelled(from_to(0, 10)), &train);
  EXPECT_EQ(learned.texts("text"), from_to(3, 8));
  EXPECT_EQ(learned.notes.back(),
            "data.more: 10 examples, 5 of them learned from, 5 left out, which the development or test set "
            "has; 2 stand in data.train already");
}

TEST(NewExamples, AShareWithoutAnExampleAndOtherFieldsAreRefused) {
  EXPECT_EQ(message_of<Error>([] { held_out(labelled(from_to(0, 1)), parts, 1e-9); }),
            "none of its 1 examples falls into the share that is held out; add examples, or enlarge the "
            "share");
  Records other;
  other.add("text", from_to(0, 2));
  EXPECT_EQ(message_of<Error>([&] { require_same_fields(labelled(from_to(0, 1)), other); }),
            "the records have the fields \"text\", and those of the training set \"text\", \"label\"; both "
            "must be read alike");
}

}  // namespace
}  // namespace encore::tasks
