// SPDX-License-Identifier: BSD-3-Clause
// Application: makes the steps of [app] and passes records through them in order. application_run.cpp and the
// worker's verbs call it. A record passes through in parts of fixed size, and a step sees only what the
// reader and earlier steps gave. Read application.hpp first.
#include "apply/application.hpp"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/load_file.hpp"
#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "config/catalogue.hpp"
#include "config/core_schema.hpp"
#include "config/error.hpp"
#include "config/fingerprint.hpp"
#include "infer/setup.hpp"
#include "record/crash_line.hpp"
#include "tasks/data_split.hpp"
#include "tasks/prediction_file.hpp"
#include "tasks/read_set.hpp"

namespace encore::apply {
namespace {

using nlohmann::json;

/// The name of a field with the documents that a step found. Answers leave it out if a later step reads it.
constexpr const char* documents_field = "texts";

constexpr std::size_t records_at_once = 1024;
constexpr int knowledge_version = 1;

/// Sets the paths among the options of a step to the planned files, as infer::take_planned_files does for
/// [data]: a file of a bundle lies elsewhere than the experiment says.
void take_planned_paths(config::StepTable& step, const record::Specification& specification) {
  const std::map<std::string, OptionValue> given = step.options.values();
  for (const auto& [name, value] : given)
    if (const std::vector<std::string> files =
            record::files_of_role(specification.data, step.key + "." + name);
        files.size() == 1 && std::holds_alternative<std::string>(value))
      step.options.set(name, files.front());
    else if (!files.empty())
      step.options.set(name, files);
}

config::Application described(const record::Specification& specification, plugin_host::Registry& registry) {
  std::vector<std::filesystem::path> folders(specification.plugin_folders.begin(),
                                             specification.plugin_folders.end());
  const config::Catalogue catalogue = config::Catalogue::load(folders, config::host_fingerprint());
  config::Application application =
      config::make_application(specification.config, catalogue, specification.origin);
  infer::take_planned_files(application.data, specification);
  for (config::StepTable& step : application.steps) take_planned_paths(step, specification);
  registry.load(catalogue, config::needed_types(application));
  return application;
}

/// Returns the step's name in the name of a field, "intent" for "intent.label"; "" for a field of the reader.
std::string step_of(const std::string& field) {
  const std::size_t point = field.find('.');
  return point == std::string::npos ? "" : field.substr(0, point);
}

std::string full_name(const std::string& step, const std::string& field) {
  return step + "." + field;
}

/// Throws ConfigError if a step reads a field that neither the reader nor an earlier step gives.
void require_given(const config::Application& application, const std::vector<StepFields>& fields,
                   const Offer& reader) {
  std::vector<std::string> of_reader = reader.gives;
  for (const OptionalField& field : reader.may_give) of_reader.push_back(field.name);
  std::vector<std::string> given = of_reader, earlier;
  for (std::size_t i = 0; i < application.steps.size(); ++i) {
    const config::StepTable& step = application.steps[i];
    const auto refuse = [&](const std::string& field, const std::string& why) {
      throw config::ConfigError(step.key,
                                "step \"" + step.name + "\" reads the field \"" + field + "\", " + why);
    };
    std::vector<std::string> read = fields[i].reads;
    read.insert(read.end(), fields[i].truth.begin(), fields[i].truth.end());
    for (const std::string& field : read) {
      const std::string owner = step_of(field);
      if (owner.empty()) {
        if (std::ranges::find(of_reader, field) == of_reader.end())
          refuse(field, "which the reader \"" + application.data.reader.type + "\" does not give" +
                            did_you_mean(field, of_reader, "; it gives " + quoted_list(of_reader)));
        continue;
      }
      const auto step_before = std::ranges::find(earlier, owner);
      if (step_before == earlier.end())
        refuse(field, "but no step \"" + owner + "\" stands before it in app.steps" +
                          did_you_mean(owner, earlier,
                                       earlier.empty() ? "; it is the first step"
                                                       : "; before it are " + quoted_list(earlier)));
      const StepFields& others = fields[static_cast<std::size_t>(step_before - earlier.begin())];
      if (others.gives.empty()) continue;  // known when its model is
      if (std::ranges::find(given, field) == given.end())
        refuse(field, "which step \"" + owner + "\" does not give" +
                          did_you_mean(field, given, "; it gives " + quoted_list(others.gives)));
    }
    earlier.push_back(step.name);
    for (const std::string& name : fields[i].gives) given.push_back(full_name(step.name, name));
  }
}

/// Adds fields to records of equal size.
void add_fields(Records& to, const Records& more) {
  for (const Records::Field& field : more.fields()) to.add(field.name, field.values);
}

Records part_of(const Records& records, std::size_t first, std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = first + i;
  return tasks::selected(records, numbers);
}

void add_once(std::vector<std::string>& list, const std::string& name) {
  if (std::ranges::find(list, name) == list.end()) list.push_back(name);
}

/// Returns the weights of a run where they are now: as planned or, if the folders of all runs were moved
/// (with their database, or in a bundle), in the folder of that run beside `run_folder`.
record::DataFile present_file(const record::DataFile& weights, const std::filesystem::path& run_folder) {
  const std::filesystem::path planned = weights.path;
  std::error_code ignored;
  if (std::filesystem::exists(planned, ignored)) return weights;
  const std::filesystem::path beside =
      std::filesystem::absolute(run_folder).lexically_normal().parent_path() /
      planned.parent_path().filename() / planned.filename();
  return {std::filesystem::exists(beside, ignored) ? beside.string() : weights.path, weights.sha256};
}

std::unique_ptr<AppStep> make_step(const plugin_host::Registry& registry, const config::StepTable& table,
                                   const StepContext& context) {
  return infer::with_key(table, [&] { return registry.make_step(table.type, table.options, context); });
}

}  // namespace

Application::Application(record::Specification specification, const std::filesystem::path& run_folder,
                         const Device& device)
    : specification_(std::move(specification)), description_(described(specification_, registry_)) {
  const config::PluginTable& reader = description_.data.reader;
  reader_ = infer::with_key(reader, [&] { return registry_.make_reader(reader.type, reader.options); });
  const bool several = std::ranges::count_if(description_.steps, [&](const config::StepTable& table) {
                         return !registry_.offer(Kind::step, table.type).measures.empty();
                       }) > 1;
  std::vector<StepFields> fields;
  std::string before;
  for (const config::StepTable& table : description_.steps) {
    Part part{.table = table, .model = nullptr, .step = nullptr, .fields = {}};
    if (table.asks_model) {
      const std::string role = config::step_model_key(table.name);
      const auto weights = specification_.data.find(role);
      if (weights == specification_.data.end()) throw config::ConfigError(role, "its run has no weights yet");
      try {
        part.model = std::make_unique<AskedRun>(present_file(weights->second, run_folder), role,
                                                specification_.plugin_folders, device);
      } catch (const Error& error) {
        throw config::ConfigError(role, std::string("the model cannot be loaded: ") + error.what());
      }
    }
    part.step = make_step(registry_, table,
                          {.name = table.name,
                           .before = before,
                           .seed = specification_.seed,
                           .model = part.model.get(),
                           .folder = run_folder / steps_folder / table.name});
    part.fields = part.step->fields();
    fields.push_back(part.fields);
    for (Measure measure : registry_.offer(Kind::step, table.type).measures) {
      if (several && !measure.title.empty()) measure.title = table.name + ": " + measure.title;
      measure.name = full_name(table.name, measure.name);
      for (std::string& column : measure.columns) column = full_name(table.name, column);
      measures_.push_back(std::move(measure));
    }
    before = table.name;
    parts_.push_back(std::move(part));
  }
  require_given(description_, fields, registry_.offer(Kind::reader, reader.type));
  for (const StepFields& of_step : fields) {
    for (const std::string& name : of_step.reads)
      if (step_of(name).empty()) add_once(fields_.structure, name);
    for (const std::string& name : of_step.truth)
      if (step_of(name).empty()) add_once(fields_.truth, name);
  }
  std::erase_if(fields_.truth, [this](const std::string& name) {
    return std::ranges::find(fields_.structure, name) != fields_.structure.end();
  });
  for (const Part& part : parts_)
    if (asks_about_records(part))
      for (const std::string& name : part.model->fields().optional)
        if (std::ranges::find(fields_.structure, name) == fields_.structure.end())
          add_once(fields_.optional, name);
}

Application Application::open(const std::filesystem::path& run_folder,
                              const std::vector<std::string>& plugin_folders, const Device& device) {
  record::Specification specification = record::Specification::load(run_folder);
  specification.plugin_folders = plugin_folders;
  Application application(std::move(specification), run_folder, device);
  const std::filesystem::path file = run_folder / record::application_file;
  const std::string text = load_text(file, "knowledge of the application's steps");
  tasks::with_file(file, [&] { application.restore(text); });
  return application;
}

bool Application::asks_about_records(const Part& part) {
  return part.model && std::ranges::all_of(part.fields.reads,
                                           [](const std::string& name) { return step_of(name).empty(); });
}

bool Application::is_answered(std::size_t part, const std::string& name) const {
  if (name == vector_field) return false;
  if (name != documents_field) return true;
  return std::ranges::none_of(std::span(parts_).subspan(part + 1), [&](const Part& later) {
    return std::ranges::find(later.fields.reads, full_name(parts_[part].table.name, name)) !=
           later.fields.reads.end();
  });
}

std::vector<std::pair<std::string, const AskedRun*>> Application::models() const {
  std::vector<std::pair<std::string, const AskedRun*>> models;
  for (const Part& part : parts_)
    if (part.model) models.emplace_back(part.table.name, part.model.get());
  return models;
}

BandFields Application::band_fields() const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    if (std::ranges::find(part->fields.gives, band_field) == part->fields.gives.end()) continue;
    const auto proposal =
        std::ranges::find_if(part->fields.reads, [](const auto& field) { return field.ends_with(".label"); });
    return {.band = full_name(part->table.name, band_field),
            .proposal = proposal == part->fields.reads.end() ? "" : *proposal};
  }
  return {};
}

