#include "plan/plan.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "config/core_schema.hpp"
#include "config/limits.hpp"
#include "config/validate.hpp"
#include "plan/point_maker.hpp"
#include "plan/sweep.hpp"

namespace encore {

namespace {

// Far beyond what anybody types or reads; each of them is stored with every run.
constexpr std::size_t longest_name = 100;
constexpr std::size_t longest_note = std::size_t{64} << 10;
constexpr std::size_t most_tags = 100;

/// Adds the seeds to `header`; `valid` holds the option "seed", with its default.
void read_seeds(const Value& root, const ValidTable& valid, PlanHeader& header, Problems& problems) {
  const auto add = [&](std::int64_t seed, const Origin& origin) {
    header.seeds.push_back(seed);
    header.seed_origin.emplace(seed, origin);
  };
  const Value::Member* seeds = root.find("seeds");
  if (seeds == nullptr) {
    if (valid.options.has("seed")) add(valid.options.integer("seed"), valid.origin.at("seed"));
    return;
  }
  const auto refuse = [&](const Place& place, const std::string& message) {
    problems.add(place, "seeds", message);
  };
  if (root.find("seed") != nullptr)
    refuse(seeds->key_origin.place, "\"seed\" and \"seeds\" say the same thing twice; keep one of them");
  if (!seeds->value.is_array() || seeds->value.array().empty()) {
    refuse(seeds->value.origin.place,
           "option \"seeds\" of the experiment must be a list of integers, found " + describe(seeds->value));
    return;
  }
  for (const Value& entry : seeds->value.array()) {
    OptionValue checked;
    if (const auto wrong = check_value(entry, *top_schema().find("seed"), checked)) {
      refuse(entry.origin.place, "each of \"seeds\" " + *wrong);
      continue;
    }
    const std::int64_t value = std::get<std::int64_t>(checked);
    if (header.seed_origin.contains(value))
      refuse(entry.origin.place, "\"seeds\" names " + std::to_string(value) + " twice");
    add(value, entry.origin);
  }
}

void check_sizes(const PlanHeader& header, const Origins& origin, Problems& problems) {
  const auto check = [&](const char* key, const std::string& text, std::size_t most) {
    if (text.size() > most)
      problems.add(place_of(origin, key), key,
                   "option \"" + std::string(key) + "\" of the experiment has \"" + shortened(text) +
                       "\" with " + std::to_string(text.size()) + " bytes; at most " + std::to_string(most) +
                       " are stored with a run");
  };
  check("name", header.name, longest_name);
  check("note", header.note, longest_note);
  if (header.name == "." || header.name == "..")
    problems.add(place_of(origin, "name"), "name",
                 "the name \"" + header.name + "\" means a folder to every other program; take another");
  if (header.tags.size() > most_tags)
    problems.add(place_of(origin, "tags"), "tags",
                 "option \"tags\" of the experiment has " + std::to_string(header.tags.size()) +
                     " words; at most " + std::to_string(most_tags) + " are stored with a run");
  else
    for (const std::string& tag : header.tags) check("tags", tag, longest_name);
}

PlanHeader read_header(const ExperimentFile& document, const Value& root, const OptionPlaces& places,
                       Problems& problems) {
  std::vector<std::string> others = top_tables();
  others.emplace_back("seeds");
  const ValidTable valid = validate(root, top_schema(), {"", "the experiment"}, problems, others, {}, places);
  const Options& options = valid.options;
  PlanHeader header;
  const std::string stem = document.file.stem().string();
  const std::string name = options.has("name") ? options.text("name") : stem;
  header.pattern = parse_name(name, place_of(valid.origin, "name"), problems);
  header.name = header.pattern.has_options() ? stem : name;
  if (options.has("note")) header.note = options.text("note");
  if (options.has("tags")) header.tags = options.text_list("tags");
  check_sizes(header, valid.origin, problems);
  const Origin called_like_the_file{Source::fallback, root.origin.place};
  for (const char* key : {"name", "note", "tags"}) {
    const auto found = valid.origin.find(key);
    header.origin[key] = found == valid.origin.end() ? called_like_the_file : found->second;
  }
  read_seeds(root, valid, header, problems);
  return header;
}

/// Of what makes too many points, or none.
Place sweep_place(const ExperimentFile& document, const Value& root) {
  if (!document.grid.empty()) return document.grid.front().value.origin.place;
  const Value::Member* sweep = root.find("sweep");
  return sweep == nullptr ? root.origin.place : sweep->value.origin.place;
}

// With a sweep that is wrong only the file itself is looked through for more problems.
Sweep sound_sweep(const Value& root, const ExperimentFile& document, const OptionPlaces& places,
                  Problems& problems) {
  Problems own;
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

Plan make_plan(const ExperimentFile& document, const Catalogue& catalogue, const ContentHash& hash,
               const std::function<void(std::size_t, std::size_t)>& made, ParentSource* parents) {
  Problems problems;
  Value root = document.root;
  apply_overrides(root, document.overrides, problems);
  const OptionPlaces places(root, catalogue);
  const PlanHeader header = read_header(document, root, places, problems);
  const Sweep sweep = sound_sweep(root, document, places, problems);
  if (sweep.size() * std::max<std::size_t>(header.seeds.size(), 1) > most_points) {
    problems.add(sweep_place(document, root), "sweep",
                 "sweep and seeds ask for more than " + std::to_string(most_points) + " runs");
    problems.require_none();
  }

  Plan plan{header.name, header.note, header.tags, header.origin, header.seed_origin, {}, 0, 0, {}};
  PointMaker maker(document, root, catalogue, sweep, header, hash, parents);
  std::unordered_set<std::string> questions, names;
  const std::vector<Proposal> proposals = propose_all(sweep);
  for (const Proposal& proposal : proposals) {
    if (problems.all().size() >= most_problems) break;
    for (RunPoint& point : maker.make(proposal, problems)) {
      if (!questions.insert(point.question).second) {
        ++plan.duplicates;
        continue;
      }
      point.name = unique_name(point.name, names);
      plan.points.push_back(std::move(point));
    }
    if (made) made(static_cast<std::size_t>(&proposal - proposals.data()) + 1, proposals.size());
  }
  // With other problems about, a table may be unused only because of them.
  if (problems.empty()) maker.finish(problems);
  if (problems.empty() && plan.points.empty())
    problems.add(sweep_place(document, root), "sweep", "[sweep] excludes every one of its points");
  problems.require_none();
  plan.excluded = maker.excluded();
  plan.warnings = maker.warnings();
  return plan;
}

}  // namespace encore
