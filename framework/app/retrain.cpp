// SPDX-License-Identifier: BSD-3-Clause
// `exp retrain`: trains a run again on old and new data (retrain(), called by cli/retrain_verb.cpp). Before
// an application the models that its steps ask are retrained, one after the other, by the same class. The
// flow: the run's experiment as a document (retrained_experiment.hpp) -> planned, checked and trained as `exp
// run` does -> compared with its parent (retraining_comparison.hpp) -> the rule of promotion
// (analysis/promotion_rule.hpp) -> recorded (store/lineage.hpp). The order must stay: each step finds what an
// earlier call finished, so the same command resumes. Read next: retrain.hpp.
#include "app/retrain.hpp"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "app/planned_runs.hpp"
#include "app/retrained_experiment.hpp"
#include "app/run_plugins.hpp"
#include "base/sha256.hpp"
#include "config/core_schema.hpp"
#include "config/experiment.hpp"
#include "config/value.hpp"
#include "plan/name_pattern.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"
#include "runner/programs.hpp"
#include "store/lineage.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;
/// The default share of the new examples to hold out.
constexpr double usual_share = 0.2;

/// Checks --name. The message leaves out the place, because the experiment file is never written.
void require_name(const std::string& name) {
  config::Problems problems;
  plan::parse_name(name, config::Place(), problems);
  if (!problems.empty()) throw UsageError("--name: " + problems.all().front().message);
}

/// Returns the files with the SHA-256 of their content.
std::vector<record::DataFile> files_of(const std::vector<std::string>& names, const std::string& option) {
  std::vector<record::DataFile> files;
  for (const std::string& name : names) {
    const fs::path path = fs::absolute(name).lexically_normal();
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) throw UsageError("--" + option + " " + name + " is not a file");
    files.push_back({path.string(), sha256_of_file(path)});
  }
  return files;
}

class Retrain {
 public:
  /// `models`: for each step of an application that asks a run, the id of the run that the new application
  /// asks.
  Retrain(const RetrainRequest& request, const App& app, RetrainEvents& events, store::Store& store,
          store::RunRow parent, std::map<std::string, std::string> models = {})
      : request_(request),
        app_(app),
        events_(events),
        store_(store),
        parent_(std::move(parent)),
        rule_(request.promote_if),
        models_(std::move(models)),
        before_(loaded()),
        with_(files_of(request.with, "with")),
        name_(request.name.value_or(plan::as_name(store::lineage_of(store, parent_).front().name) +
                                    "-retrained")) {
    require_name(name_);
    choose_test();
    measure_ = compared_measure(store_, parent_, request_.measure.value_or(""));
    rule_.require_answered_by(measure_);
  }

  /// Plans the run, trains it and, if `compare`, compares it with its parent.
  RetrainResult run(runner::SessionFile& session, bool compare) {
    plan();
    session.works_on(planned_.plan.name);
    for (const std::string& warning : warnings_) app_.events.noticed(warning);
    RetrainResult result{.parent = parent_, .plan = plan_of(run_to_do().name(), run_to_do().action)};
    result.run = store_.find_question(run_to_do().specification.question, planned_.backend);
    if (request_.dry_run) {
      require_startable(planned_, app_);
      return result;
    }
    if (run_to_do().to_do()) {
      result.session = train(session);
      if (!result.session->is_whole()) return result;
      result.run = store_.find_question(run_to_do().specification.question, planned_.backend);
    }
    if (!result.run || result.run->state != store::RunState::completed)
      result.state = result.run ? store::name_of(result.run->state) : "not there";
    else if (compare)
      result.retraining = judge(*result.run);
    return result;
  }
  /// Returns the plan of a new application whose models are not trained yet, so that nothing else is known.
  RetrainPlan rough_plan() { return plan_of(name_, Action::start); }

 private:
  /// Returns the parent's specification, after a check that it has weights and scores to compare with.
  record::Specification loaded() const {
    if (parent_.state != store::RunState::completed)
      throw UsageError("run " + parent_.name + " " + state_clause(parent_.state) +
                       (parent_.reason.empty() ? "" : ": " + parent_.reason) +
                       "; only a completed run can be retrained");
    record::Specification specification = record::Specification::load(store_.run_folder(parent_.id));
    if (record::trains_nothing(specification))
      throw UsageError("run " + parent_.name +
                       " was imported without training (train.epochs = 0), so it cannot be retrained; write "
                       "an experiment that starts from it: [model] from");
    return specification;
  }

