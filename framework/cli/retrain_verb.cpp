// retrain: a run once more, on its data and on new data, and whether it takes the place of the one it came
// from. The flow, top to bottom: the experiment of the run as a document (retrained_experiment.hpp) ->
// planned, checked and trained as `exp run` does -> compared with its parent (retraining_comparison.hpp) ->
// the rule (analysis/promotion_rule.hpp) -> recorded (store/lineage.hpp).
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "analysis/promotion_rule.hpp"
#include "base/sha256.hpp"
#include "cli/access.hpp"
#include "cli/plan_comparison.hpp"
#include "cli/planned_runs.hpp"
#include "cli/retrained_experiment.hpp"
#include "cli/retraining_comparison.hpp"
#include "cli/retraining_text.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_ranks.hpp"
#include "cli/run_selection.hpp"
#include "cli/run_session.hpp"
#include "cli/slurm_session.hpp"
#include "cli/verbs.hpp"
#include "config/value.hpp"
#include "plan/name_pattern.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"
#include "runner/programs.hpp"
#include "store/lineage.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;
/// Of the examples of the new files, where nothing else is said.
constexpr double usual_share = 0.2;

/// The experiment file that --name would stand in is never written, so that a place in it helps nobody.
void require_name(const std::string& name) {
  Problems problems;
  parse_name(name, Place(), problems);
  if (!problems.empty()) throw UsageError("--name: " + problems.all().front().message);
}

CommandLine make_retrain_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "retrain",
      {"retrain RUN --with FILE... [--new-test FILE] [--promote-if RULE] [options]",
       "Trains a complete run once more, with the settings it had, on its data and on new data, from its "
       "weights onward. A share of the new examples is held out, or --new-test names a file; the new run and "
       "its parent are compared there and on the old test set, over the same examples. Where the rule holds, "
       "the new run is promoted: it stands for its parent (--promoted, in every verb that takes runs). The "
       "same command does only what is missing. Exit code 0: promoted, 4: not promoted.",
       {{"exp retrain quickstart --with new.conll", "hold out 20 % of the new examples to judge by"},
        {"exp retrain quickstart --with new.conll --new-test fresh.conll --dry-run", "what would be done"},
        {"exp retrain quickstart --with new.conll --promote-if \"old_low >= -1 and new_low > 0\"",
         "only where the intervals at 95 % say so"},
        {"exp serve quickstart --promoted", "the newest promoted run of a lineage"}}});
  const auto files = [] { return po::value<std::vector<std::string>>()->value_name("FILE"); };
  line.options()("with", files(),
                 "a file with new examples, in the format of the old ones (may be repeated)");
  line.options()("new-test", files(),
                 "compare on this file, and learn from all new examples (may be repeated where a set has "
                 "several files)");
  line.options()(
      "hold-out", po::value<double>()->value_name("SHARE"),
      "compare on this share of the new examples, which are not learned from (default: 0.2, or what "
      "the run held out of its own new examples)");
  line.options()("from-scratch", po::bool_switch(),
                 "train from where the run once started, not from its weights: what new classes need");
  line.options()("promote-if",
                 po::value<std::string>()->value_name("RULE")->default_value(default_promotion_rule),
                 "a condition on the gains old and new, in points of the measure, and on the ends of their "
                 "intervals: old_low, old_high, new_low, new_high");
  line.options()("measure", po::value<std::string>()->value_name("NAME"),
                 "what is compared, such as loss (default: what chose the run's checkpoints)");
  line.options()(
      "name", po::value<std::string>()->value_name("NAME"),
      "of the new run (default: that of the first of its lineage with -retrained, and - for what names of "
      "experiments may not hold)");
  line.options()("set,S", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
                 "override a setting of the run (may be repeated)");
  line.options()("seed", po::value<std::string>()->value_name("N"), "short for -S seed=N");
  line.options()("dry-run,n", po::bool_switch(), "only show what would be done");
  line.options()("json", po::bool_switch(),
                 "the answer as JSON; what training says goes to the standard error");
  add_backend_options(line);
  add_session_options(line);
  add_run_options(line);
  line.positional("run");
  return line;
}

/// What goes to the standard output goes to the standard error while this lives.
class OutputAside {
 public:
  explicit OutputAside(bool aside) : before_(aside ? std::cout.rdbuf(std::cerr.rdbuf()) : nullptr) {}
  ~OutputAside() {
    if (before_ != nullptr) std::cout.rdbuf(before_);
  }
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  std::streambuf* before_;
};

/// Files with the SHA-256 of their content.
std::vector<DataFile> files_of(const CommandLine& line, const std::string& option) {
  std::vector<DataFile> files;
  for (const std::string& name : line.texts(option)) {
    const fs::path path = fs::absolute(name).lexically_normal();
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) throw UsageError("--" + option + " " + name + " is no file");
    files.push_back({path.string(), sha256_of_file(path)});
  }
  return files;
}

