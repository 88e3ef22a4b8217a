// SPDX-License-Identifier: BSD-3-Clause
// Tests AlertWatch (monitor/alert_watch.hpp): the edges of windows, each kind of alert with its reference,
// the state of an alert, groups, late and doubled events, and that the order and the batches of events change
// nothing. A second evaluation, which counts each window from scratch, gives the same alerts for random
// events.
#include "monitor/alert_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <nlohmann/json.hpp>

#include "monitor/alert_json.hpp"
#include "support/places.hpp"

namespace encore::monitor {
namespace {

using Events = std::vector<AlertEvent>;

constexpr std::int64_t begin = 1'770'000'000;
constexpr std::int64_t day = 86400;

AlertRules rules_of(const std::string& options, const std::string& late = "0s") {
  return parse_alerts("late = \"" + late + "\"\n[[alert]]\nname = \"a\"\n" + options, "alerts.toml");
}

/// Returns an event `seconds` after the beginning. The rules of the tests read the fields "label" and
/// "brand".
AlertEvent event(double seconds, const std::string& label, const std::string& brand = {},
                 const std::string& id = {}) {
  AlertEvent made{.time = static_cast<double>(begin) + seconds, .id = id};
  made.values.push_back(std::vector<std::string>{label});
  if (!brand.empty()) made.values.push_back(std::vector<std::string>{brand});
  return made;
}

AlertWatch watched(const AlertRules& rules, const Events& events,
                   const std::map<std::size_t, EventCount>& development = {}) {
  AlertWatch watch(rules, development);
  for (const AlertEvent& each : events) watch.add(each);
  watch.finish();
  return watch;
}

/// Returns the seconds since the beginning at which alerts were raised and ended; -1: it continues.
std::vector<std::pair<std::int64_t, std::int64_t>> times(const AlertWatch& watch) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (const Alert& alert : watch.alerts())
    all.emplace_back(alert.raised - begin, alert.ended ? *alert.ended - begin : -1);
  return all;
}

using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Adds `count` events evenly over [from, to). Of each hundred, `bad` events have the label "bad", spread
/// over the hundred.
void add_even(Events& events, double from, double to, int count, int bad) {
  for (int i = 0; i < count; ++i)
    events.push_back(event(from + (to - from) * i / count, (i * 37) % 100 < bad ? "bad" : "good"));
}

const std::string bare_share = "label = \"bad\"\nabove = 0.5\nwindow = \"10s\"\nleast = 1\ncertain = false\n";

// --- windows ---

TEST(AlertWindows, AnEventBelongsToTheWindowsThatEndAfterItsSecond) {
  // The event of second 0 enters the window that ends at 1, and leaves the one that ends at 11.
  const Events events = {event(0.0, "bad"), event(30.0, "good")};
  EXPECT_EQ(times(watched(rules_of(bare_share + "hold = \"0s\"\n"), events)), (Times{{1, 11}}));
  const Events last = {event(0.999, "bad"), event(30.0, "good")};
  EXPECT_EQ(times(watched(rules_of(bare_share + "hold = \"0s\"\n"), last)), (Times{{1, 11}}));
  const Events next = {event(1.0, "bad"), event(30.0, "good")};
  EXPECT_EQ(times(watched(rules_of(bare_share + "hold = \"0s\"\n"), next)), (Times{{2, 12}}));
}

TEST(AlertWindows, AnEmptyWindowMakesNoStatement) {
  EXPECT_TRUE(watched(rules_of(bare_share), {}).alerts().empty());
  const std::string below = "label = \"bad\"\nbelow = 0.5\nwindow = \"10s\"\nleast = 1\ncertain = false\n";
  // Between the two events the windows are empty: a share of nothing is not below the bound.
  EXPECT_EQ(times(watched(rules_of(below + "hold = \"0s\"\n"), {event(0, "bad"), event(100, "bad")})),
            Times{});
}

TEST(AlertWindows, AWindowNeedsTheLeastNumberOfItems) {
  Events events;
  add_even(events, 0, 9, 49, 100);
  const std::string rule = "label = \"bad\"\nabove = 0.5\nwindow = \"10s\"\nleast = 50\n";
  EXPECT_TRUE(watched(rules_of(rule), events).alerts().empty());
  events.push_back(event(9.5, "bad"));
  EXPECT_EQ(times(watched(rules_of(rule), events)), (Times{{10, -1}}));
}

TEST(AlertWindows, ADayHas24HoursAlsoWhenClocksChange) {
  // The same time of earlier days is 24 hours earlier also in the night in which many clocks change
  // (2026-03-29, 01:00 UTC).
  constexpr std::int64_t night = 1'774'746'000;
  Events events;
  for (int hour = -24; hour < 1; ++hour)
    for (int i = 0; i < 60; ++i) {
      AlertEvent each = event(0, "good");
      each.time = static_cast<double>(night + hour * 3600 + i * 60);
      events.push_back(each);
    }
  AlertEvent last = event(0, "good");
  last.time = static_cast<double>(night + 3600);
  events.push_back(last);
  const AlertWatch watch =
      watched(rules_of("when = \"volume\"\nfactor = 1.0001\nagainst = \"days\"\ndays = 1\nwindow = \"1h\"\n"
                       "least = 60\ncertain = false\n"),
              events);
  EXPECT_TRUE(watch.alerts().empty()) << "each hour has 60 events on both days";
}

// --- kinds ---

TEST(AlertKinds, AShareNeedsAnIntervalThatClearsTheBound) {
  Events few, many;
  add_even(few, 0, 60, 100, 44);
  add_even(many, 0, 60, 10000, 44);
  const std::string rule = "label = \"bad\"\nabove = 0.4\nwindow = \"1m\"\nleast = 50\n";
  EXPECT_TRUE(watched(rules_of(rule), few).alerts().empty()) << "44 of 100 may be 40 %";
  EXPECT_FALSE(watched(rules_of(rule + "certain = false\n"), few).alerts().empty());
  const AlertWatch watch = watched(rules_of(rule), many);
  ASSERT_EQ(watch.alerts().size(), 1U);
  const Measured& measured = watch.alerts()[0].at_raise;
  EXPECT_GT(measured.interval.low, 0.4);
  EXPECT_LE(measured.interval.low, measured.value);
  EXPECT_LE(measured.value, measured.interval.high);
  EXPECT_GE(watch.alerts()[0].peak.value, measured.value);
}

TEST(AlertKinds, AShareCanFallBelowABound) {
  Events events;
  add_even(events, 0, 60, 600, 3);
  const std::string rule = "label = \"bad\"\nbelow = 0.1\nwindow = \"1m\"\nleast = 50\n";
  EXPECT_EQ(watched(rules_of(rule), events).alerts().size(), 1U);
}

TEST(AlertKinds, AChangeIsAgainstTheWindowBefore) {
  Events events;
  add_even(events, 0, 900, 900, 20);
  add_even(events, 900, 1800, 900, 60);
  const std::string rule = "when = \"change\"\nlabel = \"bad\"\npoints = 20\nwindow = \"15m\"\n";
  const AlertWatch rise = watched(rules_of(rule), events);
  ASSERT_EQ(rise.alerts().size(), 1U);
  EXPECT_GT(rise.alerts()[0].at_raise.interval.low, 0.2);
  EXPECT_NEAR(rise.alerts()[0].peak.value, 0.4, 0.02);
  EXPECT_GE(rise.alerts()[0].at_raise.reference_items, 50);
  EXPECT_TRUE(watched(rules_of(rule + "direction = \"fall\"\n"), events).alerts().empty());
  EXPECT_TRUE(watched(rules_of("when = \"change\"\nlabel = \"bad\"\npoints = 45\nwindow = \"15m\"\n"), events)
                  .alerts()
                  .empty());
  Events falling;
  add_even(falling, 0, 900, 900, 60);
  add_even(falling, 900, 1800, 900, 20);
  EXPECT_EQ(watched(rules_of(rule + "direction = \"fall\"\n"), falling).alerts().size(), 1U);
  EXPECT_TRUE(watched(rules_of(rule), falling).alerts().empty());
}

TEST(AlertKinds, AChangeIsAgainstTheSameTimeOfEarlierDays) {
  Events events;
  // Evenings have 60 % on each day: no change against them, but one against the hour before.
  for (int i = 0; i < 4; ++i) {
    add_even(events, static_cast<double>(i * day), static_cast<double>(i * day + 3600), 400, 20);
    add_even(events, static_cast<double>(i * day + 3600), static_cast<double>(i * day + 7200), 400, 60);
  }
  const std::string rule = "when = \"change\"\nlabel = \"bad\"\npoints = 20\nwindow = \"1h\"\n";
  EXPECT_EQ(watched(rules_of(rule), events).alerts().size(), 4U);
  EXPECT_TRUE(watched(rules_of(rule + "against = \"days\"\ndays = 3\n"), events).alerts().empty());
  add_even(events, 4.0 * day, 4.0 * day + 3600, 400, 60);
  const AlertWatch watch = watched(rules_of(rule + "against = \"days\"\ndays = 3\n"), events);
  ASSERT_EQ(watch.alerts().size(), 1U);
  EXPECT_GT(watch.alerts()[0].raised, begin + 4 * day);
  EXPECT_NEAR(watch.alerts()[0].at_raise.reference, 0.2, 0.15)
      << "0.2 in this hour of the three days before; the window may reach into the next hour, with 0.6";
}

TEST(AlertKinds, AChangeIsAgainstTheDevelopmentSet) {
  Events events;
  add_even(events, 0, 600, 600, 50);
  const std::string rule =
      "when = \"change\"\nlabel = \"bad\"\npoints = 20\nwindow = \"10m\"\nagainst = \"dev\"\n";
  const AlertWatch watch = watched(rules_of(rule), events, {{0, {.all = 1000, .hits = 200}}});
  ASSERT_EQ(watch.alerts().size(), 1U);
  EXPECT_NEAR(watch.alerts()[0].at_raise.reference, 0.2, 1e-12);
  EXPECT_TRUE(watched(rules_of(rule), events, {{0, {.all = 1000, .hits = 400}}}).alerts().empty());
}

TEST(AlertKinds, AVolumeIsAFactorOfTheReference) {
  Events events;
  add_even(events, 0, 600, 100, 0);
  add_even(events, 600, 1210, 500, 0);
  const std::string rule = "when = \"volume\"\nfactor = 3\nwindow = \"10m\"\n";
  const AlertWatch watch = watched(rules_of(rule), events);
  ASSERT_EQ(watch.alerts().size(), 1U);
  EXPECT_GT(watch.alerts()[0].at_raise.interval.low, 3.0);
  EXPECT_NEAR(watch.alerts()[0].peak.value, 4.9, 0.2);
  EXPECT_TRUE(
      watched(rules_of("when = \"volume\"\nfactor = 6\nwindow = \"10m\"\n"), events).alerts().empty());
}

TEST(AlertKinds, AVolumeThatFallsToNothingIsFoundWithoutEvents) {
  Events events;
  add_even(events, 0, 1200, 1200, 0);
  AlertWatch watch(rules_of("when = \"volume\"\nfactor = 0.2\nwindow = \"5m\"\nleast = 100\n"));
  for (const AlertEvent& each : events) watch.add(each);
  watch.advance_to(begin + 1200);
  EXPECT_TRUE(watch.alerts().empty());
  watch.advance_to(begin + 1480);
  ASSERT_EQ(watch.alerts().size(), 1U) << "no event came, but time passed";
  EXPECT_LT(watch.alerts()[0].at_raise.interval.high, 0.2);
}

TEST(AlertKinds, AVolumeNeedsAWholeReference) {
  Events events;
  add_even(events, 0, 60, 1000, 0);
  EXPECT_TRUE(watched(rules_of("when = \"volume\"\nfactor = 3\nwindow = \"1m\"\ncertain = false\n"), events)
                  .alerts()
                  .empty())
      << "nothing is known about the minute before the first event";
  Events days;
  for (int i = 0; i < 3; ++i)
    add_even(days, static_cast<double>(i * day), static_cast<double>(i * day + 3600), i == 2 ? 1000 : 100, 0);
  const AlertWatch watch = watched(
      rules_of("when = \"volume\"\nfactor = 3\nagainst = \"days\"\ndays = 7\nwindow = \"1h\"\n"), days);
  ASSERT_EQ(watch.alerts().size(), 1U);
  EXPECT_LE(watch.alerts()[0].at_raise.reference, 101.0) << "the mean of two days, not of seven";
}

// --- the state of an alert ---

TEST(AlertState, ASpikeGivesOneAlert) {
  Events events;
  for (int minute = 0; minute < 240; ++minute)  // the share swings around the bound for an hour
    add_even(events, minute * 60, minute * 60 + 60, 100,
             minute >= 60 && minute < 120 ? (minute / 5 % 2 == 0 ? 50 : 33) : 20);
  const std::string rule = "label = \"bad\"\nabove = 0.4\nwindow = \"5m\"\nleast = 50\n";
  const Times found = times(watched(rules_of(rule), events));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0].first, 3600);
  EXPECT_LT(found[0].first, 3600 + 300);
  EXPECT_GT(found[0].second, 7200) << "the value must be back for the length of the window";
  EXPECT_LE(found[0].second, 7200 + 600);
  EXPECT_GT(times(watched(rules_of(rule + "certain = false\nhold = \"0s\"\n"), events)).size(), 1U)
      << "without interval and hold the same spike gives several";
}

