// SPDX-License-Identifier: BSD-3-Clause
// RunNames: makes names of runs: shortens the keys of varied options to the parts that distinguish them, and
// joins the labels. PointMaker calls it for each point. Names are for people: a change does not change
// identities, but users find stored runs by their names. Read run_names.hpp first.
#include "plan/run_names.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "config/toml.hpp"
#include "plan/label.hpp"

namespace encore::plan {

namespace {

/// The text that stands in the name of a group until the seed is known. Such a name has no other brace.
constexpr std::string_view seed_mark = "{seed}";

/// An option that the sweep varies.
struct Varied {
  const std::vector<std::string>* path;
  std::string key;
  std::vector<std::string> labels;
  bool words = false;  ///< whether all its values are words
};

std::vector<Varied> varied_options(const Sweep& sweep) {
  std::vector<Varied> options;
  const auto add = [&](const auto& option, std::vector<std::string> labels) {
    const bool words = !option.values.empty() && std::ranges::all_of(option.values, is_word);
    options.push_back({&option.path, option.key, std::move(labels), words});
  };
  for (const SweepAxis& axis : sweep.grid) add(axis, axis.labels);
  for (const Zip& zip : sweep.zips)
    for (const SweepAxis& axis : zip) add(axis, axis.labels);
  for (const RandomVariable& variable : sweep.random) {
    std::vector<std::string> labels;
    for (const config::Value& value : variable.values) labels.push_back(label_of(value));
    add(variable, std::move(labels));
  }
  return options;
}

std::string last_parts(const std::vector<std::string>& path, std::size_t count) {
  return config::dotted({path.end() - static_cast<std::ptrdiff_t>(std::min(count, path.size())), path.end()});
}

/// Returns the shortest end of an option's path that no other varied option has.
std::string short_key(const Varied& option, const std::vector<Varied>& all) {
  std::size_t count = option.path->back() == "type" ? 2 : 1;
  const auto is_shared = [&] {
    return std::ranges::any_of(all, [&](const Varied& other) {
      return other.key != option.key && last_parts(*other.path, count) == last_parts(*option.path, count);
    });
  };
  while (count < option.path->size() && is_shared()) ++count;
  return last_parts(*option.path, count);
}

/// Returns whether the option's value needs no key before it: it is a word, and no other option has the same
/// word.
bool stands_alone(const Varied& option, const std::vector<Varied>& all) {
  return option.words && std::ranges::none_of(all, [&](const Varied& other) {
           return other.key != option.key &&
                  std::ranges::find_first_of(other.labels, option.labels) != other.labels.end();
         });
}

/// Returns the label of an option that the sweep does not vary.
std::string label_of_option(const OptionValue& value) {
  config::Value held;
  std::visit(
      [&](const auto& content) {
        using Content = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<Content, std::vector<std::string>> ||
                      std::is_same_v<Content, std::vector<double>>) {
          config::Value::Array list;
          for (const auto& element : content) list.push_back({element, {}});
          held.data = std::move(list);
        } else {
          held.data = content;
        }
      },
      value);
  return label_of(held);
}

/// Returns the options of a run that the placeholder may mean, by key, with their labels.
std::map<std::string, std::string> meant_options(const config::Resolved& resolved,
                                                 const std::string& placeholder) {
  std::map<std::string, std::string> found;
  for (const auto& [key, table] : resolved.tables) {
    if (table.offer != nullptr && is_meant(key + ".type", placeholder))
      found[key + ".type"] = table.offer->name;
    for (const auto& [name, value] : table.options.values())
      if (const std::string dotted_key = key + "." + name; is_meant(dotted_key, placeholder))
        found[dotted_key] = label_of_option(value);
  }
  return found;
}

std::string cut(const std::string& name) {
  if (name.size() <= longest_point_name) return name;
  constexpr std::size_t digits = 8;
  std::size_t end = longest_point_name - digits - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;  // whole code points
  std::string start = name.substr(0, end);
  if (const std::size_t open = start.rfind('{');
      open != std::string::npos && start.find('}', open) == std::string::npos)
    start.erase(open);
  return start + "." + sha256(name).substr(0, digits);
}

}  // namespace