class Retrain {
 public:
  Retrain(const CommandLine& line, Store& store, RunRow parent)
      : line_(line),
        store_(store),
        parent_(std::move(parent)),
        rule_(line.text("promote-if")),
        before_(loaded()),
        with_(files_of(line, "with")) {
    if (with_.empty()) throw UsageError("exp retrain needs new examples: --with FILE");
    choose_test();
    measure_ = compared_measure(store_, parent_, line_.text("measure"));
    rule_.require_answered_by(measure_);
    plan();
  }

  int run(SessionFile& session) {
    session.works_on(planned_.plan.name);
    for (const std::string& warning : warnings_) std::cerr << "exp: " << warning << '\n';
    if (line_.flag("dry-run")) return show_plan();
    bool trained = false;
    if (run_to_do().to_do()) {
      const OutputAside aside(line_.flag("json"));
      trained = true;
      if (const int code = train(session); code != exit_done) return code;
    }
    const auto run = store_.find_question(run_to_do().specification.question, planned_.backend);
    if (!run || run->state != RunState::completed) {
      std::cerr << "exp: " << run_to_do().name() << " is " << (run ? name_of(run->state) : "not there")
                << ", so that it is not compared yet; the same command goes on\n";
      return exit_interrupted;
    }
    const Retraining retraining = judge(*run);
    print(*run, retraining, trained);
    return retraining.promoted ? exit_done : exit_not_promoted;
  }

 private:
  /// The parent's own specification, once it is known that it has weights and scores to be held against.
  Specification loaded() const {
    if (parent_.state != RunState::completed)
      throw UsageError("run " + parent_.name + " " + state_clause(parent_.state) +
                       (parent_.reason.empty() ? "" : ": " + parent_.reason) +
                       "; only a completed run can be retrained");
    Specification specification = Specification::load(store_.run_folder(parent_.id));
    if (trains_nothing(specification))
      throw UsageError("run " + parent_.name +
                       " was taken over without training (train.epochs = 0), so that there is nothing to do "
                       "again; write an experiment that starts from it: [model] from");
    return specification;
  }

  /// What new examples are scored, and what share of them is not learned from.
  void choose_test() {
    const double kept = held_out_share(before_);
    const bool file = line_.has("new-test"), share = line_.has("hold-out");
    if (file && share) throw UsageError("--new-test and --hold-out name two new test sets; give one of them");
    if (share && !(line_.number("hold-out") > 0.0 && line_.number("hold-out") < 1.0))
      throw UsageError("--hold-out is a share of the new examples, above 0 and below 1");
    if (share && kept > 0 && line_.number("hold-out") != kept)
      throw UsageError("run " + parent_.name + " held out " + shortest(kept) +
                       " of its own new examples, which must stay so: what it did not learn from would be "
                       "learned now, and the other way round; leave --hold-out out");
    held_out_ = kept > 0 ? kept : share ? line_.number("hold-out") : file ? 0.0 : usual_share;
    test_ = file ? NewTest{files_of(line_, "new-test")} : NewTest{with_, held_out_};
    for (const DataFile& one : test_.files)
      if (file && std::ranges::find(with_, one.sha256, &DataFile::sha256) != with_.end())
        throw UsageError("--new-test " + one.path +
                         " has the content of a file of --with; a model must not be "
                         "judged by what it learned from");
  }

  void plan() {
    const std::string backend = line_.has("backend") ? line_.text("backend") : parent_.backend;
    const std::vector<std::string> folders =
        run_plugin_folders(line_, store_, parent_, before_, backend);  // asks where one is not trusted
    RetrainWishes wishes{.name = line_.text("name"),
                         .with = {},
                         .held_out = held_out_,
                         .from_scratch = line_.flag("from-scratch")};
    if (wishes.name.empty()) wishes.name = as_name(lineage_of(store_, parent_).front().name) + "-retrained";
    require_name(wishes.name);
    for (const DataFile& file : with_) wishes.with.push_back(file.path);
    if (!line_.has("plugin-path"))
      for (const std::string& folder : folders)
        if (fs::path(folder) != plugin_folder(installed_programs(), backend))
          wishes.plugin_path.push_back(folder);
    planned_ = plan_document(line_,
                             parse_experiment_file(retrained_text(store_, parent_, before_, wishes),
                                                   fs::absolute(wishes.name + ".toml"), overrides_of(line_)),
                             backend);
    if (planned_.runs.size() != 1)
      throw UsageError("exp retrain trains one run, and this asks for " +
                       std::to_string(planned_.runs.size()) + "; give one seed");
    planned_.overrides = overrides_of(line_);
    name_like_experiment(planned_);
    require_old_data();
    compare_with(store_, planned_);
    note_known_files();
  }

