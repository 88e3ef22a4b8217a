// SPDX-License-Identifier: BSD-3-Clause
// read_header(): reads name, note, tags and seeds of an experiment file, and limits their number and length.
// plan.cpp and plan/search/search_plan.cpp call it. Read plan_header.hpp first.
#include "plan/plan_header.hpp"

#include "base/limits.hpp"
#include "config/check_value.hpp"
#include "config/core_schema.hpp"
#include "config/validate.hpp"

namespace encore {

namespace {

// Limits far beyond what a user types or reads, since each of these is stored with every run.
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

}  // namespace

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

}  // namespace encore
