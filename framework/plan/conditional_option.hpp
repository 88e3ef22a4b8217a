// ConditionalOption: a line of [sweep.when] or [search.when], which says for which points a swept option is
// varied at all.
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

struct ConditionalOption {
  std::string key;  ///< the swept option
  std::vector<std::string> path;
  Condition condition;
  /// Conditions of level 0 ask about unconditional options, those of level n about options of levels below n:
  /// by rising level each can be decided.
  std::size_t level = 0;
};

/// Reads the table [sweep.when], or [search.when] where `owner` is "search"; `varied` are the options that
/// the owner names, with their places. By rising level.
std::vector<ConditionalOption> read_conditional_options(const Value& table, const std::string& owner,
                                                        const std::map<std::string, Place>& varied,
                                                        Problems& problems);

}  // namespace encore