  /// Chooses the new examples that are scored, and the share of them that is held out. Of an application,
  /// twice as many are held out, since its steps are fitted on half of them.
  void choose_test() {
    const bool application = is_application(parent_), file = !request_.new_test.empty();
    const double kept = held_out_share(before_), times = application ? 2.0 : 1.0;
    const std::optional<double>& share = request_.hold_out;
    if (share && kept > 0 && times * *share != kept)
      throw UsageError("run " + parent_.name + " held out " + config::shortest(kept / times) +
                       " of its new examples, which must stay the same, so that held-out examples are never "
                       "trained on; remove --hold-out");
    held_out_ = kept > 0 ? kept : file ? 0.0 : times * share.value_or(usual_share);
    const double compared = application ? config::compared_share(held_out_) : held_out_;
    test_ = file ? NewTest{files_of(request_.new_test, "new-test")} : NewTest{with_, compared};
    for (const record::DataFile& one : test_.files)
      if (file && std::ranges::find(with_, one.sha256, &record::DataFile::sha256) != with_.end())
        throw UsageError(
            "--new-test " + one.path +
            " has the content of a file of --with; a model must not be tested on its training data");
  }

  void plan() {
    const std::string backend = request_.backend.backend.value_or(parent_.backend);
    const std::vector<std::string>& plugin_path = request_.backend.plugin_path;
    const std::vector<std::string> folders =
        run_plugin_folders(app_, plugin_path, store_, parent_, before_,
                           backend);  // asks about a plugin that is not trusted
    RetrainWishes wishes{.name = name_,
                         .with = {},
                         .held_out = held_out_,
                         .from_scratch = request_.from_scratch,
                         .models = models_};
    for (const record::DataFile& file : with_) wishes.with.push_back(file.path);
    if (plugin_path.empty())
      for (const std::string& folder : folders)
        if (fs::path(folder) != runner::plugin_folder(runner::installed_programs(), backend))
          wishes.plugin_path.push_back(folder);
    const std::vector<std::string> overrides =
        overrides_of(PlanRequest{.set = request_.set, .seed = request_.seed, .name = request_.name});
    planned_ = plan_document(app_,
                             config::parse_experiment_file(retrained_text(store_, parent_, before_, wishes),
                                                           fs::absolute(wishes.name + ".toml"), overrides),
                             backend, plugin_path);
    if (planned_.runs.size() != 1)
      throw UsageError("exp retrain trains one run, but the settings make " +
                       std::to_string(planned_.runs.size()) + " runs; give one seed");
    planned_.overrides = overrides;
    name_like_experiment(planned_);
    require_old_data();
    compare_with(store_, planned_, app_);
    note_known_files();
  }

  PlannedRun& run_to_do() { return planned_.runs.front(); }

  /// Checks that the old sets are those that the parent was trained and scored on.
  void require_old_data() {
    for (const auto& [role, file] : run_to_do().specification.data) {
      if (role == record::pretrained_role || role.starts_with("vocab") || !config::step_in(role).empty())
        continue;
      const auto before = before_.data.find(role);
      if (before != before_.data.end() && before->second.sha256 != file.sha256)
        throw Error(file.path + " (" + role + ") has changed since " + parent_.name +
                    " was trained, so old and new data cannot be distinguished; restore the file, and pass "
                    "new data with --with");
    }
  }

  void note_known_files() {
    for (const std::vector<record::DataFile>* files :
         {&with_, !request_.new_test.empty() ? &test_.files : &with_})
      for (const record::DataFile& file : *files)
        for (const auto& [role, old] : before_.data)
          if (old.sha256 == file.sha256 && role != record::pretrained_role) {
            const std::string warning = "warning: " + file.path + " is not new: it has the content of " +
                                        old.path + " (" + role + " of " + parent_.name + ")";
            if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(warning);
          }
  }

  SessionResult train(runner::SessionFile& session) {
    events_.retrains(run_to_do().name(), parent_, request_.from_scratch);
    require_same_plugins(planned_);
    require_ranks(request_.session.ranks, request_.session.launcher.has_value(), planned_);
    require_startable(planned_, app_);
    trust_plugins_of(planned_);
    record_descriptions(store_, planned_);
    const std::int64_t sweep = add_sweep(store_, planned_);
    return work_on(request_.session, app_, events_, store_, planned_, sweep,
                   session_places(request_.session, planned_.backend, 1), session);
  }

  /// Returns the recorded comparison if it is the requested one, else makes a new one.
  analysis::Retraining judge(const store::RunRow& run) {
    const nlohmann::json recorded = store::read_retraining(store_, run);
    if (!recorded.is_null()) {
      analysis::Retraining known = analysis::retraining_in(recorded);
      if (is_same_comparison(known, parent_, measure_, test_)) {
        if (known.rule == rule_.text()) return known;
        return decided(run, std::move(known));
      }
    }
    return decided(run, compare_with_parent(model_request(), app_, store_, run, parent_, measure_, test_));
  }

