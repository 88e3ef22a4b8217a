// SPDX-License-Identifier: BSD-3-Clause
// timeline_of() makes the chart of attempts over time: it assigns each attempt to the first free lane of its
// host. Only a picture depends on it. sweep_pictures.cpp calls it. Read sections.hpp first.
#include "report/sections.hpp"

#include <algorithm>
#include <tuple>

namespace encore::report {

namespace {

document::Tone tone_of(store::RunState state) {
  switch (state) {
    case store::RunState::completed:
      return document::Tone::good;
    case store::RunState::failed:
      return document::Tone::bad;
    default:
      return document::Tone::missing;
  }
}

struct Entry {
  std::string host;
  double begin, end;
  std::string name;
  document::Tone tone;
};

std::vector<Entry> entries_of(const ReportData& data, std::size_t& untimed) {
  std::vector<Entry> entries;
  untimed = 0;
  for (const store::RunRow& run : data.runs) {
    const auto attempts = data.attempts.find(run.number);
    if (attempts == data.attempts.end()) continue;
    for (const store::AttemptRow& attempt : attempts->second) {
      if (!attempt.finished) {
        ++untimed;
        continue;
      }
      std::string name = run.name + ", " + store::name_of(attempt.state);
      if (attempts->second.size() > 1) name += ", attempt " + std::to_string(attempt.ordinal);
      entries.push_back(
          {attempt.holder.host, attempt.started, *attempt.finished, std::move(name), tone_of(attempt.state)});
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.host, a.begin, a.end, a.name) < std::tie(b.host, b.begin, b.end, b.name);
  });
  return entries;
}

}  // namespace

document::TimelineChart timeline_of(const ReportData& data, std::size_t& untimed) {
  document::TimelineChart chart;
  const std::vector<Entry> entries = entries_of(data, untimed);
  double first = 0.0;
  for (const Entry& entry : entries) first = first == 0.0 ? entry.begin : std::min(first, entry.begin);
  std::string host;
  std::size_t base = 0;
  std::vector<double> free;  // when each lane of the host ends
  for (const Entry& entry : entries) {
    if (chart.lanes.empty() || entry.host != host) {
      host = entry.host;
      base = chart.lanes.size();
      free.clear();
    }
    // The next attempt often begins in the second in which the last one ended, so equal times do not overlap.
    const auto lane = std::find_if(free.begin(), free.end(), [&](double end) { return end <= entry.begin; });
    const auto number = static_cast<std::size_t>(lane - free.begin());
    if (lane == free.end()) {
      free.push_back(0.0);
      chart.lanes.push_back((host.empty() ? "host not recorded" : host) + " " + std::to_string(free.size()));
    }
    free[number] = entry.end;
    chart.bars.push_back({base + number, entry.begin - first, entry.end - first, entry.name, entry.tone});
  }
  for (const auto& [tone, meaning] :
       {std::pair<document::Tone, std::string>{document::Tone::good, "completed"},
        {document::Tone::bad, "failed"},
        {document::Tone::missing, "interrupted, stopped, lost or running"}})
    if (std::any_of(chart.bars.begin(), chart.bars.end(), [&](const auto& bar) { return bar.tone == tone; }))
      chart.legend.emplace_back(tone, meaning);
  return chart;
}

}  // namespace encore::report
