// Reading CoNLL files: every accepted form, and the message for every refused one.
#include "conll.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "unit/record/temporary_folder.hpp"

namespace {

using encore::Error;
using encore::conll::Dataset;
using encore::conll::TagScheme;
using encore::testing::message_of;
using Words = std::vector<std::string>;

Dataset parse(std::string_view text) {
  return encore::conll::parse(text, "train.conll", "training set");
}
std::string refusal(std::string_view text) {
  return message_of<Error>([&] { parse(text); });
}

TEST(Conll, ReadsTokenAndTag) {
  const Dataset set = parse("Ann\tB-PER\nleft\tO\n\nNew\tB-LOC\nYork\tI-LOC\n");
  ASSERT_EQ(set.sentences.size(), 2u);
  EXPECT_EQ(set.sentences[0].words, (Words{"Ann", "left"}));
  EXPECT_EQ(set.sentences[1].tags, (Words{"B-LOC", "I-LOC"}));
  EXPECT_EQ(set.columns, 2);
  EXPECT_EQ(set.malformed_tags, 0);
}

TEST(Conll, TakesTheLastOfManyColumns) {
  const Dataset set = parse("Ann NNP I-NP B-PER\nleft   VBD I-VP O\n");
  EXPECT_EQ(set.columns, 4);
  EXPECT_EQ(set.sentences[0].tags, (Words{"B-PER", "O"}));
}

TEST(Conll, KeepsBlanksInsideColumnsPartedByTabs) {
  EXPECT_EQ(parse("New York\tB-LOC\n").sentences[0].words, Words{"New York"});
}

TEST(Conll, AcceptsWhatOtherToolsWrite) {
  const Dataset set = parse(
      "\xEF\xBB\xBF-DOCSTART- -X- O\r\n\r\nAnn\tB-PER\r\nleft\tO\r\n\t\r\n "
      "\r\nBob\tB-PER\r\n-DOCSTART-\nno\tO");
  ASSERT_EQ(set.sentences.size(), 3u);
  EXPECT_EQ(set.sentences[0].words, (Words{"Ann", "left"}));
  EXPECT_EQ(set.sentences[1].words, Words{"Bob"});
  EXPECT_EQ(set.sentences[2].words, Words{"no"});
}

TEST(Conll, ConvertsIob1) {
  const Dataset set = parse("Ann I-PER\nLee I-PER\nBob B-PER\nRome I-LOC\n. O\n");
  EXPECT_EQ(set.scheme, TagScheme::iob1);
  EXPECT_EQ(set.sentences[0].tags, (Words{"B-PER", "I-PER", "B-PER", "B-LOC", "O"}));
  EXPECT_EQ(set.malformed_tags, 0);
}

TEST(Conll, ConvertsBioes) {
  const Dataset set = parse("Ann B-PER\nde I-PER\nLee E-PER\nRome S-LOC\nOslo S-LOC\n");
  EXPECT_EQ(set.scheme, TagScheme::bioes);
  EXPECT_EQ(set.sentences[0].tags, (Words{"B-PER", "I-PER", "I-PER", "B-LOC", "B-LOC"}));
  EXPECT_EQ(set.malformed_tags, 0);
}

TEST(Conll, StartsAnEntityAtAMalformedTagAndSaysWhereItStands) {
  const Dataset set = parse("Ann B-PER\nLee I-PER\nBob B-PER\nRome I-LOC\n\nUma B-PER\n\nBob I-PER\n");
  EXPECT_EQ(set.scheme, TagScheme::iob2);
  EXPECT_EQ(set.sentences[0].tags, (Words{"B-PER", "I-PER", "B-PER", "B-LOC"}));
  EXPECT_EQ(set.malformed_message(),
            "2 tags break IOB2 and are read as conlleval reads them: I-LOC in line 4, I-PER in line 8");
  const Dataset open =
      parse("Ann B-PER\nLee E-PER\nRome S-LOC\nUma S-PER\nOslo S-LOC\n\nAnn B-PER\nsat O\nUma E-PER\n");
  EXPECT_EQ(open.scheme, TagScheme::bioes);
  EXPECT_EQ(open.sentences[1].tags, (Words{"B-PER", "O", "B-PER"}));
  EXPECT_EQ(open.malformed_message(),
            "2 tags break BIOES and are read as conlleval reads them: B-PER in line 7, E-PER in line 9");
  EXPECT_EQ(parse("Ann S-PER\nsat O\nUma S-PER\nLee B-PER\n").first_malformed,
            (std::vector<encore::conll::MalformedTag>{{4, "B-PER"}}))
      << "a sentence ends inside an entity";
}

TEST(Conll, DecidesTheSchemeByMajority) {
  std::string iob1 = "-DOCSTART- -X- O\n\n", iob2 = "Ann E-PER\n";
  for (int i = 0; i < 50; ++i) {
    iob1 += "Ann I-PER\nLee I-PER\nsat O\n\n";
    iob2 += "Ann B-PER\nLee I-PER\nsat O\n\n";
  }
  const Dataset one = parse(iob1 + "Rome B-LOC\n");
  EXPECT_EQ(one.scheme, TagScheme::iob1) << "one needless B- does not make it IOB2";
  EXPECT_EQ(one.malformed_message(),
            "1 tag breaks IOB1 and is read as conlleval reads it: B-LOC in line 203");
  EXPECT_EQ(one.sentences[0].tags, (Words{"B-PER", "I-PER", "O"}));
  const Dataset two = parse(iob2);
  EXPECT_EQ(two.scheme, TagScheme::iob2) << "one E- does not make it BIOES";
  EXPECT_EQ(two.malformed_message(), "1 tag breaks IOB2 and is read as conlleval reads it: E-PER in line 1");
  const Dataset many = parse(iob2 + "a I-X\nb I-Y\nc I-X\nd I-Y\ne I-X\nf I-Y\n");
  EXPECT_EQ(many.malformed_tags, 7);
  EXPECT_TRUE(many.malformed_message().ends_with("I-Y in line 205 and 2 more")) << many.malformed_message();
}

TEST(Conll, RefusesRowsWithTheWrongColumns) {
  EXPECT_EQ(refusal("Ann\tB-PER\nleft\n"),
            "train.conll:2: this row has one column; write the token first and its tag last, parted by a tab "
            "or blanks");
  EXPECT_EQ(
      refusal("Ann\tB-PER\n\nleft\tVBD\tO\n"),
      "train.conll:3: this row has 3 columns, the rows before it have 2; every row needs the same columns");
  const std::string no_token =
      "the token in front of the first tab is empty; a row is a token, a tab and its tag, and a line without "
      "anything parts two sentences";
  EXPECT_EQ(refusal("\tO\n"), "train.conll:1: " + no_token);
  EXPECT_EQ(refusal("Ann\tB-PER\n  \tO\n"), "train.conll:2: " + no_token);
  EXPECT_EQ(refusal("Ann\t\n"),
            "train.conll:1: this row has a token and nothing behind its tab; its tag is missing");
  EXPECT_EQ(parse(" Ann B-PER\n  left O \n").sentences[0].words, (Words{"Ann", "left"}))
      << "blanks in front part nothing";
}

TEST(Conll, NamesEveryRowThatCannotBeReadUpToALimit) {
  const std::string no_tag =
      "\"PER\" in the last column is no tag; a tag is O, or B-, I-, E- or S- before a type";
  EXPECT_EQ(
      refusal("only\nAnn\tO\n\nLee\tPER\nsat\tVBD\tO\n"),
      "train.conll:1: this row has one column; write the token first and its tag last, parted by a tab or "
      "blanks\ntrain.conll:4: " +
          no_tag +
          "\ntrain.conll:5: this row has 3 columns, the rows before it have 2; every row needs the same "
          "columns");
  std::string text;
  for (int i = 0; i < 11; ++i) text += "Lee\tPER\n";
  EXPECT_TRUE(refusal(text).ends_with("\ntrain.conll:10: " + no_tag + "\nand 1 more row like these"));
  EXPECT_TRUE(refusal(text + text).ends_with("\nand 12 more rows like these"));
}

TEST(Conll, RefusesWhatIsNoTag) {
  const std::string expected = "in the last column is no tag; a tag is O, or B-, I-, E- or S- before a type";
  for (const std::string tag : {"PER", "B-", "B", "o", "X-PER", "I_PER", "0"})
    EXPECT_EQ(refusal("Ann\tO\nLee\t" + tag + "\n"), "train.conll:2: \"" + tag + "\" " + expected);
}

TEST(Conll, RefusesAnEmptySet) {
  const std::string expected =
      "train.conll: the training set is empty; it needs at least one row with a token and a tag";
  EXPECT_EQ(refusal(""), expected);
  EXPECT_EQ(refusal("\n \n-DOCSTART- O\n\n"), expected);
}

TEST(ConllReader, GivesRecordsAndWritesThemBack) {
  const encore::conll::ConllReader reader({}, {});
  const std::string text = "Ann\tI-PER\nleft\tO\n\nNew\tI-LOC\nYork\tI-LOC\nRome\tB-PER\n";
  const encore::InputText file{"a.conll", text};
  const encore::Records records = reader.read({&file, 1}, "training set");
  EXPECT_EQ(records.size(), 2u);
  EXPECT_EQ(records.lists("words")[1], (Words{"New", "York", "Rome"}));
  EXPECT_EQ(records.lists("tags")[1], (Words{"B-LOC", "I-LOC", "B-PER"}));
  EXPECT_EQ(records.notes,
            (Words{"tags in IOB1", "1 tag breaks IOB1 and is read as conlleval reads it: B-PER in line 6"}));
  const std::string written = reader.write(records, encore::FilePart::first);
  EXPECT_EQ(written, "Ann\tB-PER\nleft\tO\n\nNew\tB-LOC\nYork\tI-LOC\nRome\tB-PER\n\n");
  const encore::InputText again{"b.conll", written};
  EXPECT_EQ(reader.read({&again, 1}, "training set").lists("tags"), records.lists("tags"));
}

}  // namespace
