// SPDX-License-Identifier: BSD-3-Clause
// Tests applications that summarize documents (plugins/steps/summary) with the real worker: sentences that
// the vectors of a small model choose, a summary that another model writes, and summaries that people rate in
// a review queue. The models are trained first, on a few examples. Names of fields and measures are stored
// and must stay.
#include <gtest/gtest.h>

#include <sstream>

#include <nlohmann/json.hpp>

#include "support/translating_experiment.hpp"
#include "system/control/serving.hpp"
#include "system/control/translated_days.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

constexpr const char* names[] = {"anna", "bo", "cleo", "dan", "eva"};
constexpr const char* places[] = {"lund", "oslo", "rome", "bern"};

constexpr const char* picking = R"(name = "trips"
[app]
steps = ["parts", "summary"]
[app.step.parts]
type = "split"
[app.step.summary]
type = "extractive_summary"
model = { experiment = "encoder.toml" }
sentences = 1
[data]
type = "jsonl"
label_key = ""
answers_key = "summary"
dev = "trips.jsonl"
test = "trips.jsonl"
)";

class Summaries : public Serve {
 protected:
  Summaries() {
    std::string trips, pairs, pairs_dev, sources;
    for (int i = 0; i < 60; ++i) {
      const std::string name = names[i % 5], place = places[i % 4], day = std::to_string(i % 28 + 1);
      const std::string trip = name + " went to " + place + " on day " + day + ".";
      trips +=
          json{{"text", "Hello all. Ä " + trip + "\nIt was late."}, {"summary", "Ä " + trip}}.dump() + "\n";
      (i < 48 ? pairs : pairs_dev) += name + " went to " + place + "\twhere is " + name + "\n";
      sources += json{{"source", trip}, {"target", name + " " + place}}.dump() + "\n";
    }
    sandbox_.write("trips.jsonl", trips);
    sandbox_.write("pairs.tsv", pairs);
    sandbox_.write("pairs_dev.tsv", pairs_dev);
    sandbox_.write("sources.jsonl", sources);
    std::string encoder = tiny_experiment("encoder");
    replace_all(encoder, "\"ner\"", "\"embed\"");
    replace_all(encoder, "\"conll\"", "\"tsv\"\ntext2_column = \"2\"\nlabel_column = \"\"");
    replace_all(encoder, "train.conll", "pairs.tsv");
    replace_all(encoder, "dev.conll", "pairs_dev.tsv");
    replace_all(encoder, "test = \"test.conll\"\n", "");
    replace_all(encoder, "\"linear\"", "\"embedding\"");
    sandbox_.write("encoder.toml", encoder);
    sandbox_.write("trips.toml", picking);
  }
  void SetUp() override { RealWorkerTest::SetUp(); }  // without the run that Serve trains

  double measure(const std::string& name) const {
    return std::stod(
        sandbox_.one("SELECT value FROM curve WHERE run = 'trips' AND metric = 'test/summary." + name + "'"));
  }
};

TEST_F(Summaries, AreSentencesWithTheirPlaces) {
  output_of({"run", "trips.toml", "-q"});
  EXPECT_NE(output_of({"logs", "trips"}).find("summary: ROUGE-L on 30 documents: lead 0.00"),
            std::string::npos);
  EXPECT_EQ(measure("rouge_l"), 1.0) << "the second sentence is the summary, and that can be learned";
  EXPECT_EQ(measure("words"), 8.0);
  const std::string text = "Hello all. Ä dan went to rome on day 3. It was late.";
  const json line = json::parse(output_of({"predict", "trips", "--json", text}));
  EXPECT_EQ(line.at("text"), text);
  EXPECT_EQ(line.at("summary.text"), "Ä dan went to rome on day 3.");
  EXPECT_EQ(
      line.at("summary.sentences"),
      json::array({{{"type", ""}, {"text", "Ä dan went to rome on day 3."}, {"start", 11}, {"end", 39}}}));
  EXPECT_EQ(line.at("summary.scores").size(), 1U);
  EXPECT_FALSE(line.contains("parts.texts")) << "a later step reads them: " << line;
  EXPECT_EQ(output_of({"predict", "trips", text}), "Ä dan went to rome on day 3.\t" + text + "\n");

  sandbox_.write("lines.txt", text + "\n\n" + text + " Bye.\n");
  std::string alone = output_of({"predict", "trips", "--json", text});
  alone += output_of({"predict", "trips", "--json", ""});
  alone += output_of({"predict", "trips", "--json", text + " Bye."});
  EXPECT_EQ(output_of({"predict", "trips", "--json", "--file", "lines.txt"}), alone);
  EXPECT_EQ(json::parse(output_of({"verify", "trips", "--json"})).at("outcome"), "equal");

  output_of({"run", "trips.toml", "-q", "--name", "first", "-S", "app.step.summary.method=lead"});
  const json compared =
      json::parse(output_of({"compare", "trips", "first", "--metric", "test/summary.rouge_l", "--json"}));
  EXPECT_LT(compared.at("pairs")[0].at("examples").at("p").get<double>(), 0.01) << compared;
}

