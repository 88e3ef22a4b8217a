// See search_plan.hpp.
#include "plan/search/search_plan.hpp"

#include <algorithm>

#include "config/selection.hpp"
#include "data/hash.hpp"
#include "plan/label.hpp"
#include "plan/search/decide.hpp"
#include "plan/search/propose.hpp"

namespace encore::search {

namespace {

/// A search whose first proposals can all not be trained is more likely a slip than bad luck.
constexpr std::size_t first_trials = 10;

Proposal proposal_of(const std::vector<RandomVariable>& space, const Point& point) {
  Proposal proposal;
  for (std::size_t i = 0; i < point.size(); ++i) {
    Value value = value_of(space[i], point[i]);
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

SearchPlan::SearchPlan(const ExperimentFile& document, const Catalogue& catalogue, const ContentHash& hash,
                       ParentSource* parents)
    : document_(document) {
  Problems problems;
  Value root = document.root;
  apply_overrides(root, document.overrides, problems);
  const OptionPlaces places(root, catalogue);
  header_ = read_header(document, root, places, problems);
  search_ = read_search(root, document, places, header_, problems);
  problems.require_none();
  maker_.emplace(document, std::move(root), catalogue, search_.space, header_, hash, parents);
  look_at_first_trials(problems);
  problems.require_none();
}

void SearchPlan::look_at_first_trials(Problems& problems) {
  Problems first;
  History history;
  for (std::size_t number = 0; number < first_trials; ++number) {
    Problems own;
    const Point point = propose(search_.variables(), search_.options, history);
    const std::vector<RunPoint> runs = maker_->make(proposal_of(search_.variables(), point), own);
    if (!runs.empty()) {
      maker_->finish(problems);
      read_epochs(runs.front(), problems);
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

void SearchPlan::read_epochs(const RunPoint& run, Problems& problems) {
  const nlohmann::json& train = run.config.at("train");
  select_ = train.at("select").get<std::string>();
  SearchOptions& options = search_.options;
  if (options.objectives.empty()) {
    const Selection selection = parse_selection(select_);
    options.objectives.push_back({selection.metric, selection.maximize});
  }
  const bool has_epochs = train.contains("epochs") && train.at("epochs").is_number_integer();
  if (has_epochs && std::ranges::none_of(search_.variables(), [](const RandomVariable& variable) {
        return variable.key == "train.epochs";
      }))
    options.epochs = std::max<std::int64_t>(train.at("epochs").get<std::int64_t>(), 1);
  if (options.pruning == Pruning::none) return;
  const Place place =
      document_.root.find("search") == nullptr ? Place() : document_.root.find("search")->key_origin.place;
  if (!has_epochs)
    problems.add(place, "search.pruning",
                 "[search] with \"pruning\" judges trials after epochs, but the experiment is as long as "
                 "train.steps; give train.epochs instead");
  else if (options.first_rung >= options.epochs)
    problems.add(place, "search.first_rung",
                 "[search] with \"pruning\" judges trials after " + std::to_string(options.first_rung) +
                     (options.first_rung == 1 ? " epoch" : " epochs") +
                     " for the first time, but they have " + std::to_string(options.epochs) +
                     " in all; raise train.epochs or lower first_rung");
}

TrialRuns SearchPlan::make(const Point& point) {
  Problems problems;
  TrialRuns trial{.runs = maker_->make(proposal_of(search_.variables(), point), problems), .active = {}};
  for (const RandomVariable& variable : search_.variables())
    trial.active.push_back(trial.runs.empty() ||
                           std::ranges::any_of(trial.runs.front().varied, [&](const auto& varied) {
                             return varied.first == variable.key;
                           }));
  if (trial.runs.empty())
    trial.problem = problems.empty() ? "excluded by \"exclude\" of [search]" : problems.all().front().text();
  return trial;
}

std::string value_text(const RandomVariable& variable, double coordinate) {
  const Value value = value_of(variable, coordinate);
  // Choices that were read from a database are texts already.
  return value.is_text() ? value.text() : value.is_table() ? label_of(value) : to_text(value);
}

std::string text_of(const std::vector<RandomVariable>& space, const Trial& trial) {
  std::string text;
  for (std::size_t i = 0; i < space.size(); ++i)
    if (trial.active[i])
      text +=
          (text.empty() ? "" : "  ") + last_part(space[i].key) + "=" + value_text(space[i], trial.point[i]);
  return text;
}

}  // namespace encore::search
