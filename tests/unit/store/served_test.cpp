// SPDX-License-Identifier: BSD-3-Clause
// Tests merge_served() (store/served.hpp), which `exp monitor` calls to merge the spools of servers into
// rows: repeated and partial merges, closed spools and those in use, damage, and inputs that expire or are
// deleted. Deleted inputs must be gone from the file.
#include "store/served.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>

#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class ServedTest : public testing::StoreTest {
 protected:
  void SetUp() override {
    run_ = store().read_run(add());
    fs::create_directories(spools());
  }
  fs::path spools() { return store().run_folder(run_.id) / served_folder; }
  fs::path spool(const std::string& name) { return spools() / (name + ".spool"); }
  /// Writes a spool of these records that was closed a while ago.
  void write(const std::string& name, const std::vector<std::string>& records) {
    {
      record::SpoolWriter writer(spool(name), 1, run_.id);
      for (const std::string& record : records) writer.event_text(record);
    }
    age(name);
  }
  void age(const std::string& name) {
    fs::last_write_time(spool(name), fs::file_time_type::clock::now() - 1h);
  }
  static std::string texts(const std::string& request, int count = 1, double time = 1.0) {
    std::vector<ServedText> list;
    std::vector<std::string> facts;
    for (int i = 0; i < count; ++i) {
      list.push_back({.request = request, .text = i, .time = time, .seconds = 0.25, .digest = "d"});
      facts.push_back(facts_of(i).json());
    }
    return record_text(list, facts);
  }
  static record::TextFacts facts_of(int i) {
    return {.tokens = 5 + i, .unknown = 1, .confidence = 0.5, .labels = {{"O", 2}}};
  }
  static std::string feedback(const std::string& request, bool correct, std::int64_t text = 0) {
    return record_text(ServedFeedback{.request = request, .text = text, .time = 2.0, .correct = correct});
  }
  static std::string content(const std::string& request, const std::string& words, double expires) {
    return record_text(std::vector<ServedContent>{
        {.request = request, .content = words, .answer = R"({"label":"x"})", .expires = expires}});
  }
  ServedMerge merge(double now = 10.0) { return merge_served(store(), run_, now); }
  std::int64_t rows(const std::string& table) {
    return store().database().integer("SELECT count(*) FROM " + table).value_or(-1);
  }

  RunRow run_;
};

TEST_F(ServedTest, AClosedSpoolIsMergedAndRemoved) {
  write("served-a-1", {texts("a-1", 2), feedback("a-1", true), feedback("a-1", false, 1)});
  const ServedMerge merged = merge();
  EXPECT_EQ(merged.texts, 2);
  EXPECT_EQ(merged.feedback, 2);
  EXPECT_TRUE(merged.problems.empty());
  EXPECT_TRUE(merged.open.empty());
  EXPECT_FALSE(fs::exists(spool("served-a-1")));
  EXPECT_EQ(rows("served_spool"), 0);
  const std::vector<ServedText> read = read_served(store(), run_.number);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].request, "a-1");
  EXPECT_EQ(read[1].text, 1);
  EXPECT_EQ(read[1].seconds, 0.25);
  EXPECT_EQ(read[1].facts, facts_of(1));
  const ServedVerdicts verdicts = read_verdicts(store(), run_.number, 100);
  EXPECT_EQ(verdicts.correct, 1);
  EXPECT_EQ(verdicts.all, 2);
  EXPECT_EQ(read_verdicts(store(), run_.number, 1).all, 1);
  EXPECT_EQ(merge().texts, 0);
}