  analysis::Retraining decided(const store::RunRow& run, analysis::Retraining retraining) {
    retraining.rule = rule_.text();
    retraining.promoted = rule_.holds(retraining);
    store::record_retraining(store_, run, analysis::json_of(retraining), retraining.promoted);
    return retraining;
  }

  ModelRequest model_request() const {
    return {.backend = request_.backend.backend,
            .plugin_path = request_.backend.plugin_path,
            .threads = request_.session.threads};
  }

  RetrainPlan plan_of(const std::string& name, Action action) const {
    RetrainPlan plan{.run = name,
                     .action = action,
                     .from_scratch = request_.from_scratch,
                     .with = {},
                     .held_out = held_out_,
                     .test = test_,
                     .measure = measure_,
                     .rule = rule_.text()};
    for (const record::DataFile& file : with_) plan.with.push_back(file.path);
    return plan;
  }

  const RetrainRequest& request_;
  const App& app_;
  RetrainEvents& events_;
  store::Store& store_;
  store::RunRow parent_;
  analysis::PromotionRule rule_;
  std::map<std::string, std::string> models_;
  record::Specification before_;
  std::vector<record::DataFile> with_;
  std::string name_;
  double held_out_ = 0.0;
  NewTest test_;
  Metric measure_;
  PlannedRuns planned_;
  std::vector<std::string> warnings_;
};

/// The runs that the steps of an application ask, and what they held out of new examples before.
struct AskedModels {
  std::map<std::string, store::RunRow> of_steps;  ///< by the names of the steps
  std::vector<store::RunRow> to_train;            ///< each once; runs that were imported stay as they are
  double held_out = 0.0;                          ///< 0: no run was retrained yet
};

AskedModels asked_models(store::Store& store, const store::RunRow& application) {
  AskedModels asked;
  for (const auto& [table, parent] : store.read_parents(application)) {
    if (!parent.run)
      throw Error("the run that " + application.name + " asks as " + table +
                  " is no longer in the database, so it cannot be retrained; run the application's file "
                  "again with another model");
    const store::RunRow& run = *parent.run;
    asked.of_steps.emplace(config::step_in(table), run);
    const record::Specification specification = record::Specification::load(store.run_folder(run.id));
    const bool known =
        std::ranges::find(asked.to_train, run.number, &store::RunRow::number) != asked.to_train.end();
    if (known || record::trains_nothing(specification)) continue;
    asked.to_train.push_back(run);
    const double held_out = held_out_share(specification);
    if (held_out > 0 && asked.held_out > 0 && held_out != asked.held_out)
      throw UsageError("the models of " + application.name + " held out " + config::shortest(held_out) +
                       " and " + config::shortest(asked.held_out) +
                       " of their new examples; only if all hold out the same share can the application be "
                       "fitted on it");
    asked.held_out = std::max(asked.held_out, held_out);
  }
  return asked;
}

/// Returns the settings (key=value) of the application, or those of its models.
std::vector<std::string> settings_of(const std::vector<std::string>& all, bool application) {
  std::vector<std::string> chosen;
  for (const std::string& setting : all)
    if (setting.starts_with("app.") == application) chosen.push_back(setting);
  return chosen;
}

/// Retrains the models that the application asks, then the application, which asks the new ones.
RetrainResult retrain_application(RetrainRequest request, const App& app, RetrainEvents& events,
                                  store::Store& store, const store::RunRow& application,
                                  runner::SessionFile& session) {
  if (!request.new_test.empty())
    throw UsageError("invalid --new-test: " + application.name +
                     " is an application, whose steps are fitted on a part of the new examples that its "
                     "models do not learn from; use --hold-out, which also chooses what is compared");
  const AskedModels asked = asked_models(store, application);
  RetrainRequest of_models = request;
  request.set = settings_of(request.set, true);
  if (!request.hold_out && asked.held_out > 0) request.hold_out = config::compared_share(asked.held_out);
  of_models.hold_out = 2.0 * request.hold_out.value_or(usual_share);
  if (*of_models.hold_out >= 1.0)
    throw UsageError("invalid --hold-out: expected less than 0.5, because " + application.name +
                     " is an application, which is fitted on as many examples as it is compared on");
  of_models.set = settings_of(of_models.set, false);
  of_models.name = {};
  of_models.measure = {};
  of_models.promote_if = analysis::default_promotion_rule;

  std::vector<RetrainPlan> plans;
  std::map<std::int64_t, std::string> new_ids;  // by the number of the old run
  for (const store::RunRow& model : asked.to_train) {
    RetrainResult result = Retrain(of_models, app, events, store, model).run(session, false);
    const bool complete = result.run && result.run->state == store::RunState::completed;
    if (!complete && !request.dry_run) return result;
    if (complete) new_ids[model.number] = result.run->id;
    plans.push_back(std::move(result.plan));
  }
  std::map<std::string, std::string> models;
  for (const auto& [step, model] : asked.of_steps) {
    const auto trained = new_ids.find(model.number);
    models[step] = trained == new_ids.end() ? model.id : trained->second;
  }
  Retrain retraining(request, app, events, store, application, std::move(models));
  RetrainResult result = new_ids.size() == plans.size()
                             ? retraining.run(session, true)
                             : RetrainResult{.parent = application, .plan = retraining.rough_plan()};
  result.plan.models = std::move(plans);
  return result;
}

}  // namespace

