// SPDX-License-Identifier: BSD-3-Clause
// model_origin() reads the settings of model.from, of frozen and tied parts and of the teacher, and puts
// their meaning into words. abstract.cpp, checklist_facts.cpp and model_card.cpp use its sentences. A new
// setting that changes where weights come from needs a case here, or reports would be wrong. Read
// model_card.hpp first.
#include "report/model_card.hpp"

#include <algorithm>
#include <set>

#include "report/wording.hpp"
#include "store/lineage.hpp"

namespace encore::report {

namespace {

constexpr std::size_t most_names = 4;

/// Returns the text of a setting; empty for a value of another type.
std::string text_setting(const SettingOf& setting, const std::string& key) {
  const nlohmann::json value = setting(key);
  return value.is_string() ? config::setting_text(value) : "";
}

/// Returns the strings of a list as text; empty for values of other types.
std::string list_setting(const SettingOf& setting, const std::string& key) {
  const nlohmann::json value = setting(key);
  std::vector<std::string> texts;
  if (value.is_array())
    for (const nlohmann::json& one : value) texts.push_back(config::setting_text(one));
  return listed(texts);
}

std::string kind_of(const SettingOf& setting) {
  if (!setting("model.decoder.layers").is_null()) return "encoder with a decoder";
  return setting("model.causal") == nlohmann::json(true) ? "decoder" : "encoder";
}

/// Returns the name of the run that the table `key` names, "base"; for a run of an experiment "base of
/// base.toml".
std::string named_run(store::Store& store, const store::RunRow& run, const SettingOf& setting,
                      const std::string& key) {
  const std::string id = text_setting(setting, key + ".run"),
                    question = text_setting(setting, key + ".question");
  if (id.empty() && question.empty()) return "";
  const std::optional<store::ParentRow> parent = store.read_parent(run, key);
  const std::string name = parent && parent->run ? parent->run->name : id;
  const std::string file = text_setting(setting, key + ".experiment");
  if (file.empty()) return name;
  return name.empty() ? "the experiment " + file : name + " of the experiment " + file;
}

std::string restrictions_of(const SettingOf& setting) {
  std::vector<std::string> parts;
  if (const std::string lora = list_setting(setting, "train.lora"); !lora.empty())
    parts.push_back("low-rank adapters of rank " + config::setting_text(setting("train.lora_rank")) + " on " +
                    lora);
  if (const std::string frozen = list_setting(setting, "train.freeze"); !frozen.empty())
    parts.push_back(frozen + " frozen");
  return parts.empty() ? "" : "with " + listed(parts);
}

/// Returns "run a", "runs a and b" or "7 runs".
std::string several(const std::string& plural, const std::set<std::string>& names) {
  if (names.size() > most_names) return thousands(static_cast<std::int64_t>(names.size())) + " " + plural;
  const std::string word = names.size() == 1 ? plural.substr(0, plural.size() - 1) : plural;
  return word + " " + listed({names.begin(), names.end()});
}

std::set<std::string> names_in(const std::vector<ModelOrigin>& origins, std::string ModelOrigin::*member) {
  std::set<std::string> names;
  for (const ModelOrigin& origin : origins) names.insert(origin.*member);
  return names;
}

}  // namespace

bool ModelOrigin::same_but_for_names(const ModelOrigin& other) const {
  return kind == other.kind && is_trained == other.is_trained && source == other.source &&
         teacher.empty() == other.teacher.empty() && predecessor.empty() == other.predecessor.empty() &&
         restrictions == other.restrictions;
}

ModelOrigin model_origin(store::Store& store, const store::RunRow& run, const SettingOf& setting) {
  ModelOrigin origin;
  origin.kind = kind_of(setting);
  origin.is_trained = setting("train.epochs") != nlohmann::json(0);
  origin.start = text_setting(setting, "model.from");
  if (!origin.start.empty()) {
    origin.source = "folders";
  } else {
    origin.start = named_run(store, run, setting, "model.from");
    if (!origin.start.empty()) origin.source = "runs";
  }
  origin.teacher = named_run(store, run, setting, "distil.teacher");
  if (const std::string id = text_setting(setting, store::retrains_key(run)); !id.empty()) {
    const std::optional<store::RunRow> before = store::retrained_by(store, run);
    origin.predecessor = before ? before->name : id;
  }
  if (origin.is_trained) origin.restrictions = restrictions_of(setting);
  return origin;
}

std::string start_text(const std::vector<ModelOrigin>& origins) {
  const std::string& source = origins.front().source;
  if (source.empty()) return "random weights";
  return "the weights of " + several(source, names_in(origins, &ModelOrigin::start));
}

std::vector<std::string> further_texts(const std::vector<ModelOrigin>& origins) {
  std::vector<std::string> texts;
  const ModelOrigin& first = origins.front();
  if (!first.teacher.empty())
    texts.push_back("learning from " + several("runs", names_in(origins, &ModelOrigin::teacher)) +
                    " as teacher");
  if (!first.restrictions.empty()) texts.push_back(first.restrictions);
  if (!first.predecessor.empty())
    texts.push_back("to replace " + several("runs", names_in(origins, &ModelOrigin::predecessor)));
  return texts;
}

}  // namespace encore::report