RunNames::RunNames(NamePattern pattern, const Sweep& sweep) : pattern_(std::move(pattern)) {
  const std::vector<Varied> options = varied_options(sweep);
  for (const Varied& option : options)
    prefixes_[option.key] = stands_alone(option, options) ? "" : short_key(option, options) + "=";
}

std::string RunNames::of_group(const Proposal& applied, const config::Resolved& resolved,
                               const std::string& group, config::Problems& problems) {
  std::string name;
  std::set<std::string> mentioned;
  for (const NamePart& part : pattern_.parts)
    name += part.is_option ? filled(part, applied, resolved, mentioned, problems) : part.text;
  for (const Assignment& assignment : applied)
    if (!mentioned.contains(assignment.key)) name += "-" + prefixes_.at(assignment.key) + assignment.label;
  const bool is_literal = pattern_.parts.size() == 1 && !pattern_.parts.front().is_option && applied.empty();
  if (name == "all" && !is_literal)  // a literal is refused where it is read
    problems.add(pattern_.parts.front().place, "name",
                 "the name of a run becomes \"all\"; no run can be called \"all\": where runs are named, it "
                 "means all of them");
  return distinct(applied.empty() ? name : cut(name), group);
}

std::string RunNames::filled(const NamePart& part, const Proposal& applied, const config::Resolved& resolved,
                             std::set<std::string>& mentioned, config::Problems& problems) {
  if (part.text == "seed") return std::string(seed_mark);
  std::map<std::string, std::string> found;
  for (const Assignment& assignment : applied)
    if (is_meant(assignment.key, part.text)) found[assignment.key] = assignment.label;
  const bool varied = !found.empty();
  if (!varied) found = meant_options(resolved, part.text);
  // A placeholder that is a whole key means that key, not the end of another one.
  if (const auto whole = found.find(part.text); whole != found.end()) found = {*whole};
  if (found.empty()) return "none";
  met_.insert(part.text);
  if (found.size() > 1)
    problems.add(part.place, "name",
                 "the name's {" + part.text + "} may be \"" + found.begin()->first + "\" or \"" +
                     std::next(found.begin())->first + "\"; write more of the one that is meant");
  if (varied) mentioned.insert(found.begin()->first);
  return found.begin()->second;
}

std::string RunNames::distinct(const std::string& name, const std::string& group) {
  const auto [known, is_new] = names_.try_emplace(group, name);
  if (!is_new) return known->second;
  if (const int number = ++groups_[name]; number > 1) known->second += "-" + std::to_string(number);
  return known->second;
}

std::string RunNames::with_seed(const std::string& group_name, std::int64_t seed) {
  const std::string text = std::to_string(seed);
  const std::size_t at = group_name.find(seed_mark);
  if (at == std::string::npos) return group_name + "-s" + text;
  std::string name = group_name;
  for (std::size_t mark = at; mark != std::string::npos; mark = name.find(seed_mark))
    name.replace(mark, seed_mark.size(), text);
  return name;
}

void RunNames::finish(const std::set<std::string>& known, config::Problems& problems) const {
  for (const NamePart& part : pattern_.parts) {
    if (!part.is_option || part.text == "seed" || met_.contains(part.text)) continue;
    std::set<std::string> names = {"seed"};
    for (const std::string& key : known) {
      names.insert(key);
      names.insert(key.substr(key.rfind('.') + 1));
      const std::size_t type = key.rfind(".type");
      if (type == std::string::npos || type + 5 != key.size()) continue;
      const std::string table = key.substr(0, type);
      names.insert(table);
      names.insert(table.substr(table.rfind('.') + 1));
    }
    problems.add(part.place, "name",
                 "the name's {" + part.text + "} is not an option of any run" +
                     did_you_mean(part.text, {names.begin(), names.end()},
                                  "; write one as in {model.dropout}, or the end of one as in {dropout}"));
  }
}

}  // namespace encore::plan
