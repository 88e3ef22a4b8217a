// SPDX-License-Identifier: BSD-3-Clause
// ListOfItems: the items of a checklist: number, reworded question, the facts that answer it, and what
// remains for a person. Place in the flow: checklist.cpp fills the lists of checklist_items.cpp with facts
// (checklist_facts.hpp).
#pragma once

#include <string>
#include <vector>

#include "report/checklist_facts.hpp"

namespace encore::report {

struct ListedItem {
  const char* number;
  const char* title;
  const char* question;
  std::vector<FactOf> facts;
  const char* person;  ///< empty: nothing is left if the facts are there
};

struct ListOfItems {
  const char* name;
  const char* title;
  const char* source;
  std::vector<ListedItem> items;
};

const std::vector<ListOfItems>& lists_of_items();

}  // namespace encore::report