TEST(AlertState, ASpikeAfterTheEndIsAnotherAlert) {
  Events events;
  for (int minute = 0; minute < 120; ++minute)
    add_even(events, minute * 60, minute * 60 + 60, 100, minute / 20 % 2 == 1 ? 70 : 10);
  const std::string rule = "label = \"bad\"\nabove = 0.4\nwindow = \"5m\"\nleast = 50\n";
  const Times found = times(watched(rules_of(rule), events));
  EXPECT_EQ(found.size(), 3U);
  EXPECT_EQ(found.back().second, -1) << "the last one continues";
  EXPECT_EQ(times(watched(rules_of(rule + "hold = \"1h\"\n"), events)).size(), 1U);
}

TEST(AlertState, EachAlertIsReportedOnceWhenItIsRaised) {
  Events events;
  add_even(events, 0, 600, 600, 10);
  add_even(events, 600, 1200, 600, 90);
  int reported = 0;
  AlertWatch watch(rules_of("label = \"bad\"\nabove = 0.4\nwindow = \"5m\"\n"), {}, [&](const Alert& alert) {
    ++reported;
    EXPECT_LT(alert.raised, begin + 1200);
  });
  for (const AlertEvent& each : events) {
    watch.add(each);
    EXPECT_LE(reported, 1);
  }
  EXPECT_EQ(reported, 1);
}

