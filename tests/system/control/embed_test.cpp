// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp embed` with the real worker (cli/embed_verb.cpp, worker/embed_verb.cpp): vectors, neighbours and
// analogies from a trained run, and the rejected calls. The words of messages may change; members of the JSON
// must stay.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class EmbedVerb : public RealWorkerTest {
 protected:
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    sandbox_.write("tiny.toml", tiny_experiment());
    output_of({"run", "tiny.toml"});
  }
  json answer(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), {"embed", "tiny"});
    arguments.emplace_back("--json");
    return json::parse(output_of(arguments, input));
  }
  std::string failure(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"embed"});
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    return output.errors;
  }
};

TEST_F(EmbedVerb, GivesAVectorForEachText) {
  const json vectors = answer({"in Oslo", "Anna lives in Lund"});
  EXPECT_EQ(vectors.at("run"), "tiny");
  EXPECT_EQ(vectors.at("width"), 16);
  ASSERT_EQ(vectors.at("vectors").size(), 2u);
  EXPECT_EQ(vectors.at("vectors")[1].at("text"), "Anna lives in Lund");
  EXPECT_EQ(vectors.at("vectors")[0].at("vector").size(), 16u);
  EXPECT_NE(vectors.at("vectors")[0].at("vector"), vectors.at("vectors")[1].at("vector"));
  const std::string text = output_of({"embed", "tiny", "in Oslo"});
  EXPECT_TRUE(text.starts_with("in Oslo\t")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 16) << "15 between the numbers, one in the text";
  const std::string csv = output_of({"embed", "tiny", "in Oslo", "--csv"});
  EXPECT_TRUE(csv.starts_with("text,v1,v2,")) << csv;
  EXPECT_TRUE(contains(csv, ",v16\r\nin Oslo,")) << csv;
}

TEST_F(EmbedVerb, FindsTheNearestLines) {
  sandbox_.write("lines.txt", "Anna lives in Lund\n\n  \nBerg lives\r\nAnna lives in Lund\nClara\n");
  const json found = answer({"--near", "Anna lives in Lund", "--texts", "lines.txt", "-k", "3"});
  const json& neighbours = found.at("nearest").at(0).at("neighbours");
  ASSERT_EQ(neighbours.size(), 3u);
  EXPECT_EQ(neighbours[0].at("line"), 1);
  EXPECT_EQ(neighbours[1].at("line"), 5) << "equal lines in their order";
  EXPECT_NEAR(neighbours[0].at("similarity").get<double>(), 1.0, 1e-5);
  EXPECT_GT(neighbours[1].at("similarity").get<double>(), neighbours[2].at("similarity").get<double>());
  const std::string input = sandbox_.read("lines.txt");
  EXPECT_EQ(answer({"--near", "Anna lives in Lund", "--texts", "-", "-k", "3"}, input), found);
  const std::string table =
      output_of({"embed", "tiny", "--near", "Clara", "--texts", "lines.txt", "-k", "1"});
  EXPECT_TRUE(contains(table, "nearest to Clara\n  SIMILARITY  LINE  TEXT\n")) << table;
  EXPECT_TRUE(contains(table, "     6  Clara\n")) << table;
  const std::string csv =
      output_of({"embed", "tiny", "--near", "Clara", "--texts", "lines.txt", "-k", "1", "--csv"});
  EXPECT_TRUE(csv.starts_with("query,similarity,line,text\r\nClara,")) << csv;
  EXPECT_TRUE(csv.ends_with(",6,Clara\r\n")) << csv;
  EXPECT_EQ(answer({"--texts", "lines.txt"}).at("vectors").size(), 4u) << "the vectors of the corpus";
}

TEST_F(EmbedVerb, FindsTheNearestWordsWithoutThoseAskedAbout) {
  const json found = answer({"--near", "in", "--near", "lives", "-k", "1000"});
  ASSERT_EQ(found.at("nearest").size(), 2u);
  const json& words = found.at("nearest")[0].at("neighbours");
  EXPECT_EQ(words.size() + 1, found.at("words").get<std::size_t>()) << "all but the word itself";
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_NE(words[i].at("text"), "in");
    EXPECT_FALSE(words[i].contains("line"));
    if (i > 0) {
      EXPECT_GE(words[i - 1].at("similarity").get<double>(), words[i].at("similarity").get<double>());
    }
  }
  const json analogy = answer({"--analogy", "in", "Anna", "lives", "-k", "2"});
  EXPECT_EQ(analogy.at("nearest")[0].at("query"), "in - Anna + lives");
  EXPECT_EQ(analogy.at("nearest")[0].at("neighbours").size(), 2u);
}

TEST_F(EmbedVerb, RefusesWhatHasNoAnswer) {
  EXPECT_TRUE(contains(failure({"tiny", "--near", "\xE4\xB8\xAD\xE5\x9B\xBD"}),
                       "the vocabulary of the run has no tokens for \"\xE4\xB8\xAD\xE5\x9B\xBD\""));
  EXPECT_TRUE(contains(failure({"tiny", "--near", "in", "-k", "0"}), "invalid -k 0: expected at least 1"));
  sandbox_.write("empty.txt", " \n\n");
  EXPECT_TRUE(contains(failure({"tiny", "--near", "in", "--texts", "empty.txt"}),
                       "empty.txt has no line with text: expected one text on each line"));
  EXPECT_TRUE(contains(failure({"tiny", "--texts", "nowhere.txt"}), "nowhere.txt"));
  EXPECT_TRUE(contains(failure({"tiny", "--analogy", "in", "Anna"}), "--analogy takes three words"));
  EXPECT_TRUE(contains(failure({"tiny", "--near", "in", "--analogy", "in", "Anna", "lives"}),
                       "--analogy searches words of the vocabulary"));
  EXPECT_TRUE(contains(failure({"tiny", "in Oslo", "--near", "in"}), "\"in Oslo\" is one argument too many"));
  EXPECT_TRUE(contains(failure({"tiny"}), "exp embed needs a text, or --near"));
  EXPECT_TRUE(contains(failure({"tiny", " "}), "the text \" \" has no tokens"));
  EXPECT_TRUE(contains(failure({"nobody", "in Oslo"}), "nobody"));
}

}  // namespace
}  // namespace encore::system_test
