// SPDX-License-Identifier: BSD-3-Clause
// StepBudget: counts the steps of a connection with a progress handler of SQLite and ends the statement that
// exceeds the budget. encore_database.cpp, foreign_schema.cpp and bundle/check_bundle.cpp use it. The steps
// are counted in blocks of steps_at_once, so a budget is exceeded by at most one block. Read step_budget.hpp
// first.
#include "store/step_budget.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <limits>

namespace encore::store {

namespace {

constexpr int steps_at_once = 10'000;

}  // namespace

StepBudget::StepBudget(const Database& database, std::uint64_t steps)
    : database_(database),
      outer_(database.step_budget()),
      left_(static_cast<std::int64_t>(
          std::min<std::uint64_t>(steps, std::numeric_limits<std::int64_t>::max()))) {
  count_for(database, this);
}

StepBudget::~StepBudget() {
  count_for(database_, outer_);
}

void StepBudget::count_for(const Database& database, StepBudget* budget) {
  database.step_budget() = budget;
  sqlite3_progress_handler(database.handle(), budget == nullptr ? 0 : steps_at_once,
                           budget == nullptr ? nullptr : count, budget);
}

int StepBudget::count(void* budget) {
  auto& left = static_cast<StepBudget*>(budget)->left_;
  left = std::max<std::int64_t>(left - steps_at_once, -1);
  return left < 0 ? 1 : 0;
}

}  // namespace encore::store