// --- groups ---

TEST(AlertGroups, EachGroupHasItsAlerts) {
  Events events;
  for (int i = 0; i < 2000; ++i) {
    events.push_back(event(i * 0.5, i % 10 < 8 ? "bad" : "good", "acme"));
    events.push_back(event(i * 0.5 + 0.25, i % 10 < 1 ? "bad" : "good", "bolt"));
  }
  AlertWatch watch =
      watched(rules_of("label = \"bad\"\nabove = 0.6\nwindow = \"5m\"\nby = \"brand\"\n"), events);
  ASSERT_EQ(watch.alerts().size(), 1U);
  EXPECT_EQ(watch.alerts()[0].group, "acme");
  const std::vector<GroupShare> shares = group_shares(watch);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].group, "acme");
  EXPECT_EQ(shares[0].count, (EventCount{.all = 2000, .hits = 1600}));
  EXPECT_NEAR(*shares[0].difference, 0.7, 1e-12);
  EXPECT_NEAR(*shares[1].difference, -0.7, 1e-12);
  EXPECT_GT(shares[0].interval.low, 0.65);
  EXPECT_LT(shares[0].interval.high, 0.75);
  const std::string rule = "label = \"bad\"\nabove = 0.6\nwindow = \"5m\"\nby = \"brand\"\n";
  EXPECT_EQ(group_shares(watched(rules_of(rule + "[[alert]]\nname = \"b\"\n" + rule), events)).size(), 2U)
      << "the second rule counts the same";
}