TEST_F(ServedTest, AnswersForAlertsHaveGroupsAndFieldsInTheOrderOfTime) {
  const record::TextFacts application = {.fields = {{"decide.band", "review"}, {"intent.label", "refund"}}};
  write("served-b-1",
        {record_text({{.request = "b-1", .time = 7.0, .digest = "d", .group = "acme"}}, {application.json()}),
         record_text({{.request = "b-2", .time = 3.0, .digest = "d", .group = "bolt"}}, {facts_of(0).json()}),
         texts("b-3", 1, 5.0)});
  EXPECT_EQ(merge().texts, 3);
  std::vector<ServedAnswer> seen;
  ServedPlace place;
  EXPECT_TRUE(
      visit_served(store(), run_.number, place, [&](const ServedAnswer& answer) { seen.push_back(answer); }));
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].request, "b-2");
  EXPECT_EQ(seen[0].group, "bolt");
  EXPECT_EQ(seen[0].labels, facts_of(0).labels);
  EXPECT_TRUE(seen[0].fields.empty());
  EXPECT_EQ(seen[1].request, "b-3");
  EXPECT_EQ(seen[1].group, "");
  EXPECT_EQ(seen[2].request, "b-1");
  EXPECT_EQ(seen[2].group, "acme");
  EXPECT_TRUE(seen[2].labels.empty());
  EXPECT_EQ(seen[2].fields, application.fields);
  // The test of shifts sees labels alone, as if there were no group.
  const std::vector<ServedText> read = read_served(store(), run_.number);
  EXPECT_EQ(read[1].facts.labels, facts_of(0).labels);
  EXPECT_TRUE(read[0].facts.labels.empty());
}

TEST_F(ServedTest, AMergeWithoutNewRecordsWritesNothing) {
  write("served-w-1", {texts("w-1", 2, 5.0)});
  EXPECT_EQ(merge().texts, 2);
  const auto changes = store().database().integer("SELECT total_changes()");
  EXPECT_EQ(merge().texts, 0);
  EXPECT_EQ(store().database().integer("SELECT total_changes()"), changes);
}

TEST_F(ServedTest, OnlyNewAnswersAreVisited) {
  std::vector<std::string> seen;
  ServedPlace place;
  const auto visit = [&] {
    seen.clear();
    return visit_served(store(), run_.number, place,
                        [&](const ServedAnswer& answer) { seen.push_back(answer.request); });
  };
  EXPECT_TRUE(visit());
  EXPECT_TRUE(seen.empty());
  write("served-n-1", {texts("n-1", 1, 5.0), texts("n-2", 1, 3.0)});
  merge();
  EXPECT_TRUE(visit());
  EXPECT_EQ(seen, (std::vector<std::string>{"n-2", "n-1"}));
  EXPECT_TRUE(visit());
  EXPECT_TRUE(seen.empty());
  write("served-n-2", {texts("n-3", 1, 4.0)});
  merge();
  EXPECT_TRUE(visit());
  EXPECT_EQ(seen, std::vector<std::string>{"n-3"});

  // The number of the row that is removed here is given to the next one.
  forget_served(store(), run_.number, "n-3");
  write("served-n-3", {texts("n-4", 1, 6.0)});
  merge();
  EXPECT_FALSE(visit());
  EXPECT_TRUE(seen.empty());
  place = {};
  EXPECT_TRUE(visit());
  EXPECT_EQ(seen, (std::vector<std::string>{"n-2", "n-1", "n-4"}));
}

TEST_F(ServedTest, TwoMergesAtOnceTakeEverythingOnce) {
  constexpr int spools_written = 60;
  for (int i = 0; i < spools_written; ++i)
    write("served-" + std::to_string(i), {texts("r" + std::to_string(i), 2)});
  std::atomic<bool> go{false};
  const auto merge_elsewhere = [&] {
    const std::unique_ptr<Store> other = std::make_unique<Store>(path(), OpenMode::write);
    while (!go) {
    }
    merge_served(*other, run_, 10.0);
  };
  std::vector<std::future<void>> both;
  for (int i = 0; i < 2; ++i) both.push_back(std::async(std::launch::async, merge_elsewhere));
  go = true;
  for (std::future<void>& one : both) EXPECT_NO_THROW(one.get());
  EXPECT_EQ(read_served(store(), run_.number).size(), 2U * spools_written);
  merge();
  EXPECT_EQ(rows("served_spool"), 0);
  EXPECT_TRUE(fs::is_empty(spools()));
}

TEST_F(ServedTest, ASpoolInUseIsFollowed) {
  record::SpoolWriter writer(spool("served-a-1"), 1, run_.id);
  writer.event_text(texts("a-1"));
  age("served-a-1");
  ServedMerge merged = merge();
  EXPECT_EQ(merged.texts, 1);
  EXPECT_EQ(merged.open, std::vector<std::string>{"served-a-1.spool"});
  writer.event_text(texts("a-2"));
  EXPECT_EQ(merge().texts, 1) << "the new inputs";
  EXPECT_EQ(merge().texts, 0);
  EXPECT_TRUE(fs::exists(spool("served-a-1")));
}

