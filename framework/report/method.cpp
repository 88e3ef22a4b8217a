// SPDX-License-Identifier: BSD-3-Clause
// The section "method": model, training, data, and every setting with the line that set it. It must be
// complete enough to repeat the runs. report.cpp calls method_section(). CSV and JSON have the ids and
// columns of its tables, so they stay. Read sections.hpp first; architecture.cpp draws the model.
#include <algorithm>
#include <map>
#include <set>

#include "config/core_schema.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// Returns the run whose model is described: of the candidate with the best mean, else the first run.
const store::RunRow& shown_run(const ReportData& data) {
  for (const Question& question : data.questions)
    if (const auto first = question.first())
      for (const analysis::Replicate& replicate : question.comparison.candidates[*first].runs)
        if (replicate.value) return replicate.run;
  return data.runs.front();
}

// --- model ---

/// Returns the table of parameters of the candidates whose models have the same parts, the best mean first.
document::TableBlock size_table(const ReportData& data) {
  struct Size {
    const record::Started* reported;
    std::vector<std::string> names;
  };
  std::vector<Size> sizes;
  for (const Question& question : data.questions)
    for (const std::size_t index : question.order) {
      const record::Started* started = data.started(question.comparison.candidates[index].runs.front().run);
      if (started == nullptr || !started->parameters) continue;
      auto known = std::ranges::find_if(sizes, [&](const Size& one) {
        return one.reported->parameters == started->parameters &&
               one.reported->parameter_parts == started->parameter_parts;
      });
      if (known == sizes.end()) known = sizes.insert(known, {started, {}});
      known->names.push_back(question.letter(index));
    }
  document::TableBlock table;
  table.id = "parameters";
  table.caption = "Parameters of the models, as the worker counted them.";
  table.columns = {{"candidates", "", false}, {"part", "", false}, {"parameters", "", true}};
  constexpr std::size_t most = 6;
  const std::size_t shown = data.options.most_rows == 0 ? sizes.size() : std::min(most, sizes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [reported, names] = sizes[i];
    const std::string who = sizes.size() == 1 && names.size() > 1 ? "all"
                            : names.size() > 4 ? names.front() + " and " + counted(names.size() - 1, "other")
                                               : listed(names);
    for (const record::PartSize& part : reported->parameter_parts)
      table.rows.push_back({who, part.part, count_cell(part.parameters)});
    table.rows.push_back({who, document::Text({strong("all")}), count_cell(*reported->parameters)});
  }
  if (shown < sizes.size())
    table.notes.push_back(counted(sizes.size() - shown, "more size") +
                          " of models are in the CSV and JSON of this report.");
  return table;
}

document::Section model_section(const ReportData& data) {
  document::Section section{"model", "Model"};
  const store::RunRow& run = shown_run(data);
  if (auto chart = architecture_of(data, run)) {
    document::Figure figure;
    figure.id = "architecture";
    figure.caption =
        "The model of " + run.name +
        (data.runs.size() > 1 ? ", the candidate with the best mean; others differ as the settings say."
                              : ".");
    figure.alternative = "From bottom to top: ";
    for (std::size_t i = 0; i < chart->boxes.size(); ++i)
      figure.alternative += (i == 0 ? "" : ", then ") + chart->boxes[i].name;
    for (const document::FlowChart::Group& group : chart->groups)
      figure.alternative += "; " + group.name + " " + std::to_string(group.times) + " times";
    figure.alternative += ".";
    figure.chart = std::move(*chart);
    section.blocks.push_back(std::move(figure));
  }
  document::TableBlock sizes = size_table(data);
  if (!sizes.rows.empty())
    section.blocks.push_back(std::move(sizes));
  else
    section.blocks.push_back(document::Notice{"No worker reported how many parameters its model has."});
  return section;
}

// --- training ---

std::string levels_text(const analysis::Factor& factor, const std::string& key, const ReportData& data) {
  std::vector<std::string> seen;
  for (const store::RunRow& run : data.runs) {
    const nlohmann::json value = data.setting(run, key);
    const std::string text = value.is_null() ? "absent" : config::setting_text(value);
    if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(text);
    if (seen.size() > 12) return std::to_string(factor.levels.size()) + " values";
  }
  std::sort(seen.begin(), seen.end(), natural_less);
  std::string text;
  for (const std::string& level : seen) text += (text.empty() ? "" : " or ") + level;
  return text;
}