TEST(AlertGroups, EventsWithoutAGroupAndBeyondTheMostAreNamed) {
  Events events = {event(0, "bad", "x")};
  events.back().values[1].reset();
  for (std::size_t i = 0; i < AlertWatch::most_groups + 5; ++i)
    events.push_back(event(1, "bad", "brand" + std::to_string(i)));
  const AlertWatch watch =
      watched(rules_of("label = \"bad\"\nabove = 0.6\nwindow = \"5m\"\nby = \"brand\"\n"), events);
  const std::vector<GroupTotals> totals = watch.totals();
  ASSERT_EQ(totals.size(), AlertWatch::most_groups + 1);
  EXPECT_TRUE(std::ranges::any_of(totals, [](const GroupTotals& each) {
    return each.group == AlertWatch::no_group && each.count.all == 1;
  }));
  EXPECT_TRUE(std::ranges::any_of(totals, [](const GroupTotals& each) {
    return each.group == AlertWatch::other_groups && each.count.all == 6;
  }));
}

TEST(AlertGroups, EventsWithoutTheFieldDoNotCount) {
  Events events;
  for (int i = 0; i < 100; ++i) {
    events.push_back(event(i, "bad"));
    events.push_back(event(i, "x"));
    events.back().values[0].reset();
  }
  const AlertWatch watch = watched(rules_of("label = \"bad\"\nabove = 0.9\nwindow = \"5m\"\n"), events);
  EXPECT_EQ(watch.counted(0), (EventCount{.all = 100, .hits = 100}));
  EXPECT_EQ(watch.alerts().size(), 1U);
}

