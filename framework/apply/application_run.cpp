// SPDX-License-Identifier: BSD-3-Clause
// ApplicationRun: fits and measures an application. conclude() follows the order of Trainer's end: knowledge,
// scores, predictions, result. Read application_run.hpp first.
#include "apply/application_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "apply/application_sets.hpp"
#include "base/measure_json.hpp"
#include "base/measures.hpp"
#include "base/sha256.hpp"
#include "tasks/data_split.hpp"
#include "tasks/prediction_file.hpp"

namespace encore::apply {
namespace {

/// Seconds between two reports of progress.
constexpr double progress_interval = 0.25;

/// Thrown between two parts of the work when the run is to stop.
struct Interrupted {};

Records chosen(const Records& records, const std::vector<bool>& is_fit, bool fit) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < is_fit.size(); ++i)
    if (is_fit[i] == fit) numbers.push_back(i);
  return tasks::selected(records, numbers);
}

/// Returns lines {"example", FIELD: value of each field that the steps read, "truth", "predicted": what the
/// steps gave, "statistics"}, as tasks::write_predictions writes for a model.
std::string prediction_lines(const TaskFields& fields, const Records& records, const Records& given,
                             const Statistics& statistics) {
  std::string text;
  for (std::size_t i = 0; i < records.size(); ++i) {
    nlohmann::json line = {{"example", i}, {"statistics", json_of(statistics, i)}};
    nlohmann::json truth = nlohmann::json::object(), predicted = nlohmann::json::object();
    for (const Records::Field& field : records.fields()) {
      const bool is_truth = std::ranges::find(fields.truth, field.name) != fields.truth.end();
      (is_truth ? truth : line)[field.name] = tasks::field_json(field, i);
    }
    for (const Records::Field& field : given.fields()) predicted[field.name] = tasks::field_json(field, i);
    line["truth"] = truth.size() == 1 ? truth.begin().value() : truth;
    line["predicted"] = std::move(predicted);
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  }
  return text;
}

std::string answer_lines(const Records& given) {
  std::string text;
  for (std::size_t i = 0; i < given.size(); ++i) text += tasks::answer_json(given, i) + '\n';
  return text;
}

/// Returns the hashes of the files of a role.
std::set<std::string> hashes_of(const record::Specification& specification, const std::string& role) {
  std::set<std::string> hashes;
  for (std::size_t i = 0;; ++i) {
    const auto file = specification.data.find(record::numbered_file(role, i));
    if (file == specification.data.end()) return hashes;
    hashes.insert(file->second.sha256);
  }
}

/// Returns what the model did with these records: "was trained on 120 of its 1,200 examples", or "".
std::string seen_by(const AskedRun& model, const std::set<std::string>& files, const Records& records) {
  const auto shares_file = [&](const std::string& role) {
    return std::ranges::any_of(hashes_of(model.specification(), role),
                               [&](const std::string& hash) { return files.contains(hash); });
  };
  const config::DataTable& data = model.engine().experiment().data;
  const std::string all = std::to_string(records.size());
  if (shares_file("train") && !data.split.empty() && !data.stratify) {
    std::size_t trained = 0, chosen = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const data::Split split = tasks::split_of(tasks::content_hash(records, i, model.fields()), data.split);
      trained += split == data::Split::train ? 1 : 0;
      chosen += split == data::Split::dev ? 1 : 0;
    }
    if (trained > 0) return "was trained on " + std::to_string(trained) + " of its " + all + " examples";
    if (chosen > 0)
      return "chose its checkpoint by " + std::to_string(chosen) + " of its " + all + " examples";
    return "";
  }
  if (shares_file("train") || shares_file(record::added_role)) return "was trained on the same file";
  if (shares_file("dev")) return "chose its checkpoint by the same file";
  return "";
}

}  // namespace

