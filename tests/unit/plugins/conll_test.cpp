// SPDX-License-Identifier: BSD-3-Clause
// Tests the reader "conll" (plugins/readers/conll.hpp): the forms of a CoNLL file that it accepts, the
// messages for those that it refuses, and writing. A message must name the file and the row; its words may
// change. question_files_test.cpp tests files without labels.
#include "conll.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>
#include <encore/testing.hpp>

#include "unit/plugins/without_remedy.hpp"
#include "unit/record/temporary_folder.hpp"

namespace {

using encore::Error;
using encore::conll::Dataset;
using encore::conll::TagScheme;
using encore::testing::message_of;
using Words = std::vector<std::string>;

encore::conll::ConllReader make(const std::map<std::string, encore::OptionValue>& settings) {
  encore::Options options = encore::default_options<encore::conll::ConllReader>();
  for (const auto& [name, value] : settings) options.set(name, value);
  return {options, {}};
}
encore::Records read(std::string_view text, const std::map<std::string, encore::OptionValue>& settings) {
  const encore::InputText file{"train.conll", text};
  return make(settings).read({&file, 1}, "training set");
}
std::string refusal(std::string_view text, const std::map<std::string, encore::OptionValue>& settings) {
  return encore::without_remedy(message_of<Error>([&] { read(text, settings); }));
}

Dataset parse(std::string_view text) {
  return encore::conll::parse(text, "train.conll", "training set");
}
std::string refusal(std::string_view text) {
  return encore::without_remedy(message_of<Error>([&] { parse(text); }));
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

TEST(Conll, KeepsBlanksInColumnsSeparatedByTabs) {
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
            "train.conll:2: this row has one column; write the token first and its tag last, separated by a "
            "tab or blanks");
  EXPECT_EQ(
      refusal("Ann\tB-PER\n\nleft\tVBD\tO\n"),
      "train.conll:3: this row has 3 columns, the rows before it have 2; every row needs the same columns");
  const std::string no_token =
      "the token before the first tab is empty; a row is a token, a tab and its tag, and an empty line "
      "separates two sentences";
  EXPECT_EQ(refusal("\tO\n"), "train.conll:1: " + no_token);
  EXPECT_EQ(refusal("Ann\tB-PER\n  \tO\n"), "train.conll:2: " + no_token);
  EXPECT_EQ(refusal("Ann\t\n"),
            "train.conll:1: this row has a token and nothing behind its tab; its tag is missing");
  EXPECT_EQ(parse(" Ann B-PER\n  left O \n").sentences[0].words, (Words{"Ann", "left"}))
      << "blanks in front part nothing";
}

TEST(Conll, NamesEveryRowThatCannotBeReadUpToALimit) {
  const std::string no_tag =
      "\"PER\" in the last column is not a tag: expected O, or B-, I-, E- or S- before a type";
  EXPECT_EQ(
      refusal("only\nAnn\tO\n\nLee\tPER\nsat\tVBD\tO\n"),
      "train.conll:1: this row has one column; write the token first and its tag last, separated by a tab or "
      "blanks\ntrain.conll:4: " +
          no_tag +
          "\ntrain.conll:5: this row has 3 columns, the rows before it have 2; every row needs the same "
          "columns");
  std::string text;
  for (int i = 0; i < 11; ++i) text += "Lee\tPER\n";
  EXPECT_TRUE(refusal(text).ends_with("\ntrain.conll:10: " + no_tag + "\nand 1 more row like these"));
  EXPECT_TRUE(refusal(text + text).ends_with("\nand 12 more rows like these"));
}

TEST(Conll, RefusesAnInvalidTag) {
  const std::string expected =
      "in the last column is not a tag: expected O, or B-, I-, E- or S- before a type";
  for (const std::string tag : {"PER", "B-", "B", "o", "X-PER", "I_PER", "0"})
    EXPECT_EQ(refusal("Ann\tO\nLee\t" + tag + "\n"), "train.conll:2: \"" + tag + "\" " + expected);
}

TEST(Conll, RefusesAnEmptySet) {
  const std::string expected =
      "train.conll: the training set is empty: expected at least one row with a token and a tag";
  EXPECT_EQ(refusal(""), expected);
  EXPECT_EQ(refusal("\n \n-DOCSTART- O\n\n"), expected);
}

TEST(ConllReader, GivesRecordsAndWritesThemBack) {
  const encore::conll::ConllReader reader = make({});
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

using Lists = encore::Records::TextLists;
const encore::OptionValue tab = std::string("tab"), word = std::string("word"), skip = std::string("skip");

TEST(ConllColumns, ReadsTokensAndLabelsOfAnyColumn) {
  const std::string text =
      "# text = Dogs bark\n1\tDogs\tdog\tNOUN\t_\t\n2\tbark\tbark\tVERB\t_\t\n\n1\t#\t#\tSYM\t_\t_\n";
  const encore::Records records = read(text, {{"token_column", std::int64_t{2}},
                                              {"label_column", std::int64_t{4}},
                                              {"delimiter", tab},
                                              {"label_type", word},
                                              {"comment", std::string("# ")}});
  EXPECT_EQ(records.lists("words"), (Lists{{"Dogs", "bark"}, {"#"}}));
  EXPECT_EQ(records.lists("tags"), (Lists{{"NOUN", "VERB"}, {"SYM"}}));
  EXPECT_TRUE(records.notes.empty()) << "labels of words have no scheme";
}

TEST(ConllColumns, PartsColumnsByAGivenCharacter) {
  EXPECT_EQ(read("New York;x;B-LOC\n", {{"delimiter", std::string(";")}}).lists("words"),
            (Lists{{"New York"}}));
  EXPECT_EQ(refusal("New York x B-LOC\n", {{"delimiter", std::string(";")}}),
            "train.conll:1: this row has 1 column and none behind the token for the label; columns are "
            "separated by \";\"");
  EXPECT_EQ(refusal("a b\n", {{"label_column", std::int64_t{3}}}),
            "train.conll:1: this row has 2 columns and no column 3, which holds the label; columns are "
            "separated by tabs or blanks");
  EXPECT_EQ(refusal("a\t\tc\n", {{"delimiter", tab}, {"label_column", std::int64_t{2}}}),
            "train.conll:1: the label in column 2 is empty");
  EXPECT_EQ(
      refusal("a\tNOUN\n", {{"delimiter", tab}, {"label_column", std::int64_t{2}}}),
      "train.conll:1: \"NOUN\" in column 2 is not a tag: expected O, or B-, I-, E- or S- before a type");
}

TEST(ConllColumns, WritesWhatItReadsBack) {
  for (const std::map<std::string, encore::OptionValue>& settings :
       {std::map<std::string, encore::OptionValue>{{"token_column", std::int64_t{2}}},
        {{"token_column", std::int64_t{3}}, {"label_column", std::int64_t{1}}, {"delimiter", tab}},
        {{"delimiter", std::string(";")}, {"label_type", word}}}) {
    encore::Records records;
    records.add("words", Lists{{"Ann", "left"}, {"Bob"}});
    records.add("tags", Lists{{"B-PER", "O"}, {"B-PER"}});
    const std::string text = make(settings).write(records, encore::FilePart::first);
    const encore::Records again = read(text, settings);
    EXPECT_EQ(again.lists("words"), records.lists("words")) << text;
    EXPECT_EQ(again.lists("tags"), records.lists("tags")) << text;
  }
  encore::Records records;
  records.add("words", Lists{{";"}});
  records.add("tags", Lists{{"O"}});
  EXPECT_EQ(message_of<Error>([&] {
              make({{"delimiter", std::string(";")}}).write(records, encore::FilePart::first);
            }),
            "\";\" cannot be written in columns that are separated by \";\"");
}

TEST(ConllLabels, AreReadAsOthers) {
  const encore::Records records =
      read("Ann\tB-PERSON\nLee\tI-PERSON\nRome\tB-CITY\nX\tB-MISC\n",
           {{"label_map", Words{"PERSON=PER", "B-CITY=B-LOC", "MISC=O", "DATE=O"}}});
  EXPECT_EQ(records.lists("tags"), (Lists{{"B-PER", "I-PER", "B-LOC", "O"}}));
  EXPECT_EQ(records.notes, (Words{"tags in IOB2",
                                  "label_map names \"DATE\", but no label or type of entity has that name"}));
  EXPECT_EQ(read("a\tB-X\nb\tB-Y\nc\tO\n",
                 {{"label_type", word}, {"label_map", Words{"B-X=name", "Y=name", "O=other"}}})
                .lists("tags"),
            (Lists{{"name", "B-Y", "other"}}))
      << "a label of a word has no type";
  EXPECT_EQ(read("a\tPER\nb\tO\n", {{"label_map", Words{"PER=B-PER"}}}).lists("tags"),
            (Lists{{"B-PER", "O"}}))
      << "an invalid tag may become a valid one";
}

TEST(ConllBadRows, LeaveOutTheirSentences) {
  const std::string text = "Ann\tB-PER\nleft\n\nBob\tPER\n\nUma\tB-PER\nsat\tO\n";
  const encore::Records records = read(text, {{"bad_rows", skip}});
  EXPECT_EQ(records.lists("words"), (Lists{{"Uma", "sat"}}));
  EXPECT_EQ(records.notes.back(),
            "2 of 3 sentences are skipped for 2 rows that cannot be read; the first: train.conll:2: this row "
            "has one column; write the token first and its tag last, separated by a tab or blanks");
  EXPECT_EQ(read("Ann\tB-PER\n\nleft\n", {{"bad_rows", skip}}).notes.back(),
            "1 of 2 sentences is skipped for a row that cannot be read: train.conll:3: this row has one "
            "column; write the token first and its tag last, separated by a tab or blanks");
  EXPECT_EQ(refusal("left\n", {{"bad_rows", skip}}).substr(0, 66),
            "train.conll: the training set has no sentence that can be read; 1 ");
}

TEST(ConllOptions, AreRefusedWhereTheyCannotBe) {
  const auto refused = [](const std::string& name, encore::OptionValue value) {
    return message_of<encore::OptionError>([&] { make({{name, std::move(value)}}); });
  };
  EXPECT_EQ(refused("label_column", std::int64_t{1}),
            "label_column = 1 is also the column of the token: token and label need a column each");
  EXPECT_EQ(refused("delimiter", std::string("tabs")),
            "invalid delimiter = \"tabs\": expected \"whitespace\", \"tab\", or one character that is not a "
            "letter, digit or blank");
  EXPECT_EQ(refused("label_map", Words{"PERSON"}),
            "invalid label_map \"PERSON\": expected FROM=TO, such as \"PERSON=PER\"");
  EXPECT_EQ(refused("label_map", Words{"A=B", "A=C"}), "label_map names \"A\" twice");
}

TEST(Conll, EndsLinesWithAnyLineEnd) {
  const std::vector<std::vector<std::string>> words = {{"Ann", "left"}, {"Oslo"}};
  for (const char* end : {"\n", "\r\n", "\r", "\r\r\n"}) {
    std::string text;
    for (const char* line : {"Ann\tB-PER", "left\tO", "", "Oslo\tB-LOC"}) text += std::string(line) + end;
    if (std::string_view(end) == "\r\r\n") text = "Ann\tB-PER\r\r\nleft\tO\r\r\n\r\r\nOslo\tB-LOC\r\r\n";
    const encore::Records records = read(text, {});
    EXPECT_EQ(records.lists("words"), words) << text;
    EXPECT_EQ(records.notes, Words{"tags in IOB2"});
  }
  EXPECT_EQ(refusal("Ann\tB-PER\rleft\r\rOslo\tB-LOC\r", {}),
            "train.conll:2: this row has one column; write the token first and its tag last, separated by a "
            "tab or blanks");
  EXPECT_EQ(read("Ann\tB-PER\nleft\tO\rOslo\tB-LOC\n", {}).notes,
            (Words{"tags in IOB2", "train.conll: 1 lone carriage return (CR) is read as a line end"}));
}

TEST(Conll, TakesALineForACommentByItsColumns) {
  const std::string text = "# id 1 domain=x\n#\tO\nOslo\tB-LOC\n#fun\tO\n#\n# text = Oslo is great\n";
  const encore::Records records = read(text, {{"comment", std::string("#")}});
  EXPECT_EQ(records.lists("words"), (std::vector<Words>{{"#", "Oslo", "#fun"}}));
  const std::map<std::string, encore::OptionValue> blanks = {{"comment", std::string("#")},
                                                             {"label_type", std::string("word")}};
  EXPECT_EQ(read("# newdoc\n# O\nOslo NOUN\n#fun TAG\n", blanks).lists("words"),
            (std::vector<Words>{{"Oslo", "#fun"}}));
  EXPECT_EQ(refusal("#fun\tfun\nOslo\tB-LOC\n", {{"comment", std::string("#")}}),
            "train.conll:1: \"fun\" in the last column is not a tag: expected O, or B-, I-, E- or S- before "
            "a type");
}

TEST(ConllLabelComment, GivesLabelAndText) {
  const std::map<std::string, encore::OptionValue> settings = {{"label_comment", std::string("# type =")}};
  const std::string file =
      "# type = credit note\nTotal\tO\n9.00\tB-total\n\n\n# type =letter\n\nDear\tO\n# Sir\tO\n-DOCSTART-\n"
      "# type = letter\nSir\tO\n";
  const encore::Records records = read(file, settings);
  EXPECT_EQ(records.lists("words"),
            (encore::Records::TextLists{{"Total", "9.00"}, {"Dear", "# Sir"}, {"Sir"}}));
  EXPECT_EQ(records.texts("text"), (Words{"Total 9.00", "Dear # Sir", "Sir"}));
  EXPECT_EQ(records.texts("label"), (Words{"credit note", "letter", "letter"}));
  EXPECT_FALSE(read("Total\tO\n", {}).has("label"));
  const encore::conll::ConllReader reader = make(settings);
  const std::string written = reader.write(records, encore::FilePart::first);
  EXPECT_TRUE(written.starts_with("# type = credit note\nTotal\tO\n9.00\tB-total\n\n# type = letter\n"))
      << written;
  EXPECT_EQ(read(written, settings).texts("label"), records.texts("label"));
}

TEST(ConllLabelComment, IsInFrontOfEachSentence) {
  const std::map<std::string, encore::OptionValue> settings = {{"label_comment", std::string("# type =")}};
  EXPECT_EQ(
      refusal("# type = a\nx\tO\n\ny\tO\nz\tO\n", settings),
      "train.conll:4: the sentence has no label: expected a line \"# type = LABEL\" in front of its first "
      "row");
  EXPECT_EQ(refusal("# type =\nx\tO\n", settings),
            "train.conll:1: the label of the sentence is empty: expected it behind \"# type =\"");
  EXPECT_EQ(
      refusal("# type = a\nx\tO\n# type = b\ny\tO\n", settings),
      "train.conll:3: the label of a sentence stands behind its first row: expected it in front, behind an "
      "empty line");
  EXPECT_EQ(refusal("# type = a\n# type = b\nx\tO\n", settings),
            "train.conll:2: the sentence has a second label: expected one");
  EXPECT_EQ(
      refusal("x\tO\n", {{"label_comment", std::string(" ")}}),
      "label_comment has no character but white space: expected the beginning of a line, such as \"# type "
      "=\"");
  std::map<std::string, encore::OptionValue> skipping = settings;
  skipping["bad_rows"] = std::string("skip");
  const encore::Records kept = read("x\tO\n\n# type = a\ny\tO\n", skipping);
  EXPECT_EQ(kept.texts("label"), Words{"a"});
  EXPECT_EQ(kept.lists("words"), (encore::Records::TextLists{{"y"}}));
}

TEST(Conll, NamesTheSchemesThatMarkEnds) {
  const Dataset second = parse("Mara I-PER\nHolm E-PER\nTove E-PER\nin O\nOslo E-LOC\nBern E-LOC\n");
  EXPECT_EQ(second.scheme, TagScheme::ioe2);
  EXPECT_EQ(second.malformed_tags, 0);
  EXPECT_EQ(second.sentences[0].tags, (Words{"B-PER", "I-PER", "B-PER", "O", "B-LOC", "B-LOC"}));
  const Dataset first = parse("Mara I-PER\nHolm E-PER\nTove I-PER\nin O\nOslo I-LOC\n");
  EXPECT_EQ(first.scheme, TagScheme::ioe1);
  EXPECT_EQ(first.malformed_tags, 0);
  EXPECT_EQ(first.sentences[0].tags, (Words{"B-PER", "I-PER", "B-PER", "O", "B-LOC"}));
  EXPECT_EQ(parse("Mara I-PER\nHolm E-PER\nUlv I-PER\nin O\nOslo E-LOC\n").malformed_message(),
            "1 tag breaks IOE2 and is read as conlleval reads it: I-PER in line 3");
}

TEST(Conll, NamesTheRowsOfAllFiles) {
  const std::vector<encore::InputText> files = {{"a.conll", "Ann\n"}, {"b.conll", "Ann\tB-PER\nleft\tX\n"}};
  const std::string message = message_of<Error>([&] { make({}).read(files, "training set"); });
  EXPECT_NE(message.find("a.conll:1: this row has one column"), std::string::npos) << message;
  EXPECT_NE(message.find("b.conll:2: \"X\" in the last column is not a tag"), std::string::npos) << message;
}

TEST(Conll, RefusesALineOfHeadings) {
  EXPECT_EQ(refusal("Token\tLabel\nOslo\tNOUN\n", {{"label_type", std::string("word")}}),
            "train.conll:1: this row names the columns (\"Token\", \"Label\") and has no token: remove it");
}

}  // namespace
