// SPDX-License-Identifier: BSD-3-Clause
// PointMaker: turns a proposal into runs: sets values, fills in the parent, resolves, excludes, hashes files
// and names the runs. plan.cpp and plan/search/search_plan.cpp call it. The order of the steps in make()
// decides which problems a user sees; add a check where its values are complete. Read point_maker.hpp first.
#include "plan/point_maker.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "config/check_value.hpp"
#include "config/toml.hpp"
#include "plan/identity.hpp"
#include "plan/parent_filler.hpp"
#include "record/specification.hpp"

namespace encore::plan {

namespace {

/// Replaces each folder by its files, sorted by name. Hidden files and folders within it do not count. Throws
/// Error when a folder holds no file.
std::vector<std::string> with_folders_listed(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code failure;
    if (!fs::is_directory(path, failure)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> within;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, failure))
      if (entry.is_regular_file(failure) && !entry.path().filename().string().starts_with('.'))
        within.push_back(entry.path().string());
    if (within.empty()) throw Error("the folder " + path + " holds no file that could be read");
    std::ranges::sort(within);
    files.insert(files.end(), within.begin(), within.end());
  }
  return files;
}

/// Returns whether the condition holds for a resolved experiment. `word` is "exclude" or "when", for
/// messages.
bool condition_holds(const std::string& word, const Condition& condition, const nlohmann::json& config,
                     config::Problems& problems) {
  try {
    return condition.expression.holds(config);
  } catch (const Error& error) {
    problems.add(condition.place, "sweep." + word, word + " \"" + condition.text + "\": " + error.what());
    return false;
  }
}

}  // namespace

PointMaker::PointMaker(const config::ExperimentFile& document, config::Value root,
                       const config::Catalogue& catalogue, const Sweep& sweep, PlanHeader header,
                       ContentHash hash, ParentSource* parents)
    : document_(document),
      root_(std::move(root)),
      parents_(parents),
      catalogue_(catalogue),
      sweep_(sweep),
      header_(std::move(header)),
      hash_(std::move(hash)),
      names_(header_.pattern, sweep) {
  for (const char* varied : {"sweep", "search"}) root_.erase(varied);
  assigned_ = root_;
}

std::vector<RunPoint> PointMaker::make(const Proposal& proposal, config::Problems& problems) {
  return make(proposal, header_.seeds, problems);
}

std::vector<RunPoint> PointMaker::make(const Proposal& proposal, const std::vector<std::int64_t>& seeds,
                                       config::Problems& problems) {
  config::Problems own;
  const Proposal applied = applicable(proposal, problems);
  const config::Value& root = assigned(applied, own);
  config::Problems beside;  // what is missing because a table that names a run cannot be used
  config::Problems& found = from_is_usable_ ? own : beside;
  config::Resolved resolved = config::resolve(root, catalogue_, found);
  if (!from_is_usable_) config::check_given_options(assigned_, catalogue_, own);
  note_names(resolved);
  // An excluded point may be wrong, which may be the reason for its exclusion.
  if (is_excluded(resolved.config, problems)) {
    ++excluded_;
    return {};
  }
  if (const auto teacher = links_.find(record::teacher_role); own.empty() && teacher != links_.end())
    require_same_texts(resolved.config, resolved.origin, *teacher->second, own);
  const std::map<std::string, ContentFile> files =
      own.empty() ? hash_files(resolved, own) : decltype(files){};
  problems.add(own.all());
  if (!own.empty()) return {};

  RunPoint point;
  std::map<std::string, std::string> hashes;
  for (const auto& [key, file] : files) {
    hashes[key] = file.sha256;
    point.data[data_role(key)] = file;
  }
  std::map<std::string, std::string> parents;
  for (const auto& [role, parent] : links_) {
    parents[role] = identity_of(*parent);
    if (parent->weights) point.data[role] = *parent->weights;
  }
  const CanonicalText canonical(resolved, hashes, parents);
  point.group = sha256(canonical.without_seed());
  const std::string name = names_.of_group(applied, resolved, point.group, problems);
  point.types = type_versions(resolved);
  point.config = std::move(resolved.config);
  point.origin = std::move(resolved.origin);
  for (const Assignment& assignment : applied)
    point.varied.emplace_back(assignment.key, config::to_text(assignment.value));

  std::vector<RunPoint> points;
  points.reserve(seeds.size());
  for (const std::int64_t& seed : seeds) {
    point.seed = seed;
    point.name = RunNames::with_seed(name, seed);
    point.group_name = names_.names_seed() ? point.name : name;
    point.canonical = canonical.with_seed(seed);
    point.question = sha256(point.canonical);
    if (&seed == &seeds.back())
      points.push_back(std::move(point));
    else
      points.push_back(point);
  }
  return points;
}

