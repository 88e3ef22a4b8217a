// SPDX-License-Identifier: BSD-3-Clause
// Damages the knowledge and the files of steps, and checks that the damage is refused. step_checks.cpp calls
// it. A form of damage that a step may overlook without a loss, such as a missing last newline, does not
// belong here. Read step_checks.hpp first.
#include "contract/step_checks.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

namespace encore::contract {
namespace {

Records without_rows(const Records& records) {
  return records_at(records, {});
}

/// Returns whether restore() throws Error for a text.
bool refuses(const StepTrial& trial, const std::string& text, const std::string& how) {
  try {
    trial.make()->restore(text);
    return false;
  } catch (const Error&) {
    return true;
  } catch (const std::exception& error) {
    throw Error("restore() of " + how + " throws something else than encore::Error: " + error.what());
  }
}

}  // namespace

void require_refusals(const StepTrial& trial) {
  const auto attempt = [&](const StepSets& sets, const std::string& how) {
    try {
      trial.make("attempt")->fit(sets);
    } catch (const Error&) {  // it says what is missing
    } catch (const std::exception& error) {
      throw Error("fit() " + how + " throws something else than encore::Error: " + error.what());
    }
  };
  const Records empty = without_rows(trial.dev());
  const bool learns = trial.make()->learns();
  attempt({.train = learns ? &trial.train() : nullptr, .dev = empty}, "on a development set without records");
  if (learns) attempt({.train = nullptr, .dev = trial.dev()}, "without a training set");
}

std::size_t require_damage_refused(const StepTrial& trial, const std::string& known) {
  std::map<std::string, std::string> damaged = {
      {"a text that knowledge() did not write", "this is another text"}, {"the text \"{}\"", "{}"}};
  if (!known.empty()) {
    damaged["an empty text"] = "";
    damaged["the first half of knowledge()"] = known.substr(0, known.size() / 2);
    // A last newline or space may be missing without a loss.
    const std::size_t end = known.find_last_not_of(" \n\t\r");
    if (end != std::string::npos) damaged["knowledge() without its last character"] = known.substr(0, end);
  }
  std::erase_if(damaged, [&](const auto& each) { return each.second == known; });
  for (const auto& [how, text] : damaged)
    require(refuses(trial, text, how), "restore() accepts " + how +
                                           "; expected an Error, because knowledge() did not write the "
                                           "text; write JSON or compare the whole text, so that damage "
                                           "shows");
  return damaged.size();
}

void require_changed_files_refused(const StepTrial& trial, const std::string& known) {
  const std::filesystem::path folder = trial.folder();
  if (!std::filesystem::is_directory(folder)) return;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    const std::filesystem::path kept = folder.string() + ".kept";
    std::filesystem::copy_file(file, kept, std::filesystem::copy_options::overwrite_existing);
    std::ofstream(file, std::ios::binary | std::ios::app) << "damage";
    bool refused = refuses(trial, known, "knowledge() beside a changed file");
    if (!refused) {  // it may read its files when they are needed
      const auto step = trial.make();
      step->restore(known);
      try {
        step->apply(trial.asked());
      } catch (const Error&) {
        refused = true;
      }
    }
    std::filesystem::copy_file(kept, file, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(kept);
    require(refused, "neither restore() nor apply() notices that the file " + file.filename().string() +
                         " of fit() has changed; expected an Error: write a digest of each file into "
                         "knowledge() and compare it");
  }
}

}  // namespace encore::contract