std::vector<std::string> Application::labels() const {
  const std::string proposal = band_fields().proposal;
  std::vector<std::string> labels;
  for (const Part& part : parts_) {
    if (!asks_about_records(part)) continue;
    if (full_name(part.table.name, "label") == proposal) return part.model->labels();
    if (labels.empty()) labels = part.model->labels();
  }
  return labels;
}

bool Application::learns() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return part.step->learns(); });
}

bool Application::is_fitted() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return part.step->is_fitted(); });
}

// --- knowledge ---

std::vector<std::string> Application::fit(const Records* train, const Records& dev, const ApplyWatch& watch) {
  std::vector<std::string> notes;
  Records of_dev = part_of(dev, 0, dev.size());
  Records of_train;
  if (train != nullptr) of_train = part_of(*train, 0, train->size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const std::string work = record::work_text("fitting", "step " + part.table.name,
                                               registry_.owner_text(Kind::step, part.table.type));
    const record::CurrentWork current(work.c_str());
    if (part.step->is_fitted()) {
      try {
        part.step->fit(
            {.train = part.step->learns() && train != nullptr ? &of_train : nullptr, .dev = of_dev});
      } catch (const Error& error) {
        const std::string message = error.what(), title = "step \"" + part.table.name + "\"";
        throw config::ConfigError(part.table.key,
                                  message.starts_with(title) ? message : title + ": " + message);
      }
      for (const std::string& note : part.step->notes()) notes.push_back(part.table.name + ": " + note);
    }
    const auto later = std::span(parts_).subspan(i + 1);
    if (later.empty()) break;
    add_fields(of_dev, apply_to(part, of_dev, watch).given);
    if (train != nullptr && std::ranges::any_of(later, [](const Part& one) { return one.step->learns(); }))
      add_fields(of_train, apply_to(part, of_train, watch).given);
  }
  return notes;
}