/// Returns the assignments of a proposal whose conditions in [sweep.when] hold. It decides level by level,
/// since a condition may depend on a conditional option.
Proposal PointMaker::applicable(const Proposal& proposal, config::Problems& problems) {
  std::set<std::string> undecided, dropped;
  for (const ConditionalOption& option : sweep_.conditional_options) undecided.insert(option.key);
  const auto remaining = [&] {
    Proposal out;
    for (const Assignment& assignment : proposal)
      if (!undecided.contains(assignment.key) && !dropped.contains(assignment.key)) out.push_back(assignment);
    return out;
  };
  Proposal chosen = remaining();
  for (auto option = sweep_.conditional_options.begin(); option != sweep_.conditional_options.end();) {
    // make() finds the problems of the point again.
    config::Problems ignored;
    const nlohmann::json config = config::resolve(assigned(chosen, ignored), catalogue_, ignored).config;
    for (const std::size_t level = option->level;
         option != sweep_.conditional_options.end() && option->level == level; ++option) {
      undecided.erase(option->key);
      if (condition_holds("when", option->condition, config, problems))
        met_options_.insert(option->key);
      else
        dropped.insert(option->key);
    }
    chosen = remaining();
  }
  return chosen;
}

/// Returns the document's root with the values of the proposal and with those that model.from decides. If two
/// points set the same options, only their values are replaced: copying the root for each point would cost as
/// much as all the rest.
const config::Value& PointMaker::assigned(const Proposal& proposal, config::Problems& problems) {
  std::vector<std::string> keys;
  for (const Assignment& assignment : proposal) keys.push_back(assignment.key);
  if (assigned_keys_ != keys) assigned_ = root_;
  assigned_keys_ = std::move(keys);
  // Whole tables are set before the options in them, whatever the order of the sweep.
  std::vector<const Assignment*> order;
  for (const Assignment& assignment : proposal) order.push_back(&assignment);
  std::ranges::stable_sort(order, {}, [](const Assignment* assignment) { return assignment->path.size(); });
  for (const Assignment* assignment : order)
    if (!assigned_.set(assignment->path, assignment->value, assignment->key_origin))
      problems.add(assignment->key_origin.place, assignment->key,
                   "\"" + assignment->key + "\" goes through a value that is not a table");
  config::apply_overrides(assigned_, document_.overrides, problems);
  from_is_usable_ = true;
  links_.clear();
  const bool has_parent = named_parent(assigned_) != nullptr,
             has_folder = pretrained::named_folder(assigned_) != nullptr,
             has_teacher = named_teacher(assigned_) != nullptr, has_steps = assigned_.find("app") != nullptr;
  if (!has_parent && !has_folder && !has_teacher && !has_steps) return assigned_;
  filled_ = assigned_;
  const auto add_link = [&](const std::string& table, const Parent* parent) {
    if (parent != nullptr)
      links_[table] = parent;
    else
      from_is_usable_ = false;
  };
  if (has_steps)
    for (const auto& [table, model] : link_step_models(filled_, parents_, problems)) add_link(table, model);
  if (has_parent)
    add_link(record::pretrained_role, fill_from_parent(filled_, parents_, problems));
  else if (has_folder)
    from_is_usable_ = filler_.fill(filled_, catalogue_, problems) && from_is_usable_;
  if (has_teacher) add_link(record::teacher_role, link_teacher(filled_, parents_, problems));
  return filled_;
}

void PointMaker::note_names(const config::Resolved& resolved) {
  for (const auto& [key, table] : resolved.tables) {
    if (!known_tables_.emplace(key, table.schema).second) continue;
    for (const Option& option : table.schema->options()) known_keys_.insert(key + "." + option.name);
    if (table.offer != nullptr) known_keys_.insert(key + ".type");
    static const std::string layer = "model.layer.";
    if (key.starts_with(layer)) used_layers_.insert(key.substr(layer.size()));
  }
  for (const auto& [name, place] : resolved.unused_layers) unused_layers_.emplace(name, place);
}