Form<RetrainRequest> retrain_form() {
  using R = RetrainRequest;
  return Form<R>(
             "retrain",
             {"retrain RUN --with FILE... [--new-test FILE] [--promote-if RULE] [options]",
              "Trains a complete run again with the same settings, on its data and new data, starting from "
              "its weights. Of an application, the models that its steps ask are trained again first, and "
              "its "
              "steps are fitted to their answers. Compares the new run and its parent on the old test set "
              "and on new examples: a "
              "held-out share, or --new-test. If the rule holds, the new run is promoted and replaces its "
              "parent wherever --promoted is given. Running the same command again does only what is "
              "missing. Exit code 0: promoted, 4: not promoted.",
              {{"exp retrain quickstart --with new.conll",
                "hold out 20 % of the new examples for the comparison"},
               {"exp retrain quickstart --with new.conll --new-test fresh.conll --dry-run", "show the plan"},
               {"exp retrain quickstart --with new.conll --promote-if \"old_low >= -1 and new_low > 0\"",
                "promote by the ends of the 95 % intervals"},
               {"exp serve quickstart --promoted", "serve the newest promoted run of a lineage"}}})
      .option("with", &R::with, "FILE",
              "a file with new examples, in the format of the old data (may be repeated)")
      .option("new-test", &R::new_test, "FILE",
              "compare on this file, and train on all new examples (repeat it if a set has several files)")
      .option("hold-out", &R::hold_out, "SHARE",
              "hold out this share of the new examples for the comparison (default: 0.2, or the share that "
              "the run held out of its own new examples)")
      .flag("from-scratch", &R::from_scratch,
            "start where the run itself started, not from its weights; needed for new classes")
      .option("promote-if", &R::promote_if, "RULE",
              "a condition on the gains old and new, in points of the measure, and on the ends of their "
              "intervals: old_low, old_high, new_low, new_high")
      .option("measure", &R::measure, "NAME",
              "the compared measure, such as loss (default: the one that chose the run's checkpoints)")
      .option("name", &R::name, "NAME",
              "name of the new run (default: the first name of its lineage with -retrained, and - for "
              "characters that names of experiments cannot have)")
      .option("set,S", &R::set, "KEY=VALUE", "override a setting of the run (may be repeated)")
      .option("seed", &R::seed, "N", "short for -S seed=N")
      .flag("dry-run,n", &R::dry_run, "only show the plan")
      .flag("json", &R::json, "print the answer as JSON; training's output goes to standard error")
      .flag("csv", &R::csv, "print the compared sets as CSV; training's output goes to standard error")
      .include(&R::backend, backend_options())
      .include(&R::session, session_options())
      .include(&R::selection, run_options())
      .argument("run", &R::run)
      .exclude("json", "csv")
      .exclude("csv", "dry-run")
      .exclude("new-test", "hold-out", "--new-test and --hold-out exclude each other")
      .refuse([](const R& request) -> std::string {
        if (request.hold_out && !(*request.hold_out > 0.0 && *request.hold_out < 1.0))
          return "invalid --hold-out: expected a share of the new examples, above 0 and below 1";
        return wrong_jobs_of_slurm(request.session);
      })
      .refuse([](const R& request) -> std::string {
        return request.with.empty() ? "exp retrain needs new examples: --with FILE" : "";
      });
}

RetrainResult retrain(const RetrainRequest& request, const App& app, RetrainEvents& events) {
  const store::RunSelection selection = selection_from(
      request.selection, request.run.empty() ? std::vector<std::string>() : std::vector{request.run});
  runner::SessionFile session(record::runs_folder_of(app.database), "exp retrain " + request.run);
  store::Store store(app.database, request.dry_run ? store::OpenMode::read : store::OpenMode::write);
  if (!request.dry_run) {
    store.settle();
    runner::settle_launched(store);
  }
  const store::RunRow run = selected_run(app, store, selection);
  if (is_application(run)) return retrain_application(request, app, events, store, run, session);
  return Retrain(request, app, events, store, run).run(session, true);
}

}  // namespace encore::app
