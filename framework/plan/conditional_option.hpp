// SPDX-License-Identifier: BSD-3-Clause
// ConditionalOption is a line of [sweep.when] or [search.when]. It says for which points a swept option is
// varied:
//   "optimizer.weight_decay" = "optimizer.type == 'adamw'"
// At other points the option keeps the file's own value or its default. sweep_reader.cpp reads it. The order
// of levels decides which runs a file means, so it does not change. Read next: expression.hpp for the
// conditions, point_maker.hpp, which applies them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "config/error.hpp"
#include "config/value.hpp"
#include "plan/expression.hpp"

namespace encore::plan {

struct ConditionalOption {
  std::string key;                ///< the swept option
  std::vector<std::string> path;  ///< the parts of `key`
  Condition condition;
  /// Conditions of level 0 ask about unconditional options, those of level n about options of levels below n.
  /// They are decided by rising level.
  std::size_t level = 0;
};

/// Reads the table [sweep.when], or [search.when] if `owner` is "search". `varied` are the options that the
/// owner varies, with their places. Returns the conditional options by rising level. Adds what is wrong to
/// `problems`.
std::vector<ConditionalOption> read_conditional_options(const config::Value& table, const std::string& owner,
                                                        const std::map<std::string, config::Place>& varied,
                                                        config::Problems& problems);

}  // namespace encore::plan