/// Reports progress a few times a second, and throws Interrupted when the run is to stop.
class ApplicationRun::Watch {
 public:
  Watch(train::Observer& observer, train::Control& control, std::size_t passes)
      : observer_(observer), control_(control), passes_(passes) {}

  ApplyWatch on(std::string set) const {
    return [this, set = std::move(set)](const std::string& step, std::size_t done, std::size_t all) {
      const train::Request request = control_.poll();
      if (request == train::Request::stop || request == train::Request::orphaned) throw Interrupted();
      if (done == all) ++done_passes_;
      const auto now = std::chrono::steady_clock::now();
      if (std::chrono::duration<double>(now - last_).count() < progress_interval) return;
      last_ = now;
      observer_.happened(record::Progressed{
          .step = static_cast<std::int64_t>(done_passes_),
          .total_steps = static_cast<std::int64_t>(passes_),
          .epoch = 0,
          .loss = std::numeric_limits<double>::quiet_NaN(),
          .activity = step + " on " + set,
          .activity_share = static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(all, 1))});
    };
  }

 private:
  train::Observer& observer_;
  train::Control& control_;
  std::size_t passes_;
  mutable std::size_t done_passes_ = 0;
  mutable std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

ApplicationRun::ApplicationRun(record::Specification specification, std::filesystem::path run_folder,
                               std::int64_t attempt, const Device& device)
    : run_folder_(std::move(run_folder)),
      application_(train::require_unchanged(specification, run_folder_), run_folder_, device),
      sets_(read_sets(application_)),
      snapshots_(run_folder_, application_.specification().question, attempt, distributed::only_rank()) {
  notes_ = add_new_examples(application_, sets_);
  for (const data::Split split : {data::Split::dev, data::Split::test})
    if (const Records* set = records(split))
      if (const std::string note = tasks::cut_note(application_.uses(*set)); !note.empty())
        notes_.push_back(std::string(data::title_of(split)) + ": " + note);
  const Records& dev = *sets_[tasks::index_of(data::Split::dev)];
  const double share = application_.is_fitted() ? application_.description().fit : 0.0;
  const TaskFields& fields = application_.fields();
  const std::vector<bool> is_fit = fit_share(content_hashes(dev, fields), labels_in(dev, fields), share);
  fitted_on_ = chosen(dev, is_fit, true);
  measured_on_ = share < 1.0 ? chosen(dev, is_fit, false) : chosen(dev, is_fit, true);
  if (application_.is_fitted() && fitted_on_.size() == 0)
    throw config::ConfigError("app.fit",
                              "no example of the development set is left to fit the steps on: it has " +
                                  std::to_string(dev.size()) + ", of which app.fit takes a share");
  if (measured_on_.size() == 0)
    throw config::ConfigError("app.fit",
                              "no example of the development set is left to measure the steps on: it has " +
                                  std::to_string(dev.size()) + "; give it more, or set app.fit = 1");
}

const Records* ApplicationRun::records(data::Split split) const {
  const std::optional<Records>& set = sets_[tasks::index_of(split)];
  return set ? &*set : nullptr;
}

std::map<std::string, std::int64_t> ApplicationRun::labels(data::Split split) const {
  std::map<std::string, std::int64_t> counts;
  const Records* set = records(split);
  if (const Records::Texts* labels = set == nullptr ? nullptr : labels_in(*set, application_.fields()))
    for (const std::string& label : *labels) ++counts[label];
  return counts;
}

/// Warns of steps whose model has seen examples of this run's development or test set: its answers to them
/// are better than in service, and what is fitted to them promises too much.
void ApplicationRun::name_shared_sets(train::Observer& observer) const {
  for (const auto& [step, model] : application_.models())
    for (const data::Split split : {data::Split::dev, data::Split::test}) {
      const Records* set = records(split);
      const std::string seen = set == nullptr ? "" : seen_by(*model, own_files(split), *set);
      if (seen.empty()) continue;
      observer.happened(record::Logged{.level = record::LogLevel::warning,
                                       .text = "the model of step \"" + step + "\", run " +
                                               model->specification().name + ", " + seen + ", so on the " +
                                               data::title_of(split) +
                                               " its answers may be better than in service; use data that it "
                                               "has not seen"});
    }
}

