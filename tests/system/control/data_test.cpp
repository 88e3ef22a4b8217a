// SPDX-License-Identifier: BSD-3-Clause
// Tests data settings with the real worker: sets that are shares of one list of files ([data] split,
// stratify), and a length that follows from the training set; from `exp run` to what is shown, verified,
// evaluated and predicted, and what is rejected before anything starts. tasks/data_split.hpp cuts the sets; a
// set of the same settings must always get the same examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class OneListOfFiles : public RealWorkerTest {
 protected:
  static std::string experiment(const std::string& data) {
    std::string text = tiny_experiment("cut");
    const std::size_t begin = text.find("train = "), end = text.find("max_length = 32");
    return text.replace(begin, end + std::string("max_length = 32").size() - begin, data);
  }
  const std::string cut_ =
      "train = [\"train.conll\", \"dev.conll\", \"more.conll\"]\n"
      "split = [0.6, 0.2, 0.2]\nmax_length = \"90%\"";
};

TEST_F(OneListOfFiles, IsCutTrainedShownVerifiedAndAsked) {
  std::string more;  // no two alike: equal sentences go to one set
  for (int i = 0; i < 64; ++i) {
    more += "Anna\tB-PER\n";
    for (int bit = 1; bit < 64; bit *= 2) more += (i & bit) != 0 ? "lives\tO\n" : "in\tO\n";
    more += "\n";
  }
  sandbox_.write("more.conll", more);
  sandbox_.write("cut.toml", experiment(cut_));
  output_of({"run", "cut.toml"});
  const std::string shown = output_of({"show", "cut"});
  EXPECT_TRUE(contains(shown, "split off train by data.split")) << shown;
  EXPECT_TRUE(contains(shown, "data.max_length is ")) << shown;
  const json data = json::parse(output_of({"show", "cut", "--json"})).at("data");
  for (const char* set : {"train", "dev", "test"}) EXPECT_GT(data.at(set).at("examples"), 0) << data;
  EXPECT_TRUE(data.contains("train.3") && !data.at("dev").contains("path")) << data;
  const std::int64_t length = data.at("train").at("max_length").get<std::int64_t>();
  EXPECT_TRUE(length >= 3 && length <= 32) << length;
  EXPECT_TRUE(contains(output_of({"logs", "cut"}), "data.max_length = \"90%\" is " + std::to_string(length) +
                                                       ": the smallest length that fits this share"));
  EXPECT_TRUE(contains(output_of({"verify", "cut"}), "equal"));
  const json evaluation = json::parse(output_of({"evaluate", "cut", "test.conll", "--json"}));
  EXPECT_TRUE(evaluation.at("measures").contains("f1")) << evaluation;
  EXPECT_FALSE(output_of({"predict", "cut", "Anna lives in Lund"}).empty());
  EXPECT_TRUE(contains(output_of({"run", "cut.toml"}), "nothing to do"));
}

TEST_F(OneListOfFiles, RefusesASetWithoutExamples) {
  sandbox_.write("two.conll", "Anna B-PER\n\nLund B-LOC\n");
  const std::string refused = refusal(experiment("train = \"two.conll\"\nsplit = [0.98, 0.01, 0.01]"));
  EXPECT_TRUE(contains(refused,
                       "two.conll: data.split leaves a set without examples: 2 for the training set, 0 "
                       "for the development set, 0 for the test set; give it more examples"))
      << refused;
}

