// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp app new` with the real worker: from a user's own file to answered requests, and what is refused.
// The files that it writes are run as they are, with fewer epochs. Words of messages may change; the options
// and the members of the JSON must stay. The rules of proposal and counts are tested in tests/unit/survey.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

constexpr int records = 800;

std::string text_of(int i) {
  const char* words[] = {"invoice", "parcel", "password"};
  const char* asks[] = {"please help with the", "where is, or was, my", "a question about the", "the"};
  return std::string(asks[i % 4]) + " " + words[i % 3] + " of customer " + std::to_string(i);
}
std::string label_of(int i) {
  const char* labels[] = {"billing", "delivery", "account"};
  return labels[i % 3];
}

/// A file as spreadsheets write it: a mark in front, CRLF, quotation marks, other columns, two duplicates.
std::string tickets() {
  std::string text = "\xEF\xBB\xBFid,created,message,kind\r\n";
  for (int i = 0; i < records; ++i)
    text += std::to_string(i) + ",2026-01-31,\"" + text_of(i) + (i % 7 == 0 ? "\r\n\"\"thanks\"\"" : "") +
            "\"," + label_of(i) + "\r\n";
  return text + "801,2026-02-01,\"" + text_of(1) + "\"," + label_of(1) + "\r\n802,2026-02-01,\"" +
         text_of(1) + "\",billing\r\n";
}

std::string json_tickets() {
  std::string text;
  for (int i = 0; i < records; ++i)
    text +=
        json{{"key", i}, {"fields", {{"body", text_of(i)}, {"kind", {{"name", label_of(i)}}}}}}.dump() + "\n";
  return text;
}

class AppNew : public RealWorkerTest {
 protected:
  AppNew() { sandbox_.write("tickets.csv", tickets()); }

  json made(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"app", "new"});
    arguments.emplace_back("--json");
    return json::parse(output_of(arguments));
  }
  /// Trains for few epochs, as a user may write.
  void run_quickly(const std::string& folder) const {
    std::string model = sandbox_.read(folder + "/model.toml");
    const std::size_t at = model.find("epochs = ");
    ASSERT_NE(at, std::string::npos) << model;
    model.replace(at, model.find(' ', at + 9) - at, "epochs = 8");
    sandbox_.write(folder + "/model.toml", model);
    output_of({"run", folder + "/app.toml", "-q"});
  }
  bool exists(const std::string& file) const { return std::filesystem::exists(sandbox_.folder() / file); }
};