std::vector<std::pair<std::string, std::string>> Application::knowledge_of_steps() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Part& part : parts_)
    if (part.step->is_fitted()) all.emplace_back(part.table.name, part.step->knowledge());
  return all;
}

std::string Application::knowledge() const {
  json steps = json::object();
  for (const auto& [name, text] : knowledge_of_steps()) steps[name] = text;
  return json{{"version", knowledge_version},
              {"question", specification_.question},
              {"steps", std::move(steps)}}
             .dump(1) +
         "\n";
}

void Application::restore(std::string_view knowledge) {
  const json all = parse_json(knowledge);
  if (!all.is_object() || !all.contains("steps") || !all.at("steps").is_object() ||
      all.value("version", json()) != json(knowledge_version))
    throw Error("this is not the knowledge of an application of version " +
                std::to_string(knowledge_version));
  if (all.value("question", json()) != json(specification_.question))
    throw Error(
        "this is the knowledge of another application; run the experiment again (exp run FILE --fresh)");
  for (Part& part : parts_) {
    if (!part.step->is_fitted()) continue;
    const auto of_step = all.at("steps").find(part.table.name);
    if (of_step == all.at("steps").end() || !of_step->is_string())
      throw Error("the knowledge of step \"" + part.table.name + "\" is missing");
    try {
      part.step->restore(of_step->get<std::string>());
    } catch (const Error& error) {
      throw Error("step \"" + part.table.name + "\": " + error.what());
    }
  }
}