/// "; 600 tokens in the vocabulary", from the reports of the workers.
std::string vocabulary_text(const ReportData& data) {
  std::set<std::int64_t> sizes;
  for (const store::RunRow& run : data.runs)
    if (const record::Started* started = data.started(run); started != nullptr && started->vocabulary_size)
      sizes.insert(*started->vocabulary_size);
  std::vector<std::string> texts;
  for (const std::int64_t size : sizes) texts.push_back(thousands(size));
  return texts.empty() ? "" : "; " + listed(texts) + " tokens in the vocabulary";
}

document::Section training_section(const ReportData& data) {
  document::Section section{"training", "Training"};
  const auto text = [&](const std::string& key) {
    for (const analysis::Factor& factor : data.factors)
      if (std::find(factor.keys.begin(), factor.keys.end(), key) != factor.keys.end())
        return levels_text(factor, key, data);
    return config::setting_text(data.setting(data.runs.front(), key));
  };
  const auto options = [&](const std::string& table) {
    std::string given, defaults;
    const auto params = data.params.find(data.runs.front().number);
    if (params == data.params.end()) return given;
    for (const store::ParamRow& param : params->second) {
      if (!param.key.starts_with(table + ".") || param.key == table + ".type") continue;
      std::string& list = param.source == "default" ? defaults : given;
      list += (list.empty() ? "" : ", ") + param.key.substr(table.size() + 1) + " " + text(param.key);
    }
    if (!defaults.empty()) given += (given.empty() ? "defaults: " : "; defaults: ") + defaults;
    return given;
  };
  const auto with_options = [&](const std::string& table) {
    const std::string list = options(table);
    return text(table + ".type") + (list.empty() ? "" : " (" + list + ")");
  };
  const auto is_set = [&](const std::string& key) {
    const auto params = data.params.find(data.runs.front().number);
    return params != data.params.end() &&
           std::ranges::find(params->second, key, &store::ParamRow::key) != params->second.end();
  };
  const std::string batch = is_set("train.batch_tokens") ? text("train.batch_tokens") + " tokens with padding"
                                                         : text("train.batch_size") + " sequences";
  const std::string length = is_set("train.steps") ? text("train.steps") + " steps"
                                                   : "epochs at most " + text("train.epochs") + " epochs";
  const std::string loss_scale = is_set("train.loss_scale") ? ", the loss in backward passes times " +
                                                                  text("train.loss_scale") + " at first"
                                                            : "";
  document::ItemList list;
  list.items = {
      document::Text({strong("Tokenizer: "), {with_options("tokenizer") + vocabulary_text(data) + "."}}),
      document::Text({strong("Optimizer: "), {with_options("optimizer") + "."}}),
      document::Text({strong("Schedule: "),
                      {with_options("schedule") + "; the learning rate as it was logged is drawn in "},
                      reference("Curves", "curves"),
                      {"."}}),
      document::Text(
          {strong("Batches: "),
           {batch + ", " + text("train.batching") + ", gradient shards " + text("train.gradient_shards") +
            "; " + length + ", patience " + text("train.patience") + " (0: off)."}}),
      document::Text({strong("Loss: "),
                      {"that of the " + text("model.head.type") + " head, label smoothing " +
                       text("train.label_smoothing") + "; gradient clipped to norm " +
                       text("train.clip_norm") + " (0: not)."}}),
      document::Text({strong("Numbers: "),
                      {text("train.precision") + loss_scale +
                       "; random numbers from counters, keyed by seed, "
                       "tensor, step and position."}})};
  section.blocks.push_back(std::move(list));
  return section;
}

// --- steps of applications ---