/// Returns the hashes of the files from which a set is read.
std::set<std::string> ApplicationRun::own_files(data::Split split) const {
  const config::DataTable& data = application_.description().data;
  const bool is_share = tasks::index_of(split) < data.split.size();
  return hashes_of(application_.specification(), is_share ? "train" : data::name_of(split));
}

record::Ending ApplicationRun::conclude(train::Observer& observer, train::Control& control) {
  const bool learns = records(data::Split::train) != nullptr;
  const std::size_t sets = 2 + (records(data::Split::test) != nullptr ? 1 : 0) + (learns ? 1 : 0);
  const Watch watch(observer, control, sets * application_.description().steps.size());
  try {
    for (const std::string& note : notes_) observer.happened(record::Logged{.text = note});
    name_shared_sets(observer);
    if (application_.is_fitted()) fit(observer, watch);
    const std::string knowledge = application_.knowledge();
    snapshots_.write_file("application", record::application_file, knowledge, control, observer);
    record::MeasuredValues result = measure(data::Split::dev, measured_on_, observer, control, watch);
    if (const Records* test = records(data::Split::test)) {
      const record::MeasuredValues of_test = measure(data::Split::test, *test, observer, control, watch);
      result.insert(result.end(), of_test.begin(), of_test.end());
    }
    observer.happened(record::Concluded{.best_step = 0, .measures = result});
    observer.happened(record::Ended{.ending = record::Ending::completed, .step = 0});
    return record::Ending::completed;
  } catch (const Interrupted&) {
    observer.happened(record::Ended{.ending = record::Ending::interrupted, .reason = "stopped", .step = 0});
    return record::Ending::interrupted;
  }
}

void ApplicationRun::fit(train::Observer& observer, const Watch& watch) {
  for (const std::string& note :
       application_.fit(records(data::Split::train), fitted_on_, watch.on("the fitting share")))
    observer.happened(record::Logged{.text = note});
  for (const auto& [step, text] : application_.knowledge_of_steps())
    observer.happened(record::Digested{.step = 0, .scope = "steps/" + step, .sha256 = sha256(text)});
  report_files_of_steps(observer);
}

/// Reports what steps wrote into their folders, such as an index, as artifacts: a bundle takes these.
void ApplicationRun::report_files_of_steps(train::Observer& observer) const {
  const std::filesystem::path folder = run_folder_ / steps_folder;
  if (!std::filesystem::is_directory(folder)) return;
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      names.insert(std::filesystem::relative(entry.path(), run_folder_).generic_string());
  for (const std::string& name : names)
    observer.happened(
        record::Wrote{.name = name, .path = name, .sha256 = sha256_of_file(run_folder_ / name)});
}

record::MeasuredValues ApplicationRun::measure(data::Split split, const Records& records,
                                               train::Observer& observer, train::Control& control,
                                               const Watch& watch) {
  const std::string set = data::name_of(split);
  const Records given = application_.apply(records, watch.on(set)).given;
  const Statistics statistics = application_.measure(records, given);
  observer.happened(
      record::Digested{.step = 0, .scope = "answers/" + set, .sha256 = sha256(answer_lines(given))});
  record::MeasuredValues measures;
  for (const auto& [name, value] : measure_values(application_.measures(), statistics))
    measures.push_back({set + "/" + name, value});
  if (!measures.empty()) observer.happened(record::Evaluated{.step = 0, .epoch = 0, .measures = measures});
  std::filesystem::create_directory(run_folder_ / "predictions");
  const std::string name = "predictions/" + set + ".jsonl";
  snapshots_.write_file(name, name, prediction_lines(application_.fields(), records, given, statistics),
                        control, observer);
  return measures;
}

}  // namespace encore::apply