  PlannedRun& run_to_do() { return planned_.runs.front(); }

  /// The old sets must be those that the parent was trained and scored on.
  void require_old_data() {
    for (const auto& [role, file] : run_to_do().specification.data) {
      if (role == pretrained_role || role.starts_with("vocab")) continue;
      const auto before = before_.data.find(role);
      if (before != before_.data.end() && before->second.sha256 != file.sha256)
        throw Error(file.path + " (" + role + ") has changed since " + parent_.name +
                    " was trained, so that old and new could not be told apart; put the file back, and give "
                    "what is new with --with");
    }
  }

  void note_known_files() {
    for (const std::vector<DataFile>* files : {&with_, line_.has("new-test") ? &test_.files : &with_})
      for (const DataFile& file : *files)
        for (const auto& [role, old] : before_.data)
          if (old.sha256 == file.sha256 && role != pretrained_role) {
            const std::string warning = "warning: " + file.path + " is not new: it has the content of " +
                                        old.path + " (" + role + " of " + parent_.name + ")";
            if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(warning);
          }
  }

  int train(SessionFile& session) {
    if (!line_.flag("quiet"))
      std::cout << run_to_do().name() << " retrains " << parent_.name << " (" << parent_.id << "), "
                << (line_.flag("from-scratch") ? "from the start" : "from its weights") << std::endl;
    require_same_plugins(planned_);
    require_ranks(line_, planned_);
    require_startable(planned_);
    trust_plugins_of(planned_);
    record_descriptions(store_, planned_);
    const std::int64_t sweep = store_.add_sweep(planned_.plan.name, planned_.file.string(),
                                                planned_.sources.front().text, context_of(planned_));
    return work_on(line_, store_, planned_, sweep, session_places(line_, planned_.backend, 1), session);
  }

  /// By what is recorded, where that is the comparison that is asked for; else by a new one.
  Retraining judge(const RunRow& run) {
    const nlohmann::json recorded = read_retraining(store_, run);
    if (!recorded.is_null()) {
      Retraining known = retraining_in(recorded);
      if (is_same_comparison(known, parent_, measure_, test_)) {
        if (known.rule == rule_.text()) return known;
        return decided(run, std::move(known));
      }
    }
    return decided(run, compare_with_parent(line_, store_, run, parent_, measure_, test_));
  }

  Retraining decided(const RunRow& run, Retraining retraining) {
    retraining.rule = rule_.text();
    retraining.promoted = rule_.holds(retraining);
    record_retraining(store_, run, json_of(retraining), retraining.promoted);
    return retraining;
  }

  int show_plan() {
    require_startable(planned_);
    RetrainPlan plan{.run = run_to_do().name(),
                     .parent = &parent_,
                     .action = name_of(run_to_do().action),
                     .from_scratch = line_.flag("from-scratch"),
                     .with = {},
                     .held_out = held_out_,
                     .test = &test_,
                     .measure = &measure_,
                     .rule = rule_.text()};
    for (const DataFile& file : with_) plan.with.push_back(file.path);
    if (line_.flag("json"))
      std::cout << json_of(plan).dump(2) << '\n';
    else
      print_plan(std::cout, plan);
    return exit_done;
  }

  void print(const RunRow& run, const Retraining& retraining, bool trained) {
    if (line_.flag("json")) {
      std::cout << outcome_json(run, parent_, retraining, trained).dump(2) << '\n';
      return;
    }
    if (!trained) std::cout << run.name << " (" << run.id << ") is complete\n";
    print_outcome(std::cout, run, parent_, retraining);
    if (retraining.promoted)
      std::cout << "  next      " << suggestion(line_, {"serve", parent_.name, "--promoted"}) << '\n';
  }

  const CommandLine& line_;
  Store& store_;
  RunRow parent_;
  PromotionRule rule_;
  Specification before_;
  std::vector<DataFile> with_;
  double held_out_ = 0.0;
  NewTest test_;
  Metric measure_;
  PlannedRuns planned_;
  std::vector<std::string> warnings_;
};

}  // namespace

int retrain_verb(const Arguments& arguments) {
  CommandLine line = make_retrain_line();
  if (!line.parse(arguments)) return exit_done;
  check_session_options(line);
  require_no_jobs_of_slurm(line);
  const RunSelection selection =
      selection_from(line, line.has("run") ? std::vector{line.text("run")} : std::vector<std::string>());
  SessionFile session(runs_folder_of(line.database()), "exp retrain " + line.text("run"));
  Store store(line.database(), line.flag("dry-run") ? OpenMode::read : OpenMode::write);
  if (!line.flag("dry-run")) {
    store.settle();
    settle_launched(store);
  }
  return Retrain(line, store, selected_run(line, store, selection)).run(session);
}

}  // namespace encore
