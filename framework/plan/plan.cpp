// SPDX-License-Identifier: BSD-3-Clause
// make_plan(): reads header and sweep, and makes the runs of every point. `exp run` and `exp plan` call it.
// It collects all problems before it throws, so that a user sees them at once. Read plan.hpp first; sweep.hpp
// and point_maker.hpp do the work.
#include "plan/plan.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/limits.hpp"
#include "plan/plan_header.hpp"
#include "plan/point_maker.hpp"
#include "plan/sweep.hpp"

namespace encore::plan {

namespace {

/// Returns the place for the message if a sweep has too many points or none.
config::Place sweep_place(const config::ExperimentFile& document, const config::Value& root) {
  if (!document.grid.empty()) return document.grid.front().value.origin.place;
  const config::Value::Member* sweep = root.find("sweep");
  return sweep == nullptr ? root.origin.place : sweep->value.origin.place;
}

// Reads the sweep. If it is wrong, returns an empty one, so that the file itself is checked for more
// problems.
Sweep sound_sweep(const config::Value& root, const config::ExperimentFile& document,
                  const config::OptionPlaces& places, config::Problems& problems) {
  config::Problems own;
  Sweep sweep = read_sweep(root, document, places, own);
  problems.add(own.all());
  return own.empty() ? sweep : Sweep{};
}

std::string unique_name(const std::string& name, std::unordered_set<std::string>& names) {
  std::string candidate = name;
  for (int number = 2; !names.insert(candidate).second; ++number)
    candidate = name + "-" + std::to_string(number);
  return candidate;
}

}  // namespace

Plan make_plan(const config::ExperimentFile& document, const config::Catalogue& catalogue,
               const ContentHash& hash, const std::function<void(std::size_t, std::size_t)>& made,
               ParentSource* parents) {
  config::Problems problems;
  config::Value root = document.root;
  config::apply_overrides(root, document.overrides, problems);
  const config::OptionPlaces places(root, catalogue);
  const PlanHeader header = read_header(document, root, places, problems);
  if (const config::Value::Member* search = root.find("search")) {
    problems.add(search->key_origin.place, "search",
                 "the file has a [search], which proposes its runs one after the other: exp run and exp plan "
                 "take such a file, here the runs must stand in it");
    problems.require_none();
  }
  const Sweep sweep = sound_sweep(root, document, places, problems);
  if (sweep.size() * std::max<std::size_t>(header.seeds.size(), 1) > most_points) {
    problems.add(sweep_place(document, root), "sweep",
                 "sweep and seeds ask for more than " + std::to_string(most_points) + " runs");
    problems.require_none();
  }

  Plan plan{.name = header.name,
            .note = header.note,
            .tags = header.tags,
            .origin = header.origin,
            .seeds = header.seed_origin};
  PointMaker maker(document, root, catalogue, sweep, header, hash, parents);
  std::unordered_set<std::string> groups, names;
  const std::vector<Proposal> proposals = propose_all(sweep);
  for (const Proposal& proposal : proposals) {
    if (problems.all().size() >= most_problems) break;
    std::vector<RunPoint> points = maker.make(proposal, problems);
    if (!points.empty() && !groups.insert(points.front().group).second) {
      const bool leaves_out = points.front().varied.size() < proposal.size();
      ++(leaves_out ? plan.alike_by_when : plan.duplicates);
      points.clear();
    }
    for (RunPoint& point : points) {
      point.name = unique_name(point.name, names);
      plan.points.push_back(std::move(point));
    }
    if (made) made(static_cast<std::size_t>(&proposal - proposals.data()) + 1, proposals.size());
  }
  // If there are other problems, a table may be unused only because of them.
  if (problems.empty()) maker.finish(problems);
  if (problems.empty() && plan.points.empty())
    problems.add(sweep_place(document, root), "sweep", "[sweep] excludes every one of its points");
  problems.require_none();
  plan.excluded = maker.excluded();
  plan.warnings = maker.warnings();
  return plan;
}

}  // namespace encore::plan
