// SPDX-License-Identifier: BSD-3-Clause
// Tests the events of alerts (monitor/alert_events.hpp): lines of JSON with their times and values, what is
// refused in them, records of a server, and the counts of a development set; also the record of alerts that
// were sent (sent_alerts.hpp), by which no alert is sent twice. Users write such lines, so a valid one must
// stay valid.
#include "monitor/alert_events.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "monitor/sent_alerts.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::monitor {
namespace {

using Values = std::vector<std::string>;

AlertEvent read_line(const std::string& line, const Values& fields = {"label"}) {
  return EventReader(fields, "events.jsonl").read(line).value();
}

std::string refusal_of_line(const std::string& line) {
  try {
    static_cast<void>(EventReader({"label"}, "events.jsonl").read(line));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(EventLines, HaveATimeAnIdAndTheFieldsOfTheRules) {
  const AlertEvent event =
      read_line(R"({"time": 1770000000.5, "id": "a", "label": "bad", "text": "no", "decide.band": "review"})",
                {"label", "decide.band", "brand"});
  EXPECT_EQ(event.time, 1770000000.5);
  EXPECT_EQ(event.id, "a");
  ASSERT_EQ(event.values.size(), 3U);
  EXPECT_EQ(event.values[0], Values{"bad"});
  EXPECT_EQ(event.values[1], Values{"review"});
  EXPECT_FALSE(event.values[2]);
}

TEST(EventLines, AValueIsATextOrAList) {
  EXPECT_EQ(read_line(R"({"time": 1, "label": ["a", "b"]})").values[0], (Values{"a", "b"}));
  EXPECT_EQ(read_line(R"({"time": 1, "label": [{"type": "PLACE", "text": "Oslo"}]})").values[0],
            Values{"PLACE"});
  EXPECT_EQ(read_line(R"({"time": 1, "label": 4})").values[0], Values{"4"});
  EXPECT_EQ(read_line(R"({"time": 1, "label": true})").values[0], Values{"true"});
  EXPECT_EQ(read_line(R"({"time": 1, "label": null})").values[0], Values{});
  EXPECT_EQ(read_line(R"({"time": 1, "id": 17})").id, "17");
}

TEST(EventLines, TimesAreNumbersOrHaveAZone) {
  EXPECT_EQ(time_in("1970-01-02T00:00:01Z"), 86401.0);
  EXPECT_EQ(time_in("2026-02-28T23:59:59.25Z"), 1772323199.25);
  EXPECT_EQ(time_in("2026-03-29T03:30:00+02:00"), time_in("2026-03-29T01:30:00Z"));
  EXPECT_EQ(time_in("2026-03-28T20:30:00-0500"), time_in("2026-03-29 01:30:00Z"));
  for (const char* wrong :
       {"", "2026-02-30T00:00:00Z", "2026-02-28T24:00:00Z", "2026-02-28T00:00:00", "2026-02-28",
        "2026-02-28T00:00:00Zx", "2026-02-28T00:00:00.Z", "-026-02-28T00:00:00Z"})
    EXPECT_FALSE(time_in(wrong)) << wrong;
  EXPECT_EQ(utc_text(1772323199), "2026-02-28T23:59:59Z");
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
}

TEST(EventLines, InvalidOnesAreNamedWithTheirLine) {
  EXPECT_EQ(refusal_of_line("  "), "accepted") << "an empty line is skipped";
  EXPECT_TRUE(
      refusal_of_line(R"({"label": "bad"})").starts_with("events.jsonl:1: \"time\" is missing: expected"));
  for (const char* wrong : {R"({"time": "yesterday"})", R"({"time": -1})", R"({"time": 1770000000000})",
                            R"({"time": null})", R"({"time": 1e300})"})
    EXPECT_NE(refusal_of_line(wrong).find("events.jsonl:1: invalid \"time\""), std::string::npos)
        << refusal_of_line(wrong);
  EXPECT_NE(refusal_of_line(R"({"time": 1, "id": []})").find("invalid \"id\""), std::string::npos);
  EXPECT_NE(refusal_of_line("[1]").find("expected a JSON object"), std::string::npos);
  EXPECT_NE(refusal_of_line("{").find("events.jsonl:1: "), std::string::npos);
  EventReader reader({}, "events.jsonl");
  static_cast<void>(reader.read(R"({"time": 1})"));
  static_cast<void>(reader.read(""));
  try {
    static_cast<void>(reader.read("no"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("events.jsonl:3: ")) << error.what();
  }
}

TEST(ServedEvents, HaveLabelsOrFieldsAndAGroup) {
  const Values fields = {"label", "group", "decide.band"};
  const AlertEvent model = event_of(
      {.request = "r", .text = 2, .time = 5.0, .group = "acme", .labels = {{"bad", 1}, {"good", 0}}}, fields);
  EXPECT_EQ(model.id, "r/2");
  EXPECT_EQ(model.values[0], Values{"bad"});
  EXPECT_EQ(model.values[1], Values{"acme"});
  EXPECT_FALSE(model.values[2]);
  const AlertEvent application =
      event_of({.request = "r", .time = 5.0, .fields = {{"decide.band", "review"}}}, fields);
  EXPECT_FALSE(application.values[0]) << "an application has fields in place of labels";
  EXPECT_FALSE(application.values[1]);
  EXPECT_EQ(application.values[2], Values{"review"});
}

TEST(ServedEvents, TheDevelopmentSetIsCountedForRulesThatCompareWithIt) {
  const AlertRules rules = parse_alerts(
      "[[alert]]\nname = \"a\"\nwhen = \"change\"\nlabel = [\"x\", \"y\"]\npoints = 10\nagainst = \"dev\"\n"
      "window = \"1h\"\n[[alert]]\nname = \"b\"\nlabel = \"x\"\nabove = 0.1\nwindow = \"1h\"\n",
      "alerts.toml");
  const std::map<std::size_t, EventCount> counts = development_counts(
      rules, {{{"label", {"x", "y"}}}, {{"label", {"z"}}}, {{"label", {}}}, {{"other", {"x"}}}});
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts.at(0), (EventCount{.all = 3, .hits = 1})) << "an answer with both labels counts once";
}

TEST(SentAlerts, AnAlertIsSentOnce) {
  const testing::TemporaryFolder folder;
  const AlertRule rule{.name = "a", .window = 60, .hold = 60};
  const Alert first{.group = "acme", .raised = 1000, .ended = 1500}, second{.group = "acme", .raised = 1600},
      other{.group = "bolt", .raised = 1000};
  {
    SentAlerts sent(folder.path());
    EXPECT_FALSE(sent.contains(rule, first));
    sent.add(rule, {.group = "acme", .raised = 1000});  // it continued when it was sent
    EXPECT_TRUE(sent.contains(rule, first));
    EXPECT_THROW(SentAlerts second_process(folder.path()), Error) << "two calls must not both send it";
  }
  SentAlerts again(folder.path());
  EXPECT_TRUE(again.contains(rule, first));
  EXPECT_TRUE(again.contains(rule, {.group = "acme", .raised = 990, .ended = 1500})) << "a record came later";
  EXPECT_FALSE(again.contains(rule, second));
  EXPECT_FALSE(again.contains(rule, other));
  EXPECT_FALSE(again.contains({.name = "b", .hold = 60}, first));
}

}  // namespace
}  // namespace encore::monitor
