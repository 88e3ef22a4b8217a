// SPDX-License-Identifier: BSD-3-Clause
// read_header(): reads name, note, tags and seeds of an experiment file, and limits their number and length.
// plan.cpp and plan/search/search_plan.cpp call it. A limit may rise; a lower one refuses files that work
// today. Read plan_header.hpp first.
#include "plan/plan_header.hpp"

#include "base/limits.hpp"
#include "config/check_value.hpp"
#include "config/core_schema.hpp"
#include "config/validate.hpp"

namespace encore::plan {

namespace {

// Limits far beyond what a user types or reads, since each of these is stored with every run.
constexpr std::size_t longest_name = 100;
constexpr std::size_t longest_note = std::size_t{64} << 10;
constexpr std::size_t most_tags = 100;

/// Adds the seeds to `header`; `valid` holds the option "seed", with its default.
void read_seeds(const config::Value& root, const config::ValidTable& valid, PlanHeader& header,
                config::Problems& problems) {
  const auto add = [&](std::int64_t seed, const config::Origin& origin) {
    header.seeds.push_back(seed);
    header.seed_origin.emplace(seed, origin);
  };
  const config::Value::Member* seeds = root.find("seeds");
  if (seeds == nullptr) {
    if (valid.options.has("seed")) add(valid.options.integer("seed"), valid.origin.at("seed"));
    return;
  }
  const auto refuse = [&](const config::Place& place, const std::string& message) {
    problems.add(place, "seeds", message);
  };
  if (root.find("seed") != nullptr)
    refuse(seeds->key_origin.place, "\"seed\" and \"seeds\" say the same thing twice; keep one of them");
  if (!seeds->value.is_array() || seeds->value.array().empty()) {
    refuse(seeds->value.origin.place,
           "option \"seeds\" of the experiment must be a list of integers, found " +
               config::describe(seeds->value));
    return;
  }
  for (const config::Value& entry : seeds->value.array()) {
    OptionValue checked;
    if (const auto wrong = config::check_value(entry, *config::top_schema().find("seed"), checked)) {
      refuse(entry.origin.place, "each of \"seeds\" " + *wrong);
      continue;
    }
    const std::int64_t value = std::get<std::int64_t>(checked);
    if (header.seed_origin.contains(value))
      refuse(entry.origin.place, "\"seeds\" names " + std::to_string(value) + " twice");
    add(value, entry.origin);
  }
}

void check_sizes(const PlanHeader& header, const config::Origins& origin, config::Problems& problems) {
  const auto check = [&](const char* key, const std::string& text, std::size_t most) {
    if (text.size() > most)
      problems.add(config::place_of(origin, key), key,
                   "option \"" + std::string(key) + "\" of the experiment has \"" + config::shortened(text) +
                       "\" with " + std::to_string(text.size()) + " bytes; at most " + std::to_string(most) +
                       " are stored with a run");
  };
  check("name", header.name, longest_name);
  check("note", header.note, longest_note);
  if (header.name == "." || header.name == "..")
    problems.add(config::place_of(origin, "name"), "name",
                 "the name \"" + header.name + "\" means a folder to every other program; take another");
  if (header.tags.size() > most_tags)
    problems.add(config::place_of(origin, "tags"), "tags",
                 "option \"tags\" of the experiment has " + std::to_string(header.tags.size()) +
                     " words; at most " + std::to_string(most_tags) + " are stored with a run");
  else
    for (const std::string& tag : header.tags) check("tags", tag, longest_name);
}

}  // namespace

PlanHeader read_header(const config::ExperimentFile& document, const config::Value& root,
                       const config::OptionPlaces& places, config::Problems& problems) {
  std::vector<std::string> others = config::top_tables();
  others.emplace_back("seeds");
  const config::ValidTable valid =
      config::validate(root, config::top_schema(), {"", "the experiment"}, problems, others, {}, places);
  const Options& options = valid.options;
  PlanHeader header;
  const std::string stem = document.file.stem().string();
  const std::string name = options.has("name") ? options.text("name") : stem;
  header.pattern = parse_name(name, config::place_of(valid.origin, "name"), problems);
  header.name = header.pattern.has_options() ? stem : name;
  if (options.has("note")) header.note = options.text("note");
  if (options.has("tags")) header.tags = options.text_list("tags");
  check_sizes(header, valid.origin, problems);
  const config::Origin called_like_the_file{config::Source::fallback, root.origin.place};
  for (const char* key : {"name", "note", "tags"}) {
    const auto found = valid.origin.find(key);
    header.origin[key] = found == valid.origin.end() ? called_like_the_file : found->second;
  }
  read_seeds(root, valid, header, problems);
  return header;
}

}  // namespace encore::plan
