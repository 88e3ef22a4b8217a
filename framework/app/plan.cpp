// SPDX-License-Identifier: BSD-3-Clause
// `exp plan`: what `exp run` would do, without writing anything. plan_runs(): read_plan -> compare_with the
// database -> require_startable -> the expected time of each run (run_time.hpp). plan_sizes(): the worker
// computes the cost of each distinct model. plan_search(): the next decisions of a search. cli/plan_verb.cpp
// calls all three. The steps must stay those of run.cpp, or the plan would be wrong. Read next: plan.hpp.
#include "app/plan.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <map>

#include <nlohmann/json.hpp>

#include "app/planned_runs.hpp"
#include "app/worker_answer.hpp"
#include "base/json_text.hpp"
#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "base/shell_word.hpp"
#include "runner/check.hpp"
#include "runner/worker_process.hpp"
#include "world/process.hpp"

namespace encore::app {

namespace {

using plan::search::Decision;
using plan::search::DecisionKind;

std::vector<std::size_t> shown_runs(const PlannedRuns& planned, const std::string& pattern) {
  std::vector<std::size_t> shown;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < planned.runs.size(); ++i) {
    const PlannedRun& run = planned.runs[i];
    const std::string& name = run.name();
    names.push_back(name);
    if (pattern.empty() || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) shown.push_back(i);
  }
  if (shown.empty())
    throw UsageError(
        "no run of " + planned.file.string() + " has the name \"" + pattern + "\"" +
        did_you_mean(pattern, names,
                     "; " + shell_command({"exp", "plan", planned.file.string()}) + " lists them"));
  return shown;
}

std::vector<std::optional<TimeEstimate>> times_of(store::Store* store, const PlannedRuns& planned) {
  std::vector<std::optional<TimeEstimate>> times(planned.runs.size());
  if (store == nullptr || planned.to_do() == 0) return times;
  RunTimes past(*store, planned.backend, world::this_process().host);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const PlannedRun& run = planned.runs[i];
    const bool goes_on = run.goes_on() && run.has_checkpoint;
    if (run.to_do()) times[i] = past.estimate(run.specification, goes_on ? share_left(*run.before) : 1.0);
  }
  return times;
}

// --- sizes ---

/// Replaces the hash of a data file that may be missing, for --size, which reads no data. Each path gets
/// another value.
std::string hash_of_path(const std::filesystem::path& path) {
  return sha256(path.string());
}

std::vector<std::string> size_arguments(const SizeRequest& request) {
  std::vector<std::string> arguments = {"size"};
  for (const auto& [name, number] :
       {std::pair("--length", request.length), std::pair("--batch", request.batch),
        std::pair("--vocabulary", request.vocabulary), std::pair("--labels", request.labels)})
    if (number) arguments.insert(arguments.end(), {name, std::to_string(*number)});
  if (request.picked) arguments.insert(arguments.end(), {"--picked", std::to_string(*request.picked)});
  return arguments;
}

/// Returns the tables that decide the model: runs with equal keys have equal models and train them in the
/// same way.
std::string model_key(const nlohmann::json& config) {
  nlohmann::json tables = config;
  tables.erase("schedule");
  return tables.dump();
}

nlohmann::json ask(const App& app, const PlannedRuns& planned, const std::vector<std::string>& arguments,
                   const std::vector<const record::Specification*>& models) {
  nlohmann::json request = nlohmann::json::array();
  for (const record::Specification* model : models) request.push_back(model->to_json());
  std::size_t done = 0;
  const ProgressEnd end{app.events};
  const auto seen = [&](std::string_view text) {
    done += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    app.events.progressed("sized", std::min(done, models.size()), models.size(), "models");
  };
  const runner::ProgramOutput answer =
      runner::run_program(planned.worker, arguments, request.dump(), {.seen = seen});
  nlohmann::json sizes = json_or_null(answer.output);
  if (!answer.end.success() || !sizes.is_array() || sizes.size() != models.size())
    throw Error(planned.worker.string() + " size ended with " + answer.end.text() + " and printed no answer" +
                (answer.errors.empty() ? "" : ":\n" + answer.errors));
  return sizes;
}