// --- late and doubled events ---

TEST(AlertEvents, LateOnesAreCountedAndNamed) {
  const Events events = {event(0, "bad", {}, "a"), event(100, "bad", {}, "b"), event(90, "bad", {}, "c"),
                         event(89.9, "bad", {}, "d"), event(10, "bad", {}, "e")};
  const AlertWatch watch = watched(rules_of(bare_share, "10s"), events);
  EXPECT_EQ(watch.events(), 3);
  EXPECT_EQ(watch.late().count, 2);
  EXPECT_EQ(watch.late().first_id, "d");
  EXPECT_EQ(watch.late().first_time, begin + 89.9);
}

TEST(AlertEvents, AnIdCountsOnce) {
  Events events;
  for (int i = 0; i < 40; ++i) {
    events.push_back(event(i, "bad", {}, "id" + std::to_string(i)));
    events.push_back(event(i, "bad", {}, "id" + std::to_string(i)));
    events.push_back(event(i, "bad"));  // without an id each one counts
  }
  const AlertWatch watch = watched(rules_of(bare_share, "5s"), events);
  EXPECT_EQ(watch.events(), 80);
  EXPECT_EQ(watch.doubled().count, 40);
  EXPECT_EQ(watch.doubled().first_id, "id0");
}

TEST(AlertEvents, NothingIsDecidedBeforeLateEventsMayHaveCome) {
  AlertWatch watch(rules_of(bare_share, "1m"));
  watch.add(event(0, "bad"));
  watch.add(event(60.5, "good"));
  EXPECT_TRUE(watch.alerts().empty());
  watch.add(event(61, "good"));
  EXPECT_EQ(times(watch), (Times{{1, -1}}));
}

// --- pure function of the events ---

/// Returns random events of three days in the order of their times: a burst of events, and two stretches in
/// which most events have the label "bad".
Events random_events(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> time(0.0, 3.0 * day), chance(0.0, 1.0);
  Events events;
  for (int i = 0; i < count; ++i) {
    double at = time(random);
    if (chance(random) < 0.15) at = 150000 + at / 100;  // a burst
    const bool spike = (at > 100000 && at < 103000) || (at > 200000 && at < 220000);
    const bool bad = chance(random) < (spike ? 0.7 : 0.25);
    events.push_back(
        event(at, bad ? "bad" : "good", chance(random) < 0.5 ? "acme" : "bolt", std::to_string(i)));
  }
  std::ranges::sort(events, {}, &AlertEvent::time);
  return events;
}

const char* const random_rules = R"(
late = "2m"
[[alert]]
name = "share"
label = "bad"
above = 0.4
window = "1h"
by = "brand"
least = 20
hold = "10m"
[[alert]]
name = "change"
when = "change"
label = "bad"
points = 15
window = "20m"
least = 20
confidence = 0.9
[[alert]]
name = "day"
when = "change"
label = "bad"
points = 10
window = "1h"
against = "days"
days = 2
least = 20
by = "brand"
[[alert]]
name = "volume"
when = "volume"
factor = 2
window = "10m"
least = 20
[[alert]]
name = "quiet"
when = "volume"
factor = 0.5
window = "10m"
least = 20
certain = false
hold = "0s"
by = "brand"
)";

std::string alerts_text(const AlertWatch& watch) {
  return json_of(watch).at("alerts").dump(1);
}

