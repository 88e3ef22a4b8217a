// SPDX-License-Identifier: BSD-3-Clause
// Finds the tables of an experiment that have an option of a given name, and names them for messages.
// validate.cpp and plan/ call it. Only messages depend on it. Read option_places.hpp first.
#include "config/option_places.hpp"

#include <algorithm>
#include <utility>

#include "config/catalogue.hpp"
#include "config/core_schema.hpp"
#include "config/toml.hpp"
#include "config/value.hpp"

namespace encore::config {

namespace {

constexpr std::size_t most_places = 3;

/// Returns "; it is an option of [a], [b] and [c]", or an empty string for no table or too many.
std::string option_of(const std::vector<std::string>& owners) {
  if (owners.empty() || owners.size() > most_places) return "";
  std::string text = "; it is an option of ";
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (i > 0) text += i + 1 == owners.size() ? " and " : ", ";
    text += owners[i];
  }
  return text;
}

bool is_at_the_top(const std::string& option) {
  return option == "seeds" || top_schema().find(option) != nullptr;
}

/// Returns whether the table names a type of that kind which has the option.
bool takes(const Value& table, Kind kind, const Catalogue& catalogue, const std::string& option) {
  const Value::Member* type = table.find("type");
  if (type == nullptr || !type->value.is_text()) return false;
  const ManifestOffer* offer = catalogue.find(kind, type->value.text());
  return offer != nullptr && offer->options.find(option) != nullptr;
}

/// Returns the type of the norm if it has no table of its own, otherwise an empty string.
std::string norm_without_table(const Value& root) {
  const Value* norm = root.at({"model", "norm"});
  const std::string name = norm != nullptr && norm->is_text()
                               ? norm->text()
                               : std::get<std::string>(*model_schema().find("norm")->fallback);
  return root.at({"model", "layer", name}) == nullptr ? name : "";
}

void add_layers(const Value& root, const Catalogue& catalogue, const std::string& option,
                std::vector<std::string>& tables) {
  const Value* layers = root.at({"model", "layer"});
  if (layers != nullptr && layers->is_table())
    for (const Value::Member& layer : layers->table())
      if (takes(layer.value, Kind::layer, catalogue, option)) tables.push_back("model.layer." + layer.key);
  const ManifestOffer* norm = catalogue.find(Kind::layer, norm_without_table(root));
  if (norm != nullptr && norm->options.find(option) != nullptr) tables.push_back("model.layer." + norm->name);
}

}  // namespace

std::vector<std::string> OptionPlaces::tables_with(const std::string& option) const {
  std::vector<std::string> tables;
  if (option == "type") return tables;  // every plugin's table has one
  struct OwnTable {
    const char* key;
    const Schema& schema;
    bool always;  ///< whether an experiment has the table even if its file does not name it
  };
  const OwnTable own[] = {{"data", data_schema(), true},
                          {"model", model_schema(), true},
                          {"model.decoder", decoder_schema(), false},
                          {"train", train_schema(), true},
                          {"distil", distil_schema(), false}};
  for (const OwnTable& table : own) {
    const bool there = table.always || (root_ != nullptr && root_->at(parse_key(table.key)) != nullptr);
    if (there && table.schema.find(option) != nullptr) tables.emplace_back(table.key);
  }
  if (root_ == nullptr) return tables;
  for (const PluginTableRule& rule : plugin_table_rules()) {
    const Value* table = root_->at(parse_key(rule.key));
    if (table != nullptr && takes(*table, rule.kind, *catalogue_, option)) tables.push_back(rule.key);
  }
  const Value* of_targets = root_->at(parse_key(target_tokenizer_key));
  if (of_targets != nullptr && takes(*of_targets, Kind::tokenizer, *catalogue_, option))
    tables.emplace_back(target_tokenizer_key);
  add_layers(*root_, *catalogue_, option, tables);
  return tables.size() > most_places ? std::vector<std::string>{} : tables;
}

std::string OptionPlaces::used(const std::string& option) const {
  if (is_at_the_top(option)) return "; it stands at the top of the file";
  std::vector<std::string> tables = tables_with(option);
  if (sweep_schema().find(option) != nullptr) tables.emplace_back("sweep");
  if (search_schema().find(option) != nullptr) tables.emplace_back("search");
  for (std::string& table : tables) table = "[" + table + "]";
  return option_of(tables);
}

std::string OptionPlaces::other(const std::string& name) const {
  for (const std::string& table : top_tables())
    if (table == name) return "; it is written [" + table + "]";
  for (const PluginTableRule& rule : plugin_table_rules())
    if (rule.key.ends_with("." + name)) return "; it is written [" + rule.key + "]";
  if (catalogue_ == nullptr) return "";
  std::vector<std::string> owners;
  for (const Manifest& manifest : catalogue_->manifests())
    for (const ManifestOffer& offer : manifest.offers)
      if (offer.options.find(name) != nullptr)
        owners.push_back(std::string(encore::name_of(offer.kind)) + " \"" + offer.name + "\"");
  std::ranges::sort(owners);
  return option_of(owners);
}

}  // namespace encore::config