// --- answers ---

/// Returns all fields that the step gives, vectors too.
Applied Application::apply_to(Part& part, const Records& records, const ApplyWatch& watch) {
  const std::string work = record::work_text("applying", "step " + part.table.name,
                                             registry_.owner_text(Kind::step, part.table.type));
  const record::CurrentWork current(work.c_str());
  std::vector<Records> given_parts, shown_parts;
  for (std::size_t first = 0; first < records.size(); first += records_at_once) {
    const std::size_t count = std::min(records_at_once, records.size() - first);
    const bool whole = count == records.size();
    const Records asked = whole ? Records() : part_of(records, first, count);
    const Records given = part.step->apply(whole ? records : asked);
    if (given.size() != count)
      throw Error("step \"" + part.table.name + "\" gave " + std::to_string(given.size()) + " answers for " +
                  std::to_string(count) + " records");
    Applied named;
    for (const Records::Field& field : given.fields())
      if (field.name == tasks::shown_field)
        named.shown.add(field.name, field.values);
      else
        named.given.add(full_name(part.table.name, field.name), field.values);
    given_parts.push_back(std::move(named.given));
    shown_parts.push_back(std::move(named.shown));
    if (watch) watch(part.table.name, first + count, records.size());
  }
  return {.given = tasks::joined(given_parts), .shown = tasks::joined(shown_parts)};
}

Applied Application::apply(const Records& records, const ApplyWatch& watch) {
  Applied applied;
  if (records.size() == 0) return applied;
  Records known = part_of(records, 0, records.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const std::string prefix = full_name(part.table.name, "");
    const auto start = std::chrono::steady_clock::now();
    Applied of_step = apply_to(part, known, watch);
    applied.seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    add_fields(known, of_step.given);
    for (const Records::Field& field : of_step.given.fields())
      if (is_answered(i, field.name.substr(prefix.size()))) applied.given.add(field.name, field.values);
    if (!of_step.shown.fields().empty()) applied.shown = std::move(of_step.shown);
  }
  return applied;
}

std::vector<StepTrace> Application::trace(const Applied& applied) const {
  std::vector<StepTrace> steps;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    StepTrace step;
    step.step = part.table.name;
    step.type = part.table.type;
    step.seconds = applied.seconds.at(i);
    if (part.model) {
      step.run_name = part.model->specification().name;
      step.run = part.model->specification().run;
      step.weights = specification_.data.at(config::step_model_key(part.table.name)).sha256;
    }
    if (part.step->is_fitted()) step.knowledge = sha256(part.step->knowledge());
    steps.push_back(std::move(step));
  }
  return steps;
}