std::vector<record::SizeAnswer> sizes_in(const nlohmann::json& answers,
                                         const std::vector<const record::Specification*>& models) {
  config::Problems problems;
  std::vector<record::SizeAnswer> sizes;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].contains("message")) {
      sizes.push_back(from_json_object<record::SizeAnswer>(answers[i]));
      continue;
    }
    const auto [key, message] = from_json_object<record::SizeProblem>(answers[i]);
    const config::Place place = key.empty() ? config::Place() : config::place_of(models[i]->origin, key);
    problems.add(place, key, place.known() || key.empty() ? message : key + ": " + message);
  }
  problems.require_none();
  return sizes;
}

std::vector<SizedModel> sizes_of(const App& app, const PlannedRuns& planned,
                                 const std::vector<std::size_t>& shown,
                                 const std::vector<std::string>& arguments) {
  std::map<std::string, std::size_t> numbers;
  std::vector<const record::Specification*> models;
  std::vector<std::vector<std::string>> runs;
  for (const std::size_t index : shown) {
    const record::Specification& specification = planned.runs[index].specification;
    const auto [known, is_new] = numbers.emplace(model_key(specification.config), models.size());
    if (is_new) {
      models.push_back(&specification);
      runs.emplace_back();
    }
    runs[known->second].push_back(specification.name);
  }
  std::vector<record::SizeAnswer> answers;
  try {
    answers = sizes_in(ask(app, planned, arguments, models), models);
  } catch (const FieldError& error) {
    refuse_answer(planned.worker, arguments, error);
  }
  std::vector<SizedModel> sizes;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto same = std::ranges::find(sizes, answers[i], &SizedModel::size);
    if (same == sizes.end())
      sizes.push_back({.runs = runs[i], .size = std::move(answers[i])});
    else
      same->runs.insert(same->runs.end(), runs[i].begin(), runs[i].end());
  }
  return sizes;
}

// --- searches ---