bool PointMaker::is_excluded(const nlohmann::json& config, config::Problems& problems) {
  bool excluded = false;
  for (const Condition& exclusion : sweep_.exclusions) {
    if (excluded && met_exclusions_.contains(&exclusion)) continue;
    config::Problems ignored;  // the point is left out anyway
    if (!condition_holds("exclude", exclusion, config, excluded ? ignored : problems)) continue;
    excluded = true;
    met_exclusions_.insert(&exclusion);
  }
  return excluded;
}

std::map<std::string, ContentFile> PointMaker::hash_files(const config::Resolved& resolved,
                                                          config::Problems& problems) {
  std::map<std::string, ContentFile> files;
  for (const auto& [key, table] : resolved.tables)
    for (const Option& option : table.schema->options()) {
      if (!config::is_path(option) || !table.options.has(option.name)) continue;
      const std::string dotted_key = key + "." + option.name;
      if (!counts_by_content(dotted_key)) continue;
      try {
        std::vector<std::string> paths = table.options.paths(option.name);
        if (option.type == OptionType::path_list) paths = with_folders_listed(paths);
        for (std::size_t i = 0; i < paths.size(); ++i) {
          auto known = hashes_.find(paths[i]);
          if (known == hashes_.end()) known = hashes_.emplace(paths[i], hash_(paths[i])).first;
          files[record::numbered_file(dotted_key, i)] = {paths[i], known->second};
        }
      } catch (const Error& error) {
        problems.add(config::place_of(resolved.origin, dotted_key), dotted_key,
                     "option \"" + dotted_key + "\": " + error.what());
      }
    }
  return files;
}

void PointMaker::require_known(const std::string& word, const Condition& condition,
                               config::Problems& problems) const {
  const std::vector<std::string> known(known_keys_.begin(), known_keys_.end());
  for (const std::string& key : condition.expression.keys())
    if (!known_keys_.contains(key))
      problems.add(
          condition.place, "sweep." + word,
          word + " \"" + condition.text + "\": no run has an option \"" + key + "\"" +
              did_you_mean(
                  key, known,
                  key.find('.') == std::string::npos ? "; a text stands in quotes: '" + key + "'" : ""));
}

void PointMaker::finish_conditional_options(config::Problems& problems) const {
  for (const ConditionalOption& option : sweep_.conditional_options)
    require_known("when", option.condition, problems);
  // Options of the command line and random draws may leave a sensible condition unmet.
  if (!problems.empty() || !document_.overrides.empty() || !document_.grid.empty() ||
      sweep_.has_random_condition())
    return;
  for (const ConditionalOption& option : sweep_.conditional_options)
    if (!met_options_.contains(option.key))
      problems.add(
          option.condition.place, "sweep.when",
          "when \"" + option.condition.text + "\": holds in no point of the sweep, so \"" + option.key +
              "\" would never be varied; correct the condition, or remove the option from the sweep");
}

std::vector<config::Problem> PointMaker::warnings() const {
  const auto is_left_open = [&](const std::string& key) {
    const auto within = [&](const std::string& table) {
      return key == table || key.starts_with(table + ".");
    };
    return std::ranges::any_of(document_.overrides, within, &config::Override::key) ||
           std::ranges::any_of(sweep_.random, within, &RandomVariable::key);
  };
  std::vector<config::Problem> warnings;
  for (const Condition& exclusion : sweep_.exclusions)
    if (!met_exclusions_.contains(&exclusion) &&
        std::ranges::none_of(exclusion.expression.keys(), is_left_open))
      warnings.push_back(
          {exclusion.place, "sweep.exclude",
           "exclude \"" + config::shortened(exclusion.text) + "\" meets no point of the sweep"});
  return warnings;
}

void PointMaker::finish(config::Problems& problems) const {
  for (const Condition& exclusion : sweep_.exclusions) require_known("exclude", exclusion, problems);
  finish_conditional_options(problems);
  names_.finish(known_keys_, problems);
  const std::vector<std::string> used(used_layers_.begin(), used_layers_.end());
  for (const auto& [name, place] : unused_layers_) {
    // A table that a base file offers and this file does not use is not a mistake.
    if (used_layers_.contains(name) || place.file != document_.file.string()) continue;
    problems.add(place, "model.layer." + name,
                 "no run uses the table [model.layer." + name +
                     "]: \"block\" and \"norm\" of [model] do not name it" + did_you_mean(name, used));
  }
}

}  // namespace encore::plan
