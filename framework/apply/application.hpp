// SPDX-License-Identifier: BSD-3-Clause
// Application: the steps of an experiment with [app], with the models that they ask. Place in the flow:
// application_run.cpp makes one and fits it (worker verb train); the verbs predict, evaluate and serve open a
// fitted one from its run's folder and apply it. Fields and measures of a step have the step's name in front,
// "decide.band"; experiments, databases and users have these names, so they do not change.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/device.hpp>
#include <encore/step.hpp>

#include "apply/asked_run.hpp"
#include "config/experiment.hpp"
#include "plugin_host/registry.hpp"
#include "record/specification.hpp"
#include "tasks/input_use.hpp"

namespace encore::apply {

/// The folder of a run with a folder for the files of each step, such as an index.
inline constexpr const char* steps_folder = "steps";

/// What the steps gave for some records.
struct Applied {
  /// The fields of every step, with the step's name in front. Vectors are left out, and so is a field `texts`
  /// that a later step reads: a search passes the documents that it found in it to the steps after it, and
  /// the last of these gives those that it keeps.
  Records given;
  Records shown;  ///< the field `shown` of the last step that gives one, a line for people; or no field
  std::vector<double> seconds = {};  ///< the time of each step for all records
};

/// What decides the answers of one step, and its time for some records.
struct StepTrace {
  std::string step, type;
  std::string run_name, run, weights;  ///< the run that it asks: name, id, SHA-256 of the weights; else empty
  std::string knowledge;               ///< SHA-256 of what fit() found; empty if there is nothing to fit
  double seconds = 0.0;
};

/// Called while a set passes through the steps: the step's name, and how many of how many records are done.
using ApplyWatch = std::function<void(const std::string& step, std::size_t done, std::size_t all)>;

/// The fields by which an application says who answers a request (encore/step.hpp).
struct BandFields {
  std::string band;      ///< "decide.band"; "": no step gives it
  std::string proposal;  ///< "intent.label", the label that a person is to confirm; "": there is none
};

/// Not for use by several threads at once.
class Application {
 public:
  /// Loads the models and makes the steps, which are not fitted yet. Throws Error if a run cannot be loaded;
  /// ConfigError with the key of a step whose options are wrong or that reads a field which nothing gives.
  Application(record::Specification specification, const std::filesystem::path& run_folder,
              const Device& device);
  /// Opens the fitted application of a run. Plugins are searched in `plugin_folders`. Throws Error if the run
  /// was not completed, or if the file with its knowledge is damaged or of another run.
  static Application open(const std::filesystem::path& run_folder,
                          const std::vector<std::string>& plugin_folders, const Device& device);

  const config::Application& description() const { return description_; }
  const record::Specification& specification() const { return specification_; }
  const plugin_host::Registry& registry() const { return registry_; }
  const Reader& reader() const { return *reader_; }
  /// Returns the fields of the reader that the steps read, and their truth.
  const TaskFields& fields() const { return fields_; }
  /// Returns the measures of all steps.
  const std::vector<Measure>& measures() const { return measures_; }
  /// Returns the models that steps ask, by the names of the steps.
  std::vector<std::pair<std::string, const AskedRun*>> models() const;
  /// Returns the fields of the last step that gives a band. The proposal is the first label that it reads.
  BandFields band_fields() const;
  /// Returns the classes of the model that gave the proposal or, without one, of the first model with classes
  /// that reads the records themselves: those of a model of pairs are not about a request.
  std::vector<std::string> labels() const;
  /// Returns whether a step learns from the training set.
  bool learns() const;
  bool is_fitted() const;

  /// Fits the steps in their order. Returns their notes, each with the name of its step in front.
  std::vector<std::string> fit(const Records* train, const Records& dev, const ApplyWatch& watch = {});
  /// Returns what fit() found and the question of the run, as JSON, and reads it back. restore() throws Error
  /// for another text.
  std::string knowledge() const;
  void restore(std::string_view knowledge);
  /// Returns the knowledge of each fitted step, by its name.
  std::vector<std::pair<std::string, std::string>> knowledge_of_steps() const;

  /// Returns what the steps give for records with the reader's fields. The answer to a record depends on this
  /// record alone.
  Applied apply(const Records& records, const ApplyWatch& watch = {});
  /// Returns for each step what decided its answers in `applied`, which apply() returned.
  std::vector<StepTrace> trace(const Applied& applied) const;
  /// Returns the records as the last step reads them: with all fields that the steps before it give, vectors
  /// too.
  Records before_last(const Records& records, const ApplyWatch& watch = {});
  /// Returns for each record how its models read it if it is long: the most windows of a model, and what the
  /// first model that cuts it does not read. A model whose input the step makes from fields of earlier steps
  /// has no part in this.
  std::vector<tasks::InputUse> uses(const Records& records) const;
  /// Returns what each record, which has its truth, contributes to the measures.
  Statistics measure(const Records& records, const Records& given) const;
  /// Returns one record per line that a user typed: as the first model reads it that gets records as they
  /// are, with the fields that later ones of these models read in addition, such as the words of a text.
  /// Without such a model the line is the field "text". Throws Error if a model takes no lines.
  Records from_text(std::span<const std::string> lines) const;

 private:
  struct Part {
    config::StepTable table;
    std::unique_ptr<AskedRun> model;  ///< must outlive the step
    std::unique_ptr<AppStep> step;
    StepFields fields;
  };

  /// Returns whether the model of the part reads the records themselves. A step that reads a field of an
  /// earlier step, such as the documents of a search, makes the input of its model from both.
  static bool asks_about_records(const Part& part);
  /// Returns whether answers have a field that a part gives; `name` is without the step's name.
  bool is_answered(std::size_t part, const std::string& name) const;
  Applied apply_to(Part& part, const Records& records, const ApplyWatch& watch);

  record::Specification specification_;
  plugin_host::Registry registry_;
  config::Application description_;
  std::unique_ptr<Reader> reader_;
  std::vector<Part> parts_;
  TaskFields fields_;
  std::vector<Measure> measures_;
};

/// Says whether answers have the fields with a number for every class (`scores`).
enum class ClassScores : std::uint8_t { without, with };
/// Returns the answers to records for programs: what the steps gave.
Records answers_of(const Records& given, ClassScores scores);
/// The same after the text fields that the steps read from the records, as other tasks repeat their inputs.
Records answers_with_inputs(const Application& application, const Records& records, const Records& given,
                            ClassScores scores);

/// Finds what can be found without the models: options of steps, and fields that nothing gives. Throws
/// ConfigError with the key of the step.
void check_application(const config::Application& application, const plugin_host::Registry& registry);

}  // namespace encore::apply
