// SPDX-License-Identifier: BSD-3-Clause
// Reads, compares and writes the rows of language_debt.txt: the functions of language_debt.hpp, which
// language_test.cpp calls. The debt may only fall, so a higher count must fail the test.
#include "system/language_debt.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace encore::testing {
namespace {

std::size_t owed(const Debt& debt, const std::string& place, const std::string& kind) {
  const auto row = debt.find(place);
  if (row == debt.end()) return 0;
  const auto number = row->second.find(kind);
  return number == row->second.end() ? 0 : number->second;
}

}  // namespace

std::string place_of(const std::string& file) {
  if (file.ends_with(".md")) return file;
  const std::size_t depth = file.starts_with("tests/") ? 3 : 2;
  std::string place;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::size_t taken = 0;
  for (const std::filesystem::path& part : folder)
    if (taken++ < depth) place += (place.empty() ? "" : "/") + part.string();
  return place.empty() ? "." : place;
}

Debt read_debt(const std::string& text) {
  Debt debt;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::size_t count = 0;
    std::string place, kind;
    words >> count >> place >> std::ws;
    std::getline(words, kind);
    debt[place][kind] = count;
  }
  return debt;
}

std::vector<std::string> complaints(const Findings& found, const Debt& debt) {
  std::vector<std::string> messages;
  for (const auto& [place, kinds] : found)
    for (const auto& [kind, all] : kinds) {
      const std::size_t allowed = owed(debt, place, kind);
      if (all.size() <= allowed) continue;
      std::string message = place + " has " + std::to_string(all.size()) + " of \"" + kind + "\", " +
                            std::to_string(allowed) + " allowed; write instead: " + all[0].finding.advice;
      constexpr std::size_t shown = 20;
      for (std::size_t i = 0; i < std::min(all.size(), shown); ++i)
        message +=
            "\n  " + all[i].file + ":" + std::to_string(all[i].finding.line) + ": " + all[i].finding.found;
      if (all.size() > shown)
        message += "\n  and " + std::to_string(all.size() - shown) + " more: ENCORE_LIST_LANGUAGE=" + place +
                   " lists all of them";
      messages.push_back(message);
    }
  for (const auto& [place, kinds] : debt)
    for (const auto& [kind, allowed] : kinds) {
      const auto row = found.find(place);
      const auto there = row == found.end() ? nullptr : &row->second;
      const std::size_t count = there != nullptr && there->contains(kind) ? there->at(kind).size() : 0;
      if (count < allowed)
        messages.push_back(place + " has " + std::to_string(count) + " of \"" + kind + "\" and owes " +
                           std::to_string(allowed) + ": lower the number to " + std::to_string(count) +
                           " in tests/system/language_debt.txt, or run with ENCORE_WRITE_LANGUAGE_DEBT=1");
    }
  return messages;
}

std::string written_debt(const Findings& found, const Debt& debt, bool only_lower) {
  std::ostringstream out;
  out << "# How many findings of language_test.cpp each place may still have: count, place, kind. A number\n"
         "# may only fall. ENCORE_WRITE_LANGUAGE_DEBT=1 build/openmp/bin/tests/language_test lowers them "
         "after\n"
         "# corrections; =all writes all numbers after moving files, adding a rule or a merge, and the "
         "commit\n"
         "# says why they rose.\n";
  for (const auto& [place, kinds] : found)
    for (const auto& [kind, all] : kinds) {
      const std::size_t count = only_lower ? std::min(all.size(), owed(debt, place, kind)) : all.size();
      if (count > 0) out << count << " " << place << " " << kind << "\n";
    }
  return out.str();
}

}  // namespace encore::testing
