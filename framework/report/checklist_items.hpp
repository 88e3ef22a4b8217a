// SPDX-License-Identifier: BSD-3-Clause
// The items of each checklist: number, reworded question, the facts that answer it, and what remains for a
// person. checklist.cpp calls lists_of_items() and fills the items with facts (checklist_facts.hpp). The
// lists are in checklist_items.cpp; `name` is an argument of `exp report --checklist`, so it stays.
#pragma once

#include <string>
#include <vector>

#include "report/checklist_facts.hpp"

namespace encore::report {

/// One item, as constants of this program.
struct ListedItem {
  const char* number;  ///< as the venue numbers it: "7", "C2"
  const char* title;
  const char* question;
  std::vector<FactOf> facts;
  const char* person;  ///< what a person must answer besides; empty: nothing if a fact is recorded
};

struct ListOfItems {
  const char* name;
  const char* title;
  const char* source;
  std::vector<ListedItem> items;
};

const std::vector<ListOfItems>& lists_of_items();

}  // namespace encore::report
