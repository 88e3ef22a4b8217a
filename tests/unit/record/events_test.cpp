// SPDX-License-Identifier: BSD-3-Clause
// Tests the events of a spool (record/events.hpp): every event is read back as it was written, missing or
// mistyped members are rejected by name, and events of earlier versions are still read. Stored spools contain
// the old forms below, which must stay readable.
#include "record/events.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

namespace encore::record {
namespace {

using nlohmann::json;

/// Returns one event of each kind with a value in every member.
std::vector<Event> samples() {
  const SetFacts facts{.examples = 10,
                       .tokens = 120,
                       .longest = 31,
                       .unknown_tokens = 2,
                       .lengths = {.width = 2, .counts = {3, 7}},
                       .labels = {{"B-PER", 4}, {"O", 90}},
                       .counts = {{"cut words", 5}, {"cut sentences", 1}}};
  return {
      Started{.numeric_environment = JsonText(nlohmann::json{{"backend", "openmp"}}),
              .host = JsonText(nlohmann::json{{"name", "here"}}),
              .build = JsonText(nlohmann::json{{"version", "1"}}),
              .plugins = {{.name = "p", .version = "1", .sha256 = "ab", .fingerprint = "f", .file = "p.so"}},
              .threads = 2,
              .pinning = "2 threads, not pinned",
              .parameters = 12,
              .parameter_parts = {{.part = "head", .parameters = 12}},
              .parameter_layers = {{"head", 12}},
              .vocabulary_size = 600,
              .labels = {"O", "B-PER"},
              .data = {{"train", facts}}},
      Logged{.level = LogLevel::warning, .text = "quote \" and \n newline"},
      Progressed{.step = 1,
                 .total_steps = 9,
                 .epoch = 1,
                 .loss = 0.1,
                 .learning_rate = 1e-3,
                 .tokens_per_second = 1e5,
                 .eta_seconds = 3.5,
                 .step_seconds = 0.25,
                 .longest_pause = 0.5,
                 .activity = "scoring dev",
                 .activity_share = 0.25},
      Evaluated{.step = 5, .epoch = 2, .measures = {{"dev/f1", 0.5}, {"dev/loss", 1.25}}},
      Digested{.step = 1, .scope = "parameters", .sha256 = "ab", .tensors = {{"head.weight", "cd"}}},
      Saved{.step = 5, .kind = CheckpointKind::best, .path = "c", .bytes = 1LL << 40, .sha256 = "ab"},
      Wrote{.name = "predictions/test.jsonl", .path = "p", .sha256 = "ef"},
      Concluded{.best_step = 5, .measures = {{"test/f1", 0.75}}},
      Ended{.ending = Ending::interrupted, .reason = "asked to stop", .step = 7},
      BenchStarted{.host = JsonText(nlohmann::json{{"name", "here"}}),
                   .build = JsonText(nlohmann::json{{"version", "1"}}),
                   .numeric_environment = JsonText(nlohmann::json{{"backend", "openmp"}}),
                   .threads = 2,
                   .cases = {"batch 32"}},
      BenchRound{
          .round = 1, .warm_up = true, .machine = {{"copy", 0.5}}, .cases = {{"batch 32", {{"step", 0.25}}}}},
      BenchFacts{.machine = JsonText(nlohmann::json{{"copy", {{"bytes", 8}}}}),
                 .cases = {{"batch 32",
                            {.environment = JsonText(nlohmann::json{{"backend", "openmp"}}),
                             .facts = JsonText(nlohmann::json{{"tokens", 3}})}}},
                 .peak_bytes = 4096}};
}

json json_of(const Event& event) {
  return json::parse(event_text(event, 1.5e9));
}

std::string problem_of(const json& object) {
  const ReadEvent read = read_event(object.dump());
  EXPECT_EQ(read.event.has_value(), read.problem.empty());
  return read.problem;
}

Event event_in(const std::string& text) {
  const ReadEvent read = read_event(text);
  EXPECT_EQ(read.problem, "") << text;
  return read.event.value_or(Logged{});
}

TEST(Events, EachComesBackAsItWasWritten) {
  std::set<std::size_t> kinds;
  for (const Event& event : samples()) {
    const std::string text = event_text(event, 1.5e9);
    const ReadEvent read = read_event(text);
    ASSERT_TRUE(read.event) << read.problem << " in " << text;
    EXPECT_EQ(*read.event, event) << text;
    EXPECT_EQ(read.type, json_of(event).at("type").get<std::string>());
    EXPECT_EQ(read.time, 1.5e9);
    EXPECT_EQ(read.body, text);
    kinds.insert(event.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Event>) << "a kind has no sample";
}

TEST(Events, AMissingFieldOrOneOfAnotherTypeIsReportedByName) {
  // These fields were added by later versions, or may be empty.
  const std::map<std::string, std::set<std::string>> optional = {
      {"started",
       {"numeric_environment", "host", "build", "plugins", "threads", "pinning", "parameters",
        "parameter_parts", "parameter_layers", "vocabulary_size", "labels", "data"}},
      {"progress", {"step_seconds", "longest_pause", "activity", "activity_share"}},
      {"measured", {"epoch"}},
      {"digest", {"tensors"}},
      {"bench_round", {"cases"}}};
  for (const Event& event : samples()) {
    const json whole = json_of(event);
    const std::string type = whole.at("type");
    for (const auto& [key, value] : whole.items()) {
      if (key == "type" || key == "time") continue;
      json other = whole;
      other.erase(key);
      const bool may_miss = optional.contains(type) && optional.at(type).contains(key);
      EXPECT_EQ(problem_of(other), may_miss ? "" : "event \"" + type + "\": \"" + key + "\" is missing");
      other[key] = value.is_boolean() ? json("yes") : json(true);
      const std::string begin = "event \"" + type + "\": \"" + key + "\" is " +
                                (value.is_boolean() ? "a text" : "true or false") + ", not ";
      EXPECT_TRUE(problem_of(other).starts_with(begin)) << problem_of(other);
    }
  }
}

TEST(Events, AnUnknownWordIsRejected) {
  EXPECT_EQ(
      problem_of({{"type", "finished"}, {"state", "paused"}, {"reason", ""}, {"step", 1}}),
      "event \"finished\": \"state\" is \"paused\", none of \"completed\", \"interrupted\", \"failed\"");
  EXPECT_EQ(problem_of({{"type", "log"}, {"level", "loud"}, {"text", ""}}),
            "event \"log\": \"level\" is \"loud\", none of \"info\", \"warning\", \"error\"");
}

TEST(Events, ANumberThatIsNotFiniteIsWrittenAsNullAndReadAsNan) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const Event event = Evaluated{.step = 1, .measures = {{"dev/loss", value}, {"dev/f1", 0.5}}};
    EXPECT_TRUE(json_of(event).at("measures").at("dev/loss").is_null());
    const auto read = std::get<Evaluated>(event_in(event_text(event, 0.0)));
    EXPECT_EQ(read.measures.at(0), (MeasuredValue{"dev/f1", 0.5})) << "by name";
    EXPECT_TRUE(std::isnan(read.measures.at(1).value));
  }
  const auto progress = std::get<Progressed>(event_in(event_text(Progressed{.loss = std::nan("")}, 0.0)));
  EXPECT_TRUE(std::isnan(progress.loss));
}

TEST(Events, ATextThatIsNotUtf8IsWrittenWithReplacements) {
  const Event event = Started{.host = JsonText(nlohmann::json{{"name", "bad \xff byte"}}), .pinning = "\xff"};
  const auto read = std::get<Started>(event_in(event_text(event, 0.0)));
  EXPECT_EQ(read.pinning, "\xEF\xBF\xBD");
  EXPECT_EQ(read.host.value().at("name"), "bad \xEF\xBF\xBD byte");
}

TEST(Events, UnknownEventsOfANewerProgramAreKeptWithoutAProblem) {
  const std::string text = R"({"time":7,"type":"tomorrow","what":[1]})";
  const ReadEvent read = read_event(text);
  EXPECT_EQ(read.type, "tomorrow");
  EXPECT_EQ(read.time, 7.0);
  EXPECT_EQ(read.body, text);
  EXPECT_FALSE(read.event);
  EXPECT_EQ(read.problem, "");
  json log = json_of(Logged{.text = "hello"});
  log["colour"] = "green";
  EXPECT_EQ(event_in(log.dump()), Event(Logged{.text = "hello"})) << "a new member is not a problem either";
}

TEST(Events, AnInvalidEventIsUnreadableWithTheReason) {
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"type": 3})", "\xff"}) {
    const ReadEvent read = read_event(text);
    EXPECT_EQ(read.type, "unreadable") << text;
    EXPECT_FALSE(read.event);
    EXPECT_NE(read.problem, "");
    EXPECT_EQ(json::parse(read.body), (json{{"type", "unreadable"}, {"reason", read.problem}}));
  }
  EXPECT_EQ(read_event("{}").problem, "no object with a type");
  EXPECT_EQ(read_event("{\"type\"").problem.substr(0, 6), "line 1");
}

