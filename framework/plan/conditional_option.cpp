// SPDX-License-Identifier: BSD-3-Clause
// Reads [sweep.when] and [search.when], and finds the order in which their conditions can be decided.
// sweep_reader.cpp calls it. Conditions that wait for each other in a circle are refused. The levels decide
// which runs a file means, so they do not change. Read conditional_option.hpp first.
#include "plan/conditional_option.hpp"

#include <algorithm>
#include <utility>

#include "base/nearest.hpp"
#include "config/toml.hpp"

namespace encore::plan {

namespace {

bool is_within(const std::string& key, const std::string& table) {
  return key == table || (key.starts_with(table) && key[table.size()] == '.');
}

/// Returns whether the condition of `option` asks about the option of `other`, or about a part of its table.
/// A `type` decides which options its table has.
bool asks_about(const ConditionalOption& option, const ConditionalOption& other) {
  std::string conditional = other.key;
  if (&option != &other && conditional.ends_with(".type")) conditional.resize(conditional.rfind('.'));
  return std::ranges::any_of(option.condition.expression.keys(), [&](const std::string& key) {
    return is_within(key, conditional) || is_within(conditional, key);
  });
}

class ConditionReader {
 public:
  ConditionReader(const std::string& owner, const std::map<std::string, config::Place>& varied,
                  config::Problems& problems)
      : owner_(owner), table_("[" + owner + ".when]"), varied_(varied), problems_(problems) {}

  void read(const config::Value& table, const std::vector<std::string>& prefix) {
    for (const config::Value::Member& member : table.table()) {
      std::vector<std::string> path = prefix;
      try {
        for (std::string& part : config::parse_key(member.key)) path.push_back(std::move(part));
      } catch (const Error& error) {
        problems_.add(member.key_origin.place, owner_ + ".when",
                      std::string(error.what()) + " (in " + table_ + ")");
        continue;
      }
      if (member.value.is_table())
        read(member.value, path);
      else
        read_condition(member, path);
    }
  }

  std::vector<ConditionalOption> take() {
    order();
    return std::move(options_);
  }

 private:
  void read_condition(const config::Value::Member& member, const std::vector<std::string>& path) {
    const std::string key = config::dotted(path);
    const config::Place& place = member.value.origin.place;
    if (!varied_.contains(key)) {
      std::vector<std::string> names;
      for (const auto& [name, where] : varied_) names.push_back(name);
      const std::string others = names.empty() ? "" : "; it varies " + quoted_list(names);
      problems_.add(member.key_origin.place, key,
                    table_ + " names \"" + key + "\", which the " + owner_ + " does not vary" +
                        did_you_mean(key, names, others));
    } else if (!member.value.is_text()) {
      problems_.add(place, key,
                    "\"" + key + "\" of " + table_ + " must be a condition in quotes, found " +
                        config::describe(member.value) + "; write it as in \"optimizer.type == 'adamw'\"");
    } else if (std::ranges::any_of(options_,
                                   [&](const ConditionalOption& option) { return option.key == key; })) {
      problems_.add(member.key_origin.place, key, table_ + " names \"" + key + "\" twice; join with &&");
    } else {
      parse(member.value.text(), path, place);
    }
  }

  void parse(const std::string& text, const std::vector<std::string>& path, const config::Place& place) {
    try {
      options_.push_back({config::dotted(path), path, {text, place, Expression::parse(text)}});
    } catch (const Error& error) {
      problems_.add(place, config::dotted(path), "when \"" + config::shortened(text) + "\": " + error.what());
    }
  }

  // One round per option settles every level, unless some options wait for each other.
  void order() {
    for (std::size_t round = 0; round <= options_.size(); ++round) {
      bool settled = true;
      for (ConditionalOption& option : options_)
        for (const ConditionalOption& other : options_)
          if (asks_about(option, other) && option.level <= other.level) {
            option.level = other.level + 1;
            settled = false;
          }
      if (settled) {
        std::ranges::stable_sort(options_, {}, &ConditionalOption::level);
        return;
      }
    }
    refuse_circles();
  }

  /// Returns the options on the way from `from` back to it. Returns an empty list if there is no such circle.
  std::vector<const ConditionalOption*> circle_of(const ConditionalOption& from) const {
    std::vector<std::vector<const ConditionalOption*>> ways = {{&from}};
    std::vector<const ConditionalOption*> seen;
    for (std::size_t next = 0; next < ways.size(); ++next) {
      const std::vector<const ConditionalOption*> way = ways[next];
      for (const ConditionalOption& other : options_) {
        if (!asks_about(*way.back(), other)) continue;
        if (&other == &from) return way;
        if (std::ranges::find(seen, &other) != seen.end()) continue;
        seen.push_back(&other);
        ways.push_back(way);
        ways.back().push_back(&other);
      }
    }
    return {};
  }

  void refuse_circles() {
    std::vector<const ConditionalOption*> reported;
    for (const ConditionalOption& option : options_) {
      if (std::ranges::find(reported, &option) != reported.end()) continue;
      const std::vector<const ConditionalOption*> circle = circle_of(option);
      if (circle.empty()) continue;
      std::string names;
      for (const ConditionalOption* member : circle) names += "\"" + member->key + "\" asks about ";
      problems_.add(option.condition.place, option.key,
                    "when \"" + option.condition.text + "\": " +
                        (circle.size() == 1 ? "" : "the conditions depend on each other in a circle: ") +
                        names + (circle.size() == 1 ? "itself" : "\"" + option.key + "\""));
      reported.insert(reported.end(), circle.begin(), circle.end());
    }
  }

  const std::string owner_;
  const std::string table_;
  const std::map<std::string, config::Place>& varied_;
  config::Problems& problems_;
  std::vector<ConditionalOption> options_;
};

}  // namespace

std::vector<ConditionalOption> read_conditional_options(const config::Value& table, const std::string& owner,
                                                        const std::map<std::string, config::Place>& varied,
                                                        config::Problems& problems) {
  ConditionReader reader(owner, varied, problems);
  reader.read(table, {});
  return reader.take();
}

}  // namespace encore::plan