/// The form of many public data sets: a training file and a test file, but no development file.
TEST_F(OneListOfFiles, ADevelopmentSetIsCutBesideATestFile) {
  std::string train;
  for (int i = 0; i < 40; ++i)
    train += "text " + std::to_string(i) + (i % 4 == 0 ? " good\tpositive\n" : " bad\tnegative\n");
  sandbox_.write("train.tsv", train);
  sandbox_.write("test.tsv", "text 90 good\tpositive\ntext 91 bad\tnegative\n");
  std::string text = experiment(
      "train = \"train.tsv\"\ntest = \"test.tsv\"\nsplit = [0.8, 0.2]\nstratify = true\nmax_length = 32");
  replace_all(text, "\"ner\"", "\"classify\"");
  replace_all(text, "\"conll\"", "\"tsv\"");
  sandbox_.write("cut.toml", text);
  output_of({"run", "cut.toml"});
  const json data = json::parse(output_of({"show", "cut", "--json"})).at("data");
  EXPECT_EQ(data.at("train").at("examples"), 32) << data;
  EXPECT_EQ(data.at("dev").at("examples"), 8) << data;
  EXPECT_EQ(data.at("test").at("examples"), 2) << data;
  EXPECT_TRUE(contains(output_of({"verify", "cut"}), "equal"));
  EXPECT_TRUE(contains(output_of({"run", "cut.toml"}), "nothing to do"));
  output_of({"report", "cut", "-o", "cut.html"});
}

/// Many labels, equal texts, an experiment with a `base` that has a dev file, and seeds: every run has the
/// same development set, with a tenth of each label.
TEST_F(OneListOfFiles, ATenthOfEachLabelIsTheSameForEverySeed) {
  constexpr int labels = 40, texts_of_label = 20, twice = 5;
  std::string train;
  for (int label = 0; label < labels; ++label)
    for (int i = 0; i < texts_of_label; ++i) {
      const std::string row = "text " + std::to_string(label) + " " + std::to_string(i) + "\tlabel " +
                              std::to_string(label) + "\n";
      train += i < twice ? row + row : row;
    }
  const std::string test = "text 90 1\tlabel 1\ntext 91 2\tlabel 2\n";
  sandbox_.write("train.tsv", train);
  sandbox_.write("dev.tsv", test);
  sandbox_.write("test.tsv", test);
  std::string base =
      experiment("train = \"train.tsv\"\ndev = \"dev.tsv\"\ntest = \"test.tsv\"\nmax_length = 32");
  replace_all(base, "\"ner\"", "\"classify\"");
  replace_all(base, "\"conll\"", "\"tsv\"");
  sandbox_.write("whole.toml", base);
  sandbox_.write("cut.toml",
                 "base = \"whole.toml\"\nname = \"cut\"\nseeds = [1, 2]\n"
                 "[data]\nsplit = [0.9, 0.1]\nstratify = true\n");
  output_of({"run", "cut.toml", "-q"});
  const auto dev_of = [&](const std::string& run) {
    std::vector<std::pair<std::string, std::string>> rows;  // label and text
    const json shown = json::parse(output_of({"show", run, "--json"}));
    std::ifstream lines(shown.at("folder").get<std::string>() + "/predictions/dev.jsonl");
    for (std::string line; std::getline(lines, line);) {
      const json row = json::parse(line);
      rows.emplace_back(row.at("truth"), row.at("text"));
    }
    EXPECT_EQ(rows.size(), shown.at("data").at("dev").at("examples")) << shown.at("data");
    EXPECT_EQ(shown.at("data").at("train").at("examples"),
              labels * (texts_of_label + twice) - static_cast<std::int64_t>(rows.size()));
    EXPECT_EQ(shown.at("data").at("test").at("examples"), 2);
    return rows;
  };
  const auto dev = dev_of("cut-s1");
  EXPECT_EQ(dev, dev_of("cut-s2"));
  EXPECT_EQ(sandbox_.read("test.tsv"), test);
  std::map<std::string, std::set<std::string>> texts;
  std::int64_t doubled = 0;  // a text that is twice in the file is twice in one set
  for (const auto& [label, text] : dev) doubled += texts[label].insert(text).second ? 0 : 1;
  for (const auto& [label, of_label] : texts) EXPECT_EQ(of_label.size(), 2U) << label;
  EXPECT_EQ(texts.size(), labels);
  EXPECT_GT(doubled, 0);
  for (const auto& [label, of_label] : texts)
    for (const std::string& text : of_label) {
      const std::string row = text + "\t" + label + "\n";
      const std::size_t first = train.find(row);
      const bool in_file_twice = train.find(row, first + 1) != std::string::npos;
      EXPECT_EQ(std::ranges::count(dev, std::pair(label, text)), in_file_twice ? 2 : 1) << text;
    }
}

}  // namespace
}  // namespace encore::system_test