TEST(Events, AnEventGoesToTheOneHandlerOfItsKind) {
  std::string heard;
  for (const Event& event : samples())
    handle(
        event, [&](const Logged&) { heard += "log "; }, [&](const Saved& saved) { heard += saved.path; });
  EXPECT_EQ(heard, "log c");
}

// --- what earlier versions wrote, letter by letter ---

TEST(Events, TheFirstVersionsAreRead) {
  EXPECT_EQ(
      event_in(R"({"level":"info","text":"resumed after step 3 of 9","time":1763690817.25,"type":"log"})"),
      Event(Logged{.text = "resumed after step 3 of 9"}));
  EXPECT_EQ(
      event_in(R"({"epoch":1,"eta_seconds":4.5,"learning_rate":1e-05,"loss":2.25,"step":1,)"
               R"("time":1763690817.25,"tokens_per_second":9000.5,"total_steps":18,"type":"progress"})"),
      Event(Progressed{.step = 1,
                       .total_steps = 18,
                       .epoch = 1,
                       .loss = 2.25,
                       .learning_rate = 1e-5,
                       .tokens_per_second = 9000.5,
                       .eta_seconds = 4.5}));
  EXPECT_EQ(
      event_in(R"({"epoch":1,"measures":{"dev/f1":0.5,"dev/loss":1.5},"step":9,"time":1,"type":"measured"})"),
      Event(Evaluated{.step = 9, .epoch = 1, .measures = {{"dev/f1", 0.5}, {"dev/loss", 1.5}}}));
  EXPECT_EQ(event_in(R"({"scope":"optimizer/first_moment","step":9,"time":1,"type":"digest","value":"0f"})"),
            Event(Digested{.step = 9, .scope = "optimizer/first_moment", .sha256 = "0f"}));
  EXPECT_EQ(event_in(R"({"bytes":8704,"kind":"last","path":"checkpoints/step-00000009.safetensors",)"
                     R"("sha256":"ab","step":9,"time":1,"type":"checkpoint"})"),
            Event(Saved{
                .step = 9, .path = "checkpoints/step-00000009.safetensors", .bytes = 8704, .sha256 = "ab"}));
  EXPECT_EQ(event_in(R"({"name":"predictions/dev.jsonl","path":"predictions/dev.jsonl","sha256":"ab",)"
                     R"("time":1,"type":"artifact"})"),
            Event(Wrote{.name = "predictions/dev.jsonl", .path = "predictions/dev.jsonl", .sha256 = "ab"}));
  EXPECT_EQ(event_in(R"({"best_step":9,"measures":{"test/f1":null},"time":1,"type":"result"})").index(),
            Event(Concluded{}).index());
  EXPECT_EQ(event_in(R"({"reason":"no space","state":"failed","step":null,"time":1,"type":"finished"})"),
            Event(Ended{.ending = Ending::failed, .reason = "no space"}));
}

