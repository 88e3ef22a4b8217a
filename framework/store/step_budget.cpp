// A progress handler of SQLite.
#include "store/step_budget.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <limits>

namespace encore {

namespace {

constexpr int steps_at_once = 10'000;

}  // namespace

StepBudget::StepBudget(const Database& database, std::uint64_t steps)
    : database_(database),
      left_(static_cast<std::int64_t>(
          std::min<std::uint64_t>(steps, std::numeric_limits<std::int64_t>::max()))) {
  sqlite3_progress_handler(database.handle(), steps_at_once, count, this);
}

StepBudget::~StepBudget() {
  sqlite3_progress_handler(database_.handle(), 0, nullptr, nullptr);
}

int StepBudget::count(void* budget) {
  auto& left = static_cast<StepBudget*>(budget)->left_;
  left = std::max<std::int64_t>(left - steps_at_once, -1);
  return left < 0 ? 1 : 0;
}

}  // namespace encore