TEST(AlertReplay, OrderAndBatchesChangeNothing) {
  const AlertRules rules = parse_alerts(random_rules, "alerts.toml");
  const Events events = random_events(1, 40000);
  const AlertWatch sorted = watched(rules, events);
  const std::string expected = alerts_text(sorted);
  EXPECT_GT(sorted.alerts().size(), 4U);
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    // Each event arrives up to 110 seconds after its time, some of them twice; none is late.
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> delay(0.0, 110.0), chance(0.0, 1.0);
    std::vector<std::pair<double, AlertEvent>> arrivals;
    for (const AlertEvent& each : events) {
      arrivals.emplace_back(each.time + delay(random), each);
      if (chance(random) < 0.05) arrivals.emplace_back(each.time + delay(random), each);
    }
    std::ranges::sort(arrivals, {}, &std::pair<double, AlertEvent>::first);
    AlertWatch watch(rules);
    std::size_t before = 0;
    for (const auto& [arrival, each] : arrivals) {
      watch.add(each);
      if (chance(random) > 0.001) continue;
      // The alerts of a call in between are the first of all alerts: later events never take one back.
      const std::vector<Alert> now = watch.alerts(), all = sorted.alerts();
      ASSERT_GE(now.size(), before);
      before = now.size();
      for (std::size_t i = 0; i < now.size(); ++i) {
        ASSERT_EQ(now[i].raised, all[i].raised);
        ASSERT_EQ(now[i].rule, all[i].rule);
        ASSERT_EQ(now[i].group, all[i].group);
      }
    }
    watch.finish();
    EXPECT_EQ(watch.late().count, 0);
    EXPECT_GT(watch.doubled().count, 1000);
    EXPECT_EQ(watch.events(), sorted.events());
    EXPECT_EQ(alerts_text(watch), expected) << "seed " << seed;
  }
}

TEST(AlertReplay, AnotherOrderBeyondTheLatenessDoesChangeThem) {
  const AlertRules rules = parse_alerts(random_rules, "alerts.toml");
  Events events = random_events(1, 40000);
  const std::string expected = alerts_text(watched(rules, events));
  std::ranges::reverse(events);
  EXPECT_NE(alerts_text(watched(rules, events)), expected);
}

TEST(AlertReplay, TheExampleOfTheTreeFindsASpikeOfEachKind) {
  const AlertRules rules = load_alerts(ENCORE_SOURCE_DIR "/experiments/alerts/sentiment.toml");
  ASSERT_EQ(rules.rules.size(), 3U);
  ASSERT_EQ(rules.fields(), (std::vector<std::string>{"label", "group"}));
  const auto replayed = [&](bool spikes) {
    AlertWatch watch(rules);
    std::int64_t number = 0;
    for (double time = 0.0; time < 8.25 * day; time += 5.0) {
      const double hour = time / 3600.0 - 8.0 * 24.0;
      const bool negative = number++ * 37 % 100 < (spikes && hour >= 1.0 && hour < 2.0 ? 75 : 15);
      for (int i = spikes && hour >= 4.0 && hour < 4.5 ? 5 : 1; i > 0; --i)
        watch.add(event(time, negative ? "very negative" : "neutral", "acme"));
    }
    watch.finish();
    std::vector<std::string> names;
    for (const Alert& alert : watch.alerts()) names.push_back(rules.rules[alert.rule].name);
    return names;
  };
  EXPECT_EQ(replayed(false), std::vector<std::string>());
  EXPECT_EQ(replayed(true), (std::vector<std::string>{"more negative", "many negative", "many items"}));
}

/// Counts the events of a window from scratch.
EventCount count_in(const Events& events, std::int64_t from, std::int64_t to, const std::string& brand) {
  EventCount count;
  for (const AlertEvent& each : events) {
    if (each.time < static_cast<double>(from) || each.time >= static_cast<double>(to)) continue;
    if (!brand.empty() && each.values[1]->front() != brand) continue;
    ++count.all;
    count.hits += each.values[0]->front() == "bad" ? 1 : 0;
  }
  return count;
}