TEST(Events, FactsOfASetFromBeforeTasksCountedForThemselvesAreCountsAndLabels) {
  const auto started = std::get<Started>(event_in(
      R"({"build":{"version":"0.1.0"},"data":{"train":{"cut_entities":2,"cut_sentences":1,"cut_words":41,)"
      R"("examples":10,"labels":{"unseen":3,"words":{"B-PER":4,"O":90}},"lengths":{"counts":[4,6],"width":1},)"
      R"("longest":2,"tokens":16,"unknown_pieces":5}},"host":{"name":"h"},"labels":["O","B-PER"],)"
      R"("numeric_environment":{"backend":"openmp"},"parameter_layers":{"head":9},)"
      R"("parameter_parts":[{"parameters":9,"part":"head"}],"parameters":9,"pinning":"1 thread, not pinned",)"
      R"("plugins":[{"file":"/lib/a.so","fingerprint":"sdk=1;","name":"a","sha256":"ab","version":"1"}],)"
      R"("threads":1,"time":1763690817.25,"type":"started","vocabulary_size":600})"));
  EXPECT_EQ(started.data.at("train"), (SetFacts{.examples = 10,
                                                .tokens = 16,
                                                .longest = 2,
                                                .unknown_tokens = 5,
                                                .lengths = {.width = 1, .counts = {4, 6}},
                                                .labels = {{"B-PER", 4}, {"O", 90}},
                                                .counts = {{"cut sentences", 1},
                                                           {"cut words", 41},
                                                           {"cut entities", 2},
                                                           {"words with labels not in training", 3}}}));
  EXPECT_EQ(started.host.value(), (json{{"name", "h"}}));
  EXPECT_EQ(started.plugins.at(0).file, "/lib/a.so");
}

TEST(Events, TheFirstVersionsReportedLessOfASet) {
  const auto started = std::get<Started>(event_in(
      R"({"data":{"dev":{"cut_entities":0,"cut_sentences":0,"cut_words":0,"examples":10,"longest":2,"tokens":16,)"
      R"("unknown_pieces":5}},"labels":["O"],"parameters":9,"threads":1,"time":1,"type":"started"})"));
  const SetFacts& dev = started.data.at("dev");
  EXPECT_EQ(dev.counts,
            (std::vector<NamedCount>{{"cut sentences", 0}, {"cut words", 0}, {"cut entities", 0}}));
  EXPECT_TRUE(dev.labels.empty() && dev.lengths.counts.empty());
  EXPECT_FALSE(started.vocabulary_size);
}

TEST(Events, ALabelMayBeCalledWords) {
  SetFacts facts{.examples = 1, .labels = {{"unseen", 2}, {"words", 3}}};
  const Event event = Started{.data = {{"train", facts}}};
  EXPECT_EQ(event_in(event_text(event, 0.0)), event);
}

}  // namespace
}  // namespace encore::record