Records Application::before_last(const Records& records, const ApplyWatch& watch) {
  Records known = part_of(records, 0, records.size());
  for (Part& part : std::span(parts_).first(parts_.size() - 1))
    add_fields(known, apply_to(part, known, watch).given);
  return known;
}

std::vector<tasks::InputUse> Application::uses(const Records& records) const {
  std::vector<tasks::InputUse> uses(records.size());
  for (const Part& part : parts_) {
    if (!asks_about_records(part)) continue;
    const std::vector<tasks::InputUse> of_model = part.model->uses(records);
    for (std::size_t i = 0; i < of_model.size(); ++i) {
      uses[i].windows = std::max(uses[i].windows, of_model[i].windows);
      if (uses[i].left_out.empty()) uses[i].left_out = of_model[i].left_out;
    }
  }
  return uses;
}

Records answers_of(const Records& given, ClassScores scores) {
  Records kept;
  for (const Records::Field& field : given.fields()) {
    const bool is_scores = std::holds_alternative<Records::NumberMaps>(field.values) ||
                           std::holds_alternative<Records::NumberMapLists>(field.values);
    if (scores == ClassScores::with || !is_scores) kept.add(field.name, field.values);
  }
  return kept;
}

Records answers_with_inputs(const Application& application, const Records& records, const Records& given,
                            ClassScores scores) {
  Records answers;
  const TaskFields& read = application.fields();
  for (const std::vector<std::string>* names : {&read.structure, &read.optional})
    for (const std::string& name : *names)
      for (const Records::Field& field : records.fields())
        if (field.name == name && std::holds_alternative<Records::Texts>(field.values))
          answers.add(field.name, field.values);
  add_fields(answers, answers_of(given, scores));
  return answers;
}

Statistics Application::measure(const Records& records, const Records& given) const {
  Records known = part_of(records, 0, records.size());
  std::vector<Statistics> of_steps(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::string prefix = full_name(parts_[i].table.name, "");
    Records own;
    for (const Records::Field& field : given.fields())
      if (field.name.starts_with(prefix)) own.add(field.name.substr(prefix.size()), field.values);
    parts_[i].step->measure(known, own, of_steps[i]);
    if (of_steps[i].examples() != records.size())
      throw Error("step \"" + parts_[i].table.name + "\" measured " + std::to_string(of_steps[i].examples()) +
                  " of " + std::to_string(records.size()) + " records");
    for (const Records::Field& field : own.fields()) known.add(prefix + field.name, field.values);
  }
  Statistics all;
  for (std::size_t example = 0; example < records.size(); ++example) {
    all.begin_example();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Statistics& own = of_steps[i];
      for (const Statistics::Entry* entry = own.begin(example); entry != own.end(example); ++entry)
        all.add(full_name(parts_[i].table.name, own.columns()[entry->column]), entry->value,
                own.keys()[entry->key], own.keys()[entry->second_key]);
    }
  }
  return all;
}

Records Application::from_text(std::span<const std::string> lines) const {
  Records records;
  for (const Part& part : parts_) {
    if (!asks_about_records(part)) continue;
    const auto is_there = [&](const std::string& name) { return records.has(name); };
    if (!records.fields().empty() && std::ranges::all_of(part.model->fields().structure, is_there)) continue;
    const Records more = part.model->engine().task().from_text(lines);
    for (const Records::Field& field : more.fields())
      if (!records.has(field.name)) records.add(field.name, field.values);
  }
  if (records.fields().empty()) records.add("text", Records::Texts(lines.begin(), lines.end()));
  return records;
}

void check_application(const config::Application& application, const plugin_host::Registry& registry) {
  std::vector<StepFields> fields;
  std::string before;
  for (const config::StepTable& table : application.steps) {
    fields.push_back(make_step(registry, table, {.name = table.name, .before = before})->fields());
    before = table.name;
  }
  require_given(application, fields, registry.offer(Kind::reader, application.data.reader.type));
}

}  // namespace encore::apply