/// Returns the table of the steps of the first application, with the options that were given; an option that
/// differs among the runs has all its values.
document::Section steps_section(const ReportData& data) {
  document::Section section{"steps", "Steps"};
  const store::RunRow& run = *std::ranges::find_if(data.runs, store::is_application);
  const auto text = [&](const std::string& key) {
    for (const analysis::Factor& factor : data.factors)
      if (std::ranges::find(factor.keys, key) != factor.keys.end()) return levels_text(factor, key, data);
    return config::setting_text(data.setting(run, key));
  };
  const std::map<std::string, store::ParentRow> models = data.store.read_parents(run);
  document::TableBlock table;
  table.id = "app-steps";
  table.caption = "The steps in their order, with the models that they ask and the options that were given.";
  table.columns = {{"step", "", false}, {"type", "", false}, {"model", "", false}, {"options", "", false}};
  const nlohmann::json names = data.setting(run, "app.steps");
  for (const nlohmann::json& name : names.is_array() ? names : nlohmann::json::array()) {
    const std::string step = config::setting_text(name), prefix = "app.step." + step + ".";
    std::string options;
    if (const auto params = data.params.find(run.number); params != data.params.end())
      for (const store::ParamRow& param : params->second)
        if (param.key.starts_with(prefix) && param.source != "default" && param.key != prefix + "type" &&
            !param.key.starts_with(prefix + "model."))
          options += (options.empty() ? "" : ", ") + param.key.substr(prefix.size()) + " " + text(param.key);
    const auto model = models.find(config::step_model_key(step));
    const std::string asked = model == models.end() ? ""
                              : model->second.run   ? model->second.run->name
                                                    : model->second.experiment;
    table.rows.push_back({step, text(prefix + "type"), asked, options});
  }
  section.blocks.push_back(std::move(table));
  section.blocks.push_back(document::Paragraph{
      "Steps are fitted on a share of " + text("app.fit") +
      " of the development set, chosen by the content of its examples, and measured on the others; the test "
      "set is only scored."});
  return section;
}

// --- settings ---

/// Returns "study.toml:14" for "study.toml:14:30", because the column is of no use on paper.
std::string line_of(const std::string& at) {
  const std::size_t column = at.rfind(':');
  if (column == std::string::npos || column == 0) return at;
  const std::size_t line = at.rfind(':', column - 1);
  const bool numbers = line != std::string::npos && line + 1 < column && column + 1 < at.size() &&
                       at.find_first_not_of("0123456789:", line) == std::string::npos;
  return numbers ? at.substr(0, column) : at;
}

document::Section settings_section(const ReportData& data) {
  document::Section section{"settings", "Settings"};
  std::map<std::string, const analysis::Factor*> varied;
  for (const analysis::Factor& factor : data.factors)
    for (const std::string& key : factor.keys) varied[key] = &factor;
  std::map<std::string, const store::ParamRow*> all;
  for (const store::RunRow& run : data.runs)
    if (const auto params = data.params.find(run.number); params != data.params.end())
      for (const store::ParamRow& param : params->second) all.try_emplace(param.key, &param);
  document::TableBlock table;
  table.id = "settings-table";
  table.caption =
      "Every setting as it was resolved, and where it was set; values that differ between runs "
      "stand side by side. The seed is listed with each run.";
  table.columns = {{"setting", "", false}, {"value", "", false}, {"from", "", false}};
  for (const auto& [key, param] : all) {
    const auto factor = varied.find(key);
    const std::string at = param->source == "default" || param->at.empty()
                               ? param->source
                               : line_of(config::setting_text(param->at));
    table.rows.push_back({code_cell(key),
                          factor == varied.end() ? config::setting_text(param->value)
                                                 : levels_text(*factor->second, key, data),
                          factor == varied.end() ? at : at + (param->source == "default" ? "" : ", varied")});
  }
  if (table.rows.empty())
    section.blocks.push_back(document::Notice{"No settings were recorded."});
  else
    section.blocks.push_back(std::move(table));
  return section;
}

}  // namespace

document::Section method_section(const ReportData& data) {
  document::Section section{"method", "Method"};
  if (!std::ranges::all_of(data.runs, store::is_application))
    section.sections = {model_section(data), training_section(data)};
  if (std::ranges::any_of(data.runs, store::is_application)) section.sections.push_back(steps_section(data));
  add_section(section.sections, data_section(data));
  section.sections.push_back(settings_section(data));
  return section;
}

}  // namespace encore::report