TEST_F(Summaries, MayBeLongerThanTheModelReads) {
  output_of({"run", "trips.toml", "-q"});
  std::string text;
  for (int i = 0; i < 200; ++i) text += "bo went to oslo on day " + std::to_string(i) + ". ";
  const runner::ProgramOutput output = sandbox_.exp({"predict", "trips", "--json", text});
  EXPECT_EQ(output.end.exit_code, 0);
  EXPECT_EQ(output.errors, "") << "each sentence is short, so the model leaves nothing out";
}

TEST_F(Summaries, AreWrittenByAModelInRounds) {
  write_translated_days(sandbox_);
  std::string writer = testing::translating_experiment({.task = "max_pieces = 1\n"});
  replace_all(writer, "\"translate\"", "\"summarize\"");
  sandbox_.write("writer.toml", writer);
  sandbox_.write("days.jsonl", json{{"text", "monday\nfriday"}, {"summary", "Montag"}}.dump() + "\n");
  std::string application = picking;
  replace_all(application, "extractive_summary", "abstractive_summary");
  replace_all(application, "encoder.toml", "writer.toml");
  replace_all(application, "sentences = 1", "segment_words = 3");
  replace_all(application, "\"split\"", "\"split\"\nunit = \"line\"");
  replace_all(application, "trips.jsonl", "days.jsonl");
  sandbox_.write("trips.toml", application);
  output_of({"run", "trips.toml", "-q"});
  const auto written_for = [&](const std::string& source) {
    return json::parse(output_of({"predict", "days", "--json", source})).at("summary").get<std::string>();
  };
  sandbox_.write("long.jsonl", json{{"text", "monday tuesday\nfriday\nthursday monday"}}.dump() + "\n" +
                                   json{{"text", "tuesday"}}.dump() + "\n");
  std::istringstream lines(output_of({"predict", "trips", "--file", "long.jsonl", "--format", "jsonl"}));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const json long_one = json::parse(line);
  const std::string first = written_for("monday tuesday friday"), second = written_for("thursday monday");
  ASSERT_FALSE(first.empty() || second.empty());
  EXPECT_EQ(long_one.at("predicted_summary.parts"), json::array({first, second}));
  EXPECT_EQ(long_one.at("predicted_summary.rounds"), 2);
  EXPECT_EQ(long_one.at("predicted_summary.text"), written_for(first + " " + second));
  ASSERT_TRUE(std::getline(lines, line));
  const json short_one = json::parse(line);
  EXPECT_EQ(short_one.at("predicted_summary.parts"), json::array());
  EXPECT_EQ(short_one.at("predicted_summary.rounds"), 1);
  EXPECT_EQ(short_one.at("predicted_summary.text"), written_for("tuesday"));
  EXPECT_EQ(json::parse(output_of({"verify", "trips", "--json"})).at("outcome"), "equal");
}

TEST_F(Summaries, AreRatedByTwoPeople) {
  std::string application = picking;
  replace_all(application, "sentences = 1", "sentences = 1\nrated = true\nmethod = \"lead\"");
  sandbox_.write("trips.toml", application);
  output_of({"run", "trips.toml", "-q"});
  output_of({"review", "new", "ratings.queue", "--app", "trips", "--keep-texts", "1", "--opinions", "2",
             "--label", "1", "--label", "2", "--label", "3"});
  serve({"--review", "ratings.queue"}, "trips");
  const HttpResponse answered = predict({"One. Two.", "Three.\nFour."});
  ASSERT_EQ(answered.status, 200) << answered.body;
  const json list = json::parse(output_of({"review", "ls", "ratings.queue", "--json"})).at("items");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].at("text"), "One. Two.\n\nSummary: One.");
  EXPECT_EQ(list[1].at("text"), "Three.\nFour.\n\nSummary: Three.");
  EXPECT_EQ(list[0].at("proposed"), "");
  for (const json& item : list)
    for (const char* person : {"anna", "bo"})
      output_of(
          {"review", "decide", "ratings.queue", item.at("id"), item == list[0] ? "1" : "3", "--by", person});
  EXPECT_NE(output_of({"review", "report", "ratings.queue"}).find("two opinions, kappa"), std::string::npos);
}

}  // namespace
}  // namespace encore::system_test