TEST_F(AppNew, GoesFromATableToAnsweredRequests) {
  const std::string shown = output_of({"app", "new", "desk", "--from", "tickets.csv"});
  for (const char* part :
       {"802 records", "3 classes", "exp run desk/app.toml", "1 record repeats", "1 text has several"})
    EXPECT_TRUE(contains(shown, part)) << part << " is missing in\n" << shown;
  run_quickly("desk");
  EXPECT_EQ(sandbox_.one("SELECT state || ' ' || kind FROM run WHERE name = 'desk'"),
            "completed application");
  EXPECT_EQ(sandbox_.one("SELECT state || ' ' || kind FROM run WHERE name = 'desk-model'"),
            "completed training");
  EXPECT_FALSE(contains(output_of({"logs", "desk"}), "knows"))
      << "the model was trained on no record of fit and test";

  sandbox_.write("new.csv",
                 "message,who\r\n\"where is my\r\nparcel, please\",Anna\r\nmy invoice,\"B, C\"\r\n");
  EXPECT_EQ(output_of({"predict", "desk", "--file", "new.csv", "--format", "tsv", "-o", "answered.csv"}), "");
  const std::string answered = sandbox_.read("answered.csv");
  EXPECT_TRUE(answered.starts_with("message,who,predicted_model.label,")) << answered;
  EXPECT_TRUE(contains(answered, "\r\n\"where is my\r\nparcel, please\",Anna,")) << answered;
  EXPECT_TRUE(contains(answered, "\r\nmy invoice,\"B, C\",")) << answered;
  EXPECT_EQ(answered, output_of({"predict", "desk", "--file", "new.csv", "--format", "tsv"}));

  sandbox_.write("other.csv", "text,who\r\nwhere is my parcel,Anna\r\n");
  const runner::ProgramOutput refused =
      sandbox_.exp({"predict", "desk", "--file", "other.csv", "--format", "tsv", "-o", "refused.csv"});
  EXPECT_NE(refused.end.exit_code, 0);
  EXPECT_TRUE(contains(refused.errors, "no column is called \"message\"")) << refused.errors;
  for (const auto& entry : std::filesystem::directory_iterator(sandbox_.folder()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("refused.csv")) << entry.path();
}

TEST_F(AppNew, GoesFromJsonLinesToAnsweredRequests) {
  sandbox_.write("tickets.jsonl", json_tickets());
  const json found = made({"nested", "--from", "tickets.jsonl", "--folder", "apps/nested"});
  EXPECT_EQ(found.at("found").at("text").at("name"), "fields.body");
  EXPECT_EQ(found.at("found").at("label").at("name"), "fields.kind.name");
  EXPECT_EQ(found.at("folder"), "apps/nested");
  run_quickly("apps/nested");
  sandbox_.write("new.jsonl", "{\"fields\": {\"body\": \"where is my parcel\"}, \"key\": 7}\n");
  output_of({"predict", "nested", "--file", "new.jsonl", "--format", "jsonl", "-o", "answered.jsonl"});
  const json answered = json::parse(sandbox_.read("answered.jsonl"));
  EXPECT_EQ(answered.at("fields").at("body"), "where is my parcel");
  EXPECT_TRUE(answered.contains("predicted_decide.band")) << answered;
}

TEST_F(AppNew, PrintsAllFindingsAsJson) {
  sandbox_.write("test.csv", "id,created,message,kind\n1,x,\"" + text_of(5) + "\"," + label_of(5) +
                                 "\n2,x,something else here," + label_of(1) + "\n");
  const json answer = made(
      {"desk", "--from", "tickets.csv", "--test", "test.csv", "--error", "0.1", "--out-of-scope", "account"});
  const json& found = answer.at("found").at("found");
  EXPECT_EQ(found.at("records"), records + 2);
  EXPECT_EQ(found.at("duplicates"), 1);
  EXPECT_EQ(found.at("conflicts"), 1);
  EXPECT_EQ(answer.at("found").at("test").at("leaks"), 1);
  EXPECT_EQ(answer.at("split").at("test"), 0.0);
  EXPECT_GT(answer.at("promise").at("most_errors").get<int>(), 0);
  EXPECT_EQ(answer.at("files"), json({"model.toml", "app.toml"}));
  EXPECT_EQ(json::parse(output_of({"plan", "desk/app.toml", "--json"})).at("runs").size(), 2U);
}

TEST_F(AppNew, StartsFromARunOrAFolder) {
  sandbox_.write("tiny.toml", tiny_experiment());
  output_of({"run", "tiny.toml", "-q"});
  made({"desk", "--from", "tickets.csv", "--base", "tiny"});
  EXPECT_TRUE(contains(sandbox_.read("desk/model.toml"), "from = { run = \"tiny\" }"));
  EXPECT_EQ(json::parse(output_of({"plan", "desk/app.toml", "--json"})).at("runs").size(), 2U);
  EXPECT_TRUE(contains(refusal_of({"app", "new", "other", "--from", "tickets.csv", "--base", "apps"}),
                       "invalid --base \"apps\": expected a run"));
  std::filesystem::create_directory(sandbox_.folder() / "model");
  EXPECT_TRUE(contains(refusal_of({"app", "new", "other", "--from", "tickets.csv", "--base", "model"}),
                       "the folder has no config.json"));
}

TEST_F(AppNew, RefusesFilesWithPlaceAndRemedy) {
  struct Case {
    const char* content;
    const char* message;
  };
  const Case cases[] = {
      {"", "bad.csv: the file is empty"},
      {"message,kind\nno \xE9,a\n", "bad.csv:2: the file is not UTF-8; find its encoding"},
      {"message,kind\nthe one,a\nthe other,a\nand this,a\n",
       "no column looks like a label whose values repeat"},
      {"no parcel,delivery\nmy invoice,billing\nthe courier,delivery\na refund,billing\n",
       "bad.csv:1: the first line does not name the columns: \"delivery\" is also a value of its column"},
      {"[\n{\"text\": 1}\n]\n", "is a JSON array"},
  };
  for (const Case& one : cases) {
    sandbox_.write("bad.csv", one.content);
    const std::string message = refusal_of({"app", "new", "desk", "--from", "bad.csv"});
    EXPECT_TRUE(contains(message, one.message)) << one.message << " is not in " << message;
    EXPECT_FALSE(exists("desk"));
  }
  const auto refused = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"app", "new", "desk", "--from", "tickets.csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return refusal_of(arguments);
  };
  EXPECT_TRUE(contains(refused({"--text", "mesage"}), "(--text); did you mean \"message\"?"));
  EXPECT_TRUE(contains(refused({"--label", "id"}), "802 different values in 802 records: expected classes"));
  EXPECT_TRUE(contains(refused({"--out-of-scope", "acount"}), "did you mean \"account\"?"));
  EXPECT_TRUE(contains(refusal_of({"app", "new", "desk", "--from", "absent.csv"}),
                       "cannot read the file absent.csv"));
  EXPECT_FALSE(exists("desk"));
}

TEST_F(AppNew, ListsTheCandidatesWhereItCannotDecide) {
  std::string text = "message,priority,band\n";
  for (int i = 0; i < 60; ++i)
    text += "please help with order " + std::to_string(i) + ",p" + std::to_string(i % 3) + ",b" +
            std::to_string(i % 2) + "\n";
  sandbox_.write("two.csv", text);
  const runner::ProgramOutput output = sandbox_.exp({"app", "new", "desk", "--from", "two.csv", "--json"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "several columns may be the label; name it with --label COLUMN"));
  EXPECT_TRUE(contains(output.errors, "\"band\": 2 values, the rarest in 30 records")) << output.errors;
  EXPECT_EQ(json::parse(output.output).at("found").at("label").at("candidates"), json({"priority", "band"}));
  EXPECT_FALSE(exists("desk"));
  output_of({"app", "new", "desk", "--from", "two.csv", "--label", "band"});
  EXPECT_TRUE(
      contains(refusal_of({"app", "new", "desk", "--from", "two.csv", "--label", "band"}), "desk exists"));
}

}  // namespace
}  // namespace encore::system_test