TEST_F(ServedTest, LaterFeedbackCountsAndFeedbackWithoutAnAnswerDoesNot) {
  write("served-a-1", {texts("a-1"), feedback("a-1", true), feedback("a-1", false), feedback("a-9", true)});
  EXPECT_EQ(merge().feedback, 2);
  const ServedVerdicts verdicts = read_verdicts(store(), run_.number, 100);
  EXPECT_EQ(verdicts.correct, 0);
  EXPECT_EQ(verdicts.all, 1);
}

TEST_F(ServedTest, IntactRecordsOfADamagedSpoolAreMerged) {
  write("served-a-1", {texts("a-1"), texts("a-2"), texts("a-3")});
  std::string bytes = testing::read_bytes(spool("served-a-1").string());
  bytes[bytes.find("a-2")] ^= 1;
  std::ofstream(spool("served-a-1"), std::ios::binary) << bytes;
  age("served-a-1");
  const ServedMerge merged = merge();
  EXPECT_EQ(merged.texts, 2);
  ASSERT_EQ(merged.problems.size(), 1U);
  EXPECT_NE(merged.problems[0].find("checksum"), std::string::npos) << merged.problems[0];
}

TEST_F(ServedTest, ATornEndIsNotAProblem) {
  write("served-a-1", {texts("a-1"), texts("a-2")});
  fs::resize_file(spool("served-a-1"), fs::file_size(spool("served-a-1")) - 5);
  age("served-a-1");
  const ServedMerge merged = merge();
  EXPECT_EQ(merged.texts, 1);
  EXPECT_TRUE(merged.problems.empty());
}

TEST_F(ServedTest, InvalidRecordsAreReportedAndSkipped) {
  write("served-a-1",
        {"[]", R"({"texts":[{"request":"x"}]})", R"({"texts":7})",
         R"({"texts":[{"request":"x","text":0,"time":1,"seconds":1,"weights":"d","facts":{"pieces":-1}}]})",
         R"({"feedback":{"request":"x"}})", R"({"contents":[{"request":7,"text":0,"expires":99}]})",
         std::string(300, '['), texts("a-1")});
  const ServedMerge merged = merge();
  EXPECT_EQ(merged.texts, 1);
  EXPECT_GE(merged.problems.size(), 6U);
}

TEST_F(ServedTest, TheSpoolOfAnotherRunAndInvalidFilesAreNotRead) {
  { record::SpoolWriter(spool("served-a-1"), 1, "9999999999").event_text(texts("a-1")); }
  age("served-a-1");
  std::ofstream(spool("served-b-1")) << "garbage that is long enough to be a head of a spool";
  age("served-b-1");
  const ServedMerge merged = merge();
  EXPECT_EQ(merged.texts, 0);
  EXPECT_EQ(merged.problems.size(), 2U);
}

TEST_F(ServedTest, InputsExpireInSpoolsAndInRows) {
  write("texts-a-1", {content("a-1", "Anna in Lund", 20.0), content("a-2", "Berg in Oslo", 5.0)});
  merge(10.0);
  EXPECT_EQ(store().database().text("SELECT content FROM served_content"), "Anna in Lund");
  EXPECT_EQ(rows("served_content"), 1);
  merge(20.0);
  EXPECT_EQ(rows("served_content"), 0);
}

TEST_F(ServedTest, ForgottenInputsAreGoneFromTheFile) {
  write("texts-a-1", {content("a-1", "a secret of Anna", 99.0)});
  write("served-a-1", {texts("a-1", 2), texts("a-2"), feedback("a-1", true)});
  merge();
  EXPECT_EQ(forget_served(store(), run_.number, "a-1"), 2);
  EXPECT_EQ(rows("served"), 1);
  EXPECT_EQ(rows("served_feedback"), 0);
  EXPECT_EQ(rows("served_content"), 0);
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
    if (entry.is_regular_file()) {
      EXPECT_EQ(testing::read_bytes(entry.path().string()).find("secret of Anna"), std::string::npos)
          << entry.path();
    }
  EXPECT_EQ(forget_served(store(), run_.number, "a-1"), 0);
  write("served-b-1", {feedback("a-1", true)});
  merge();
  EXPECT_EQ(rows("served_feedback"), 0) << "and does not come back";
}

}  // namespace
}  // namespace encore::store
