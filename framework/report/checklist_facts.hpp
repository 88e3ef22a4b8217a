// What the record says about the questions of a checklist: a sentence, and where it stands. Each function
// returns nothing where nothing was recorded. Place in the flow: checklist_items.cpp names them beside the
// questions, checklist.cpp calls them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/material.hpp"

namespace encore {

struct ChecklistFact {
  std::string text;
  std::vector<std::string> where;
};

using FactOf = std::optional<ChecklistFact> (*)(const Material& material);

std::optional<ChecklistFact> data_fact(const Material& material);      ///< files, examples, SHA-256
std::optional<ChecklistFact> privacy_fact(const Material& material);   ///< marked as private
std::optional<ChecklistFact> settings_fact(const Material& material);  ///< values of all settings
std::optional<ChecklistFact> choice_fact(const Material& material);    ///< how many runs, how one was chosen
std::optional<ChecklistFact> best_fact(const Material& material);     ///< the best candidate and its settings
std::optional<ChecklistFact> spread_fact(const Material& material);   ///< seeds, intervals, tests
std::optional<ChecklistFact> seeds_fact(const Material& material);    ///< which seeds
std::optional<ChecklistFact> machine_fact(const Material& material);  ///< on which machines
std::optional<ChecklistFact> time_fact(const Material& material);     ///< of all attempts, failed ones too
std::optional<ChecklistFact> run_time_fact(const Material& material);    ///< of one run
std::optional<ChecklistFact> size_fact(const Material& material);        ///< parameters
std::optional<ChecklistFact> code_fact(const Material& material);        ///< commit and changes
std::optional<ChecklistFact> software_fact(const Material& material);    ///< builds, plugins, environments
std::optional<ChecklistFact> text_fact(const Material& material);        ///< tokenizer, lengths
std::optional<ChecklistFact> evaluation_fact(const Material& material);  ///< how often dev was scored
std::optional<ChecklistFact> proof_fact(const Material& material);       ///< digests, verifications, bundle
std::optional<ChecklistFact> start_fact(const Material& material);       ///< weights that others made
std::optional<ChecklistFact> log_fact(const Material& material);         ///< what is kept of each attempt

}  // namespace encore
