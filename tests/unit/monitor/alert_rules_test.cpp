// SPDX-License-Identifier: BSD-3-Clause
// Tests the file of rules that a user passes to `exp monitor --alerts` (monitor/alert_rules.hpp): its
// defaults, and that mistakes are refused with file, line, column and what to do. Users have such files, so
// options and defaults must stay; the words of messages may change, together with this test.
#include "monitor/alert_rules.hpp"

#include <gtest/gtest.h>

namespace encore::monitor {
namespace {

const std::string head = "[[alert]]\nname = \"many negative\"\nwindow = \"1h\"\n";

std::string refusal_of_file(const std::string& text) {
  try {
    static_cast<void>(parse_alerts(text, "alerts.toml"));
  } catch (const config::ConfigErrors& errors) {
    return errors.what();
  }
  return "accepted";
}

/// Expects that the file is refused, with these parts in the message.
void expect_refused(const std::string& text, const std::vector<std::string>& parts) {
  const std::string why = refusal_of_file(text);
  for (const std::string& part : parts) EXPECT_NE(why.find(part), std::string::npos) << why << "\n" << text;
}

TEST(AlertRules, AFileHasOneRuleForEachAlert) {
  const AlertRules rules = parse_alerts(R"(
late = "10m"
[[alert]]
name = "many negative"
level = "critical"
when = "share"
label = ["negative", "very negative"]
above = 0.40
window = "1h"
least = 60
by = "brand"
[[alert]]
name = "more negative"
when = "change"
label = "negative"
points = 20
window = "15m"
hold = "5m"
confidence = 0.95
[[alert]]
name = "few answers"
level = "note"
when = "share"
field = "decide.band"
value = "answer"
below = 0.5
window = "1d"
certain = false
[[alert]]
name = "many items"
when = "volume"
factor = 3
against = "days"
days = 5
window = "90s"
)",
                                        "alerts.toml");
  EXPECT_EQ(rules.late, 600);
  ASSERT_EQ(rules.rules.size(), 4U);
  const AlertRule &share = rules.rules[0], &change = rules.rules[1], &field = rules.rules[2],
                  &volume = rules.rules[3];
  EXPECT_EQ(share.level, AlertLevel::critical);
  EXPECT_EQ(share.field, "label");
  EXPECT_EQ(share.values, (std::vector<std::string>{"negative", "very negative"}));
  EXPECT_EQ(share.bound, 0.4);
  EXPECT_TRUE(share.above && share.certain);
  EXPECT_EQ(share.window, 3600);
  EXPECT_EQ(share.hold, 3600) << "the default is the window";
  EXPECT_EQ(share.least, 60);
  EXPECT_EQ(share.by, "brand");
  EXPECT_EQ(change.level, AlertLevel::warning);
  EXPECT_EQ(change.values, std::vector<std::string>{"negative"}) << "one label needs no brackets";
  EXPECT_NEAR(change.bound, 0.2, 1e-12);
  EXPECT_EQ(change.against, AlertReference::before);
  EXPECT_EQ(change.hold, 300);
  EXPECT_EQ(change.least, 50);
  EXPECT_EQ(field.field, "decide.band");
  EXPECT_FALSE(field.above || field.certain);
  EXPECT_EQ(volume.kind, AlertKind::volume);
  EXPECT_EQ(volume.against, AlertReference::days);
  EXPECT_EQ(volume.days, 5);
  EXPECT_EQ(volume.window, 90);
  EXPECT_EQ(rules.fields(), (std::vector<std::string>{"label", "brand", "decide.band"}));
}

TEST(AlertRules, AFallAndAFactorBelowOneHaveABoundBelow) {
  const AlertRules rules =
      parse_alerts(head + "when = \"change\"\nlabel = \"negative\"\npoints = 20\ndirection = \"fall\"\n" +
                       "[[alert]]\nname = \"few\"\nwhen = \"volume\"\nfactor = 0.2\nwindow = \"1h\"\n",
                   "alerts.toml");
  EXPECT_NEAR(rules.rules[0].bound, -0.2, 1e-12);
  EXPECT_FALSE(rules.rules[0].above);
  EXPECT_EQ(rules.rules[1].bound, 0.2);
  EXPECT_FALSE(rules.rules[1].above);
}

TEST(AlertRules, MistakesAreNamedWithTheirPlace) {
  const std::string share = head + "label = \"negative\"\n";
  expect_refused("", {"alerts.toml:1:1", "the file has no [[alert]]", "write one"});
  expect_refused("late = \"10m\"\n", {"the file has no [[alert]]"});
  expect_refused("alert = []\n", {"the list of alerts is empty"});
  expect_refused("[alert]\nname = \"a\"\n", {"alerts.toml:1:", "must be a list of tables", "[[alert]]"});
  expect_refused("[[alerts]]\nname = \"a\"\n", {"alerts.toml:1:", "unknown option \"alerts\"", "\"alert\""});
  expect_refused(
      share + "above = 0.4\nwhen = \"shares\"\n",
      {"alerts.toml:6:8", "option \"when\" of [[alert]] \"many negative\"", "did you mean \"share\"?"});
  expect_refused("[[alert]]\nname = \"a\"\nlabel = \"x\"\nabove = 0.4\nwindow = \"0s\"\n",
                 {"alerts.toml:5:10", "must be a time from 1s to 31d", "found \"0s\""});
  for (const std::string wrong : {"", "1", "h", "1.5h", "-1h", "1 h", "1w", "99999999999999999999s", "32d"})
    expect_refused("[[alert]]\nname = \"a\"\nlabel = \"x\"\nabove = 0.4\nwindow = \"" + wrong + "\"\n",
                   {"alerts.toml:5:10", "must be a time from 1s to 31d"});
  expect_refused(share + "above = 1.4\n", {"alerts.toml:5:9", "\"above\"", "below 1", "1.4"});
  expect_refused(share + "above = -0.1\n", {"alerts.toml:5:9", "\"above\""});
  expect_refused(share + "above = \"40%\"\n", {"alerts.toml:5:9", "must be a number"});
  expect_refused(share, {"alerts.toml:1:", "has no bound", "\"above\" or \"below\""});
  expect_refused(share + "above = 0.4\nbelow = 0.1\n", {"has both \"above\" and \"below\""});
  expect_refused(head + "above = 0.4\n", {"has nothing to count"});
  expect_refused(share + "above = 0.4\nfield = \"decide.band\"\n", {"has both \"label\" and \"field\""});
  expect_refused(share + "above = 0.4\nvalue = \"review\"\n", {"belongs to \"field\""});
  expect_refused(head + "above = 0.4\nfield = \"decide.band\"\n", {"\"field\" without \"value\""});
  expect_refused(head + "above = 0.4\nlabel = []\n", {"alerts.toml:5:9", "is an empty list"});
  expect_refused(head + "above = 0.4\nlabel = [1]\n", {"alerts.toml:5:9", "must be a list of text"});
  expect_refused(share + "above = 0.4\nleast = 0\n", {"alerts.toml:6:9", "\"least\""});
  expect_refused(share + "above = 0.4\npoints = 20\n", {"alerts.toml:6:1", "unknown option \"points\""});
  expect_refused(share + "above = 0.4\nconfidence = 1\n", {"alerts.toml:6:14", "\"confidence\""});
  expect_refused(share + "above = 0.4\nlevel = \"urgent\"\n",
                 {"alerts.toml:6:9", "\"level\"", "\"critical\""});
  expect_refused(share + "when = \"change\"\n", {"\"points\"", "is missing"});
  expect_refused(share + "when = \"change\"\npoints = 0.2\ndays = 3\n", {"alerts.toml:7:8", "needs against"});
  expect_refused(
      "[[alert]]\nname = \"a\"\nwhen = \"volume\"\nwindow = \"2d\"\nagainst = \"days\"\nfactor = 3\n",
      {"alerts.toml:4:10", "at most \"1d\""});
  expect_refused("[[alert]]\nname = \"a\"\nwhen = \"volume\"\nwindow = \"1h\"\nfactor = 1\n",
                 {"alerts.toml:5:10", "must not be 1"});
  expect_refused(
      "[[alert]]\nname = \"a\"\nwhen = \"volume\"\nwindow = \"1h\"\nfactor = 3\nagainst = \"dev\"\n",
      {"alerts.toml:6:11", "\"before\" or \"days\""});
  expect_refused(share + "above = 0.4\n" + share + "above = 0.5\n",
                 {"alerts.toml:6:", "two alerts have the name"});
  expect_refused("late = \"soon\"\n" + share + "above = 0.4\n", {"alerts.toml:1:8", "option \"late\""});
  expect_refused("[[alert]\n", {"alerts.toml:1:"});
}

TEST(AlertRules, AllMistakesAreReportedAtOnce) {
  const std::string why = refusal_of_file(head + "label = \"x\"\nabove = 2\nleast = 0\n");
  EXPECT_NE(why.find("\"above\""), std::string::npos) << why;
  EXPECT_NE(why.find("\"least\""), std::string::npos) << why;
}

TEST(AlertRules, WhatARunCannotAnswerIsRefused) {
  const KnownAnswers known = {{"decide.band", {"answer", "refuse", "review"}},
                              {"label", {"negative", "positive"}}};
  const auto refused = [&](const std::string& options) -> std::string {
    try {
      require_known(parse_alerts(head + options, "alerts.toml"), known, "sst");
    } catch (const config::ConfigErrors& errors) {
      return errors.what();
    }
    return "";
  };
  EXPECT_EQ(refused("label = \"negative\"\nabove = 0.4\nby = \"group\"\n"), "");
  EXPECT_EQ(refused("field = \"decide.band\"\nvalue = \"review\"\nabove = 0.4\nby = \"label\"\n"), "");
  EXPECT_EQ(refused("label = \"negativ\"\nabove = 0.4\n"),
            "alerts.toml:4:9: run sst never answers \"negativ\" in the field \"label\"; did you mean "
            "\"negative\"?");
  const std::string field = refused("field = \"decide.bnad\"\nvalue = \"review\"\nabove = 0.4\n");
  EXPECT_NE(
      field.find("alerts.toml:4:9: run sst has no field \"decide.bnad\"; did you mean \"decide.band\"?"),
      std::string::npos)
      << field;
  const std::string by = refused("label = \"negative\"\nabove = 0.4\nby = \"country\"\n");
  EXPECT_NE(by.find("alerts.toml:6:6"), std::string::npos) << by;
  EXPECT_NE(by.find("they have \"group\", \"decide.band\", \"label\""), std::string::npos) << by;
}

TEST(AlertRules, ATimeIsANumberWithAUnit) {
  EXPECT_EQ(seconds_in("90s"), 90);
  EXPECT_EQ(seconds_in("15m"), 900);
  EXPECT_EQ(seconds_in("1h"), 3600);
  EXPECT_EQ(seconds_in("2d"), 172800);
  EXPECT_EQ(seconds_in("0s"), 0);
  EXPECT_FALSE(seconds_in("1 h"));
}

}  // namespace
}  // namespace encore::monitor
