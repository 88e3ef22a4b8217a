// SPDX-License-Identifier: BSD-3-Clause
// Parses and checks train.select and app.select, such as "max dev/f1". Every refusal says what may be written
// instead. across_tables.cpp and experiment.cpp call it. Runs store the text, so a form that is accepted must
// stay accepted. Read selection.hpp first.
#include "config/selection.hpp"

#include "base/measures.hpp"
#include "base/nearest.hpp"
#include "config/manifest.hpp"
#include "config/value.hpp"

namespace encore::config {

namespace {

constexpr std::string_view dev_split = "dev/";

const char* direction(const Measure& measure) {
  return measure.better == Better::higher ? "max" : "min";
}

std::string written(const Measure& measure, std::string_view name) {
  return std::string(direction(measure)) + " " + std::string(dev_split) + std::string(name);
}

bool can_select(const Measure& measure) {
  return measure.better != Better::neither &&
         (has_value(measure.reducer) || measure.name == loss_measure().name);
}

std::vector<Measure> measures_of(const ManifestOffer& task) {
  std::vector<Measure> all = task.measures;
  all.push_back(loss_measure());
  return all;
}

/// Returns the selections that are possible with all data. Messages offer them.
std::vector<std::string> sure_selections(const std::vector<Measure>& measures) {
  std::vector<std::string> all;
  for (const Measure& measure : measures)
    if (measure.always && can_select(measure) && !is_family(measure))
      all.push_back(written(measure, measure.name));
  return all;
}

}  // namespace

const Measure* measure_of(const std::vector<Measure>& measures, std::string_view name) {
  for (const Measure& measure : measures)
    if (measure.name == name) return &measure;
  for (const Measure& measure : measures)
    if (is_family(measure) && key_in_name(measure, name)) return &measure;
  return nullptr;
}

std::optional<std::string> selection_problem(const std::string& text, const ManifestOffer& task) {
  return selection_problem(text, measures_of(task), "task \"" + task.name + "\"");
}

std::optional<std::string> selection_problem(const std::string& text, const std::vector<Measure>& measures,
                                             const std::string& subject) {
  const std::vector<std::string> sure = sure_selections(measures);
  const std::size_t begin = std::string_view("max ").size() + dev_split.size();
  const bool formed = text.size() > begin && (text.starts_with("max ") || text.starts_with("min ")) &&
                      std::string_view(text).substr(4, dev_split.size()) == dev_split;
  if (!formed)
    return "must be \"max dev/MEASURE\" or \"min dev/MEASURE\", found text \"" + shortened(text) + "\"" +
           did_you_mean(text, sure, "; with " + subject + " it may be " + quoted_list(sure));
  const std::string name = text.substr(begin);
  const Measure* measure = measure_of(measures, name);
  if (measure == nullptr) {
    std::vector<std::string> names;
    for (const Measure& each : measures)
      if (can_select(each)) names.push_back(each.name);
    return "names the measure \"" + shortened(name) + "\", which " + subject + " does not have" +
           did_you_mean(name, names, "; it has " + quoted_list(names));
  }
  if (!can_select(*measure))
    return "names the measure \"" + name + "\", which " +
           (has_value(measure->reducer) ? "is better neither high nor low" : "is not a number") + "; with " +
           subject + " it may be " + quoted_list(sure);
  if (is_family(*measure) && name == measure->name)
    return "names \"" + name + "\", which stands for many measures; write the name of one in place of " +
           name.substr(name.find('{'), name.find('}') - name.find('{') + 1);
  if (!text.starts_with(direction(*measure)))
    return "is \"" + text + "\", but a " + (measure->better == Better::higher ? "higher" : "lower") + " " +
           name + " is the better one; write \"" + written(*measure, name) + "\"";
  return std::nullopt;
}

Selection parse_selection(const std::string& text) {
  const std::size_t blank = text.find(' ');
  return {text.substr(0, blank) == "max", text.substr(blank + 1)};
}

}  // namespace encore::config