/// Returns the next decisions, in order, assuming that no trial ends meanwhile.
std::vector<Decision> next_decisions(const PlannedSearch& planned, std::size_t most) {
  std::vector<Decision> decisions;
  plan::search::History history = planned.record.history;
  const plan::search::Search& wanted = planned.plan->search();
  while (decisions.size() < most) {
    Decision decision = plan::search::decide(planned.space(), wanted.options, wanted.limits, history);
    if (decision.kind == DecisionKind::wait || decision.kind == DecisionKind::finish) break;
    if (decision.kind == DecisionKind::propose)
      history.trials.push_back({decision.point, std::vector<bool>(decision.point.size(), true)});
    history.decisions.push_back(decision);
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

std::size_t trials_in_progress(const PlannedSearch& planned) {
  const std::vector<plan::search::TrialState> states = plan::search::trial_states(planned.record.history);
  return static_cast<std::size_t>(std::ranges::count_if(states, &plan::search::TrialState::active));
}

NextDecision shown(PlannedSearch& planned, const Decision& decision) {
  NextDecision shown{.decision = decision};
  if (decision.kind != DecisionKind::propose) return shown;
  plan::search::TrialRuns runs = planned.plan->make(decision.point);
  shown.trial = {decision.point, runs.active};
  shown.problem = runs.problem;
  shown.excluded = runs.excluded;
  if (!shown.problem.empty()) return shown;
  const record::Specification specification =
      specification_of(runs.runs.front(), planned.file.backend, planned.plugin_folders);
  const std::vector<config::Problem> problems =
      runner::check_with_worker(planned.file.worker, {&specification});
  if (!problems.empty()) shown.problem = problems.front().text();
  return shown;
}

}  // namespace

Form<PlanVerbRequest> plan_form() {
  using S = SizeRequest;
  const Form<S> size =
      Form<S>()
          .flag("size", &S::size,
                "show parameters, operations and memory of each distinct model, part by part; the data need "
                "not be there")
          .option("length", &S::length, "T", "with --size: tokens of a sequence (default: data.max_length)")
          .option("batch", &S::batch, "B",
                  "with --size: sequences in a batch (default: train.batch_size, or the number that fits "
                  "into train.batch_tokens)")
          .option("vocabulary", &S::vocabulary, "V",
                  "with --size: tokens (default: those of tokenizer.vocab, or tokenizer.vocab_size)")
          .option("labels", &S::labels, "K", "with --size: labels (default: those of the training set)")
          .option("picked", &S::picked, "SHARE",
                  "with --size: share of the rows that the task picks for its head (default: 0.15)");
  using R = PlanVerbRequest;
  Form<R> form(
      "plan",
      {"plan FILE [RUN] [-S key=value]... [options]",
       "Shows what exp run would do with an experiment file: for each run, whether it would be started, "
       "resumed or skipped, why, and the expected time, from the most similar complete runs of the database "
       "(? without one). --values shows every option with its value and origin: default, file:line:column, "
       "sweep or command line. RUN, a name or a shell pattern, limits the list. Everything is checked, "
       "nothing is written. --size shows the cost of each distinct model: parameters, operations and memory, "
       "part by part; it needs no data. For a file with [search], shows the next proposals.",
       {{"exp plan experiments/quickstart.toml",
         "show the runs of the file, and which of them are left to do"},
        {"exp plan experiments/quickstart.toml --values -S model.dropout=0.2",
         "show the origin of every value"},
        {"exp plan experiments/quickstart.toml --size --length 32 --batch 64",
         "show the cost of its model on batches of 64 sequences of 32 tokens"}}});
  form.include(&R::plan, plan_arguments())
      .argument("run", &R::run)
      .flag("values", &R::values, "show every option with its value and origin")
      .include(&R::size, size)
      .option("jobs,j", &R::jobs, "N", "show the time for N runs at once")
      .flag("json", &R::json,
            "print JSON; with --values also the values of each run, with --size the cost of its model")
      .flag("csv", &R::csv, "print the runs as CSV")
      .exclude("json", "csv")
      .exclude("csv", "values")
      .exclude("csv", "size")
      .least("jobs", 1, "invalid -j {}: expected at least 1")
      .exclude("size", "values", "--size and --values exclude each other");
  for (const std::string option : {"length", "batch", "vocabulary", "labels"})
    form.needs(option, "size", "--" + option + " needs --size")
        .least(option, 1, "invalid --" + option + " {}: expected at least 1");
  return form.needs("picked", "size", "--picked needs --size")
      .range("picked", std::numeric_limits<double>::min(), 1.0,
             "invalid --picked {}: expected a share of the rows, above 0 and at most 1");
}

PlanView plan_runs(const PlanVerbRequest& request, const App& app) {
  PlanView view{.planned = read_plan(request.plan, app), .shown = {}, .times = {}, .jobs = request.jobs};
  notice_unused_tables(app, view.planned.sources);
  std::optional<store::Store> store;
  if (std::filesystem::exists(app.database)) {
    store.emplace(app.database, store::OpenMode::read);
    compare_with(*store, view.planned, app);
  }
  require_startable(view.planned, app);
  view.shown = shown_runs(view.planned, request.run);
  view.times = times_of(store ? &*store : nullptr, view.planned);
  return view;
}

double PlanView::seconds() const {
  double sum = 0.0, longest = 0.0;
  for (const auto& time : times) {
    sum += time ? time->seconds : 0.0;
    longest = std::max(longest, time ? time->seconds : 0.0);
  }
  return std::max(longest, sum / jobs);
}

std::size_t PlanView::unknown() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (planned.runs[i].to_do() && !times[i]) ++count;
  return count;
}

std::vector<SizedModel> plan_sizes(const PlanVerbRequest& request, const App& app) {
  const PlannedRuns planned = read_plan(request.plan, app, hash_of_path);
  notice_unused_tables(app, planned.sources);
  return sizes_of(app, planned, shown_runs(planned, request.run), size_arguments(request.size));
}

SearchPreview plan_search(const PlanVerbRequest& request, const App& app) {
  constexpr std::size_t most = 10;
  if (!request.run.empty()) throw UsageError("a search has no planned names of runs; remove RUN");
  SearchPreview view{.planned = read_search_plan(request.plan, app)};
  notice_unused_tables(app, view.planned->file.sources);
  if (std::filesystem::exists(app.database)) {
    store::Store store(app.database, store::OpenMode::read);
    compare_with(store, *view.planned);
  }
  view.in_progress = trials_in_progress(*view.planned);
  for (const Decision& decision : next_decisions(*view.planned, most))
    view.decisions.push_back(shown(*view.planned, decision));
  view.complete = view.decisions.size() < most;
  return view;
}

}  // namespace encore::app
