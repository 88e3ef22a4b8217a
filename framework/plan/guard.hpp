// Guard: a line of [sweep.when] or [search.when], which says for which points a swept option is varied at
// all.
//   "optimizer.weight_decay" = "optimizer.type == 'adamw'"
// Where the condition does not hold the point does not set the option: the file's own value or the default
// stays.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "config/error.hpp"
#include "config/value.hpp"
#include "plan/expression.hpp"

namespace encore {

struct Guard {
  std::string key;  ///< the swept option
  std::vector<std::string> path;
  Condition condition;
  /// Guards of level 0 ask about options that no guard touches, those of level n about such as guards below n
  /// touch: by rising level each can be decided.
  std::size_t level = 0;
};

/// Reads the table [sweep.when], or [search.when] where `owner` is "search"; `varied` are the options that
/// the owner names, with their places. By rising level.
std::vector<Guard> read_guards(const Value& table, const std::string& owner,
                               const std::map<std::string, Place>& varied, Problems& problems);

}  // namespace encore