/// Evaluates a rule for one group second by second, with windows counted from scratch.
Times evaluated(const AlertRule& rule, const Events& events, std::int64_t seconds, const std::string& brand) {
  const auto share = [](const EventCount& count) {
    return analysis::ShareCount{.part = static_cast<double>(count.hits),
                                .all = static_cast<double>(count.all)};
  };
  const auto first = static_cast<std::int64_t>(std::floor(events.front().time));
  Times found;
  bool is_raised = false;
  std::int64_t back = -1;
  for (std::int64_t now = first; now <= first + seconds; ++now) {
    const EventCount own = count_in(events, now - rule.window, now, brand);
    EventCount other;
    double windows = 0.0;
    if (rule.against == AlertReference::before) {
      other = count_in(events, now - 2 * rule.window, now - rule.window, brand);
      windows = now - 2 * rule.window >= first ? 1.0 : 0.0;
    } else {
      for (std::int64_t i = 1; i <= rule.days; ++i) {
        const EventCount one = count_in(events, now - i * day - rule.window, now - i * day, brand);
        other.all += one.all;
        other.hits += one.hits;
        windows += now - i * day - rule.window >= first ? 1.0 : 0.0;
      }
    }
    std::optional<double> value;
    analysis::Interval interval;
    if (rule.kind == AlertKind::share && own.all >= rule.least) {
      value = share(own).share();
      interval = analysis::share_interval(share(own), rule.confidence);
    } else if (rule.kind == AlertKind::change && own.all >= rule.least && other.all >= rule.least) {
      value = share(own).share() - share(other).share();
      interval = analysis::share_difference_interval(share(own), share(other), rule.confidence);
    } else if (rule.kind == AlertKind::volume && windows > 0.0 &&
               (rule.above ? static_cast<double>(own.all) : static_cast<double>(other.all) / windows) >=
                   static_cast<double>(rule.least)) {
      value = static_cast<double>(own.all) / (static_cast<double>(other.all) / windows);
      interval = analysis::rate_ratio_interval(static_cast<double>(own.all), static_cast<double>(other.all),
                                               windows, rule.confidence);
    }
    const auto beyond = [&](double number) { return rule.above ? number > rule.bound : number < rule.bound; };
    if (!is_raised && value && beyond(*value) &&
        (!rule.certain || beyond(rule.above ? interval.low : interval.high))) {
      is_raised = true;
      back = -1;
      found.emplace_back(now - begin, -1);
    } else if (is_raised && value && beyond(*value)) {
      back = -1;
    } else if (is_raised) {
      if (back < 0) back = now;
      if (now - back >= rule.hold) {
        is_raised = false;
        found.back().second = now - begin;
      }
    }
  }
  return found;
}

TEST(AlertReplay, TheAlertsAreThoseOfWindowsCountedFromScratch) {
  const AlertRules all = parse_alerts(R"(
[[alert]]
name = "share"
label = "bad"
above = 0.4
window = "1m"
least = 20
hold = "20s"
by = "brand"
[[alert]]
name = "change"
when = "change"
label = "bad"
points = 10
window = "30s"
least = 10
confidence = 0.6
hold = "5s"
[[alert]]
name = "volume"
when = "volume"
factor = 1.5
window = "40s"
least = 10
confidence = 0.6
hold = "0s"
by = "brand"
[[alert]]
name = "quiet"
when = "volume"
factor = 0.6
window = "40s"
least = 10
certain = false
)",
                                      "alerts.toml");
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> chance(0.0, 1.0);
  Events events;
  double time = 0.0, share = 0.3, rate = 3.0;
  while (time < 900.0) {
    if (chance(random) < 0.01) share = 0.15 + 0.5 * chance(random);
    if (chance(random) < 0.01) rate = 1.0 + 6.0 * chance(random);
    time += -std::log(1.0 - chance(random)) / rate;
    events.push_back(
        event(time, chance(random) < share ? "bad" : "good", chance(random) < 0.5 ? "acme" : "bolt"));
  }
  AlertWatch watch(all);
  for (const AlertEvent& each : events) watch.add(each);
  const auto seconds = static_cast<std::int64_t>(time);
  const auto first = static_cast<std::int64_t>(std::floor(events.front().time));
  watch.advance_to(first + seconds);
  std::size_t compared = 0;
  for (std::size_t number = 0; number < all.rules.size(); ++number) {
    const AlertRule& rule = all.rules[number];
    for (const std::string brand : {"", "acme", "bolt"}) {
      if (brand.empty() != rule.by.empty()) continue;
      Times found;
      for (const Alert& alert : watch.alerts())
        if (alert.rule == number && alert.group == brand)
          found.emplace_back(alert.raised - begin, alert.ended ? *alert.ended - begin : -1);
      EXPECT_EQ(found, evaluated(rule, events, seconds, brand)) << rule.name << " " << brand;
      EXPECT_FALSE(found.empty()) << rule.name << " " << brand;
      compared += found.size();
    }
  }
  EXPECT_GT(compared, 15U);
}

}  // namespace
}  // namespace encore::monitor
