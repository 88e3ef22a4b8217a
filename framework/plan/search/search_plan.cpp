// SPDX-License-Identifier: BSD-3-Clause
// SearchPlan: makes the runs of a trial from its point, its seeds and its epochs, and checks the first points
// before a search begins. `exp plan`, `exp run` and app/search_session.cpp call it. The identity decides
// which stored search continues, so what it is computed from does not change. Read search_plan.hpp first.
#include "plan/search/search_plan.hpp"

#include <algorithm>
#include <numeric>

#include "base/sha256.hpp"
#include "config/selection.hpp"
#include "plan/label.hpp"
#include "plan/search/decide.hpp"
#include "plan/search/propose.hpp"

namespace encore::plan::search {

namespace {

/// If none of the first proposals can be trained, a mistake in the file is more likely than bad luck.
constexpr std::size_t first_trials = 10;

Proposal proposal_of(const std::vector<RandomVariable>& space, const Point& point) {
  Proposal proposal;
  for (std::size_t i = 0; i < point.size(); ++i) {
    config::Value value = value_of(space[i], point[i]);
    std::string label = space[i].law == RandomVariable::Law::choice
                            ? labels_of(space[i].values)[static_cast<std::size_t>(point[i])]
                            : drawn_label(value);
    proposal.push_back(
        {space[i].path, space[i].key, space[i].key_origin, std::move(value), std::move(label)});
  }
  return proposal;
}

std::string last_part(const std::string& key) {
  return key.substr(key.rfind('.') + 1);
}

}  // namespace

SearchPlan::SearchPlan(const config::ExperimentFile& document, const config::Catalogue& catalogue,
                       const ContentHash& hash, ParentSource* parents)
    : document_(document) {
  config::Problems problems;
  config::Value root = document.root;
  config::apply_overrides(root, document.overrides, problems);
  const config::OptionPlaces places(root, catalogue);
  header_ = read_header(document, root, places, problems);
  search_ = read_search(root, document, places, header_, problems);
  problems.require_none();
  maker_.emplace(document, std::move(root), catalogue, search_.space, header_, hash, parents);
  look_at_first_trials(problems);
  problems.require_none();
}

void SearchPlan::look_at_first_trials(config::Problems& problems) {
  config::Problems first;
  History history;
  for (std::size_t number = 0; number < first_trials; ++number) {
    config::Problems own;
    const Point point = propose(search_.variables(), search_.options, history);
    const std::vector<RunPoint> runs = maker_->make(proposal_of(search_.variables(), point), own);
    if (!runs.empty()) {
      maker_->finish(problems);
      read_length(runs.front(), problems);
      const nlohmann::json identity = {{"settings", settings_json(search_.options)},
                                       {"space", space_json(search_.variables())},
                                       {"seeds", header_.seeds},
                                       {"first", number},
                                       {"experiment", runs.front().canonical}};
      identity_ = sha256(identity.dump());
      return;
    }
    if (first.empty()) first.add(own.all());
    history.trials.push_back({point, std::vector<bool>(point.size(), true)});
  }
  if (first.empty())
    first.add(
        document_.root.find("search")->key_origin.place, "search",
        "\"exclude\" of [search] takes out each of its first " + std::to_string(first_trials) + " trials");
  problems.add(first.all());
}

void SearchPlan::read_length(const RunPoint& run, config::Problems& problems) {
  const bool is_application = run.config.contains("app");
  const nlohmann::json nothing = nlohmann::json::object();
  const nlohmann::json& train = is_application ? nothing : run.config.at("train");
  select_ = (is_application ? run.config.at("app") : train).value("select", "");
  SearchOptions& options = search_.options;
  const config::Value::Member* table = document_.root.find("search");
  const config::Place search = table == nullptr ? config::Place() : table->key_origin.place;
  if (options.objectives.empty() && select_.empty())
    return problems.add(search, "search.objective",
                        "no step of the application has a measure to search by; give [search] an objective");
  if (is_application && options.pruning != Pruning::none)
    return problems.add(
        search, "search.pruning",
        "an application has no steps of training at which it could be pruned; remove pruning");
  if (options.objectives.empty()) {
    const config::Selection selection = config::parse_selection(select_);
    options.objectives.push_back({selection.metric, selection.maximize});
  }
  const auto length = [&](const char* name) {
    return train.contains(name) && train.at(name).is_number_integer() ? train.at(name).get<std::int64_t>()
                                                                      : 0;
  };
  // A search without pruning does not use steps, and earlier versions stored it without them.
  const bool by_steps = options.pruning != Pruning::none && length("epochs") == 0;
  const bool varies = std::ranges::any_of(
      search_.variables(), [](const RandomVariable& variable) { return variable.key == "train.epochs"; });
  if (by_steps) options.unit = LengthUnit::steps;
  if (!varies) options.epochs = std::max<std::int64_t>(length(by_steps ? "steps" : "epochs"), 1);
  if (options.pruning != Pruning::none) read_rungs(train, problems);
}

void SearchPlan::read_rungs(const nlohmann::json& train, config::Problems& problems) {
  SearchOptions& options = search_.options;
  const config::Value::Member* table = document_.root.find("search");
  const config::Place place = table == nullptr ? config::Place() : table->key_origin.place;
  if (options.unit == LengthUnit::steps) {
    const std::int64_t evaluated = train.value("evaluate_every", std::int64_t{0});
    if (evaluated == 0)
      return problems.add(
          place, "train.evaluate_every",
          "[search] with \"pruning\" and train.steps judges trials by what dev gave within an epoch; "
          "give train.evaluate_every, or train.epochs instead of train.steps");
    // The default is the first step at which dev is scored.
    for (std::int64_t* rung : {&options.first_rung, &options.interval}) {
      if (*rung == 0) *rung = evaluated;
      if (*rung % evaluated != 0)
        problems.add(place, "search.first_rung",
                     "[search] judges trials after " + length_text(options.unit, *rung) +
                         ", but dev is scored every " + length_text(options.unit, evaluated) +
                         "; first_rung and interval must be multiples of train.evaluate_every");
    }
  }
  for (std::int64_t* rung : {&options.first_rung, &options.interval})
    *rung = std::max<std::int64_t>(*rung, 1);
  if (options.first_rung >= options.epochs)
    problems.add(place, "search.first_rung",
                 "[search] with \"pruning\" judges trials after " +
                     length_text(options.unit, options.first_rung) + " for the first time, but they have " +
                     std::to_string(options.epochs) + " in all; raise train." + name_of(options.unit) +
                     " or lower first_rung");
}

TrialRuns SearchPlan::make(const Point& point) {
  return make(point, header_.seeds);
}

TrialRuns SearchPlan::make_fresh(const Point& point, std::int64_t seeds) {
  std::vector<std::int64_t> fresh(static_cast<std::size_t>(seeds));
  std::iota(fresh.begin(), fresh.end(), std::ranges::max(header_.seeds) + 1);
  return make(point, fresh);
}

TrialRuns SearchPlan::make(const Point& point, const std::vector<std::int64_t>& seeds) {
  config::Problems problems;
  TrialRuns trial{.runs = maker_->make(proposal_of(search_.variables(), point), seeds, problems),
                  .active = {}};
  for (const RandomVariable& variable : search_.variables())
    trial.active.push_back(std::ranges::find(maker_->applied_keys(), variable.key) !=
                           maker_->applied_keys().end());
  trial.excluded = trial.runs.empty() && problems.empty();
  if (trial.runs.empty())
    trial.problem = trial.excluded ? "excluded by \"exclude\" of [search]" : problems.all().front().text();
  return trial;
}

std::string value_text(const RandomVariable& variable, double coordinate) {
  const config::Value value = value_of(variable, coordinate);
  // Choices that were read from a database are strings already.
  return value.is_text() ? value.text() : value.is_table() ? label_of(value) : config::to_text(value);
}

std::string text_of(const std::vector<RandomVariable>& space, const Trial& trial) {
  std::string text;
  for (std::size_t i = 0; i < space.size(); ++i)
    if (trial.active[i])
      text +=
          (text.empty() ? "" : "  ") + last_part(space[i].key) + "=" + value_text(space[i], trial.point[i]);
  return text;
}

}  // namespace encore::plan::search
