// SPDX-License-Identifier: BSD-3-Clause
// Finds the parts of base files that an experiment does not use. It parses the files again, because merging
// keeps only what is used. app/planned_runs.cpp calls it. Its notes are only shown, so their words may
// change. Read experiment_file.hpp first.
#include "config/experiment_file.hpp"

#include <optional>
#include <set>

#include "config/core_schema.hpp"
#include "config/toml.hpp"

namespace encore::config {

namespace {

/// Tables that a file replaces as a whole, so those of its bases have no effect.
constexpr const char* varying[] = {"sweep", "search"};

/// Returns "[sweep.grid] and [sweep.when]", or "[sweep]" if it has no such tables.
std::string named_tables(const Value::Member& table) {
  std::vector<std::string> names;
  if (table.value.is_table())
    for (const Value::Member& member : table.value.table())
      if (member.value.is_table() || member.key == "zip")
        names.push_back("[" + table.key + "." + member.key + "]");
  if (names.empty()) return "[" + table.key + "]";
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

const Value::Member* first_varying(const Value& root) {
  for (const char* name : varying)
    if (const Value::Member* member = root.find(name)) return member;
  return nullptr;
}

/// `roots` holds the nearest file first.
void note_varying(const std::vector<Value>& roots, std::vector<std::string>& notes) {
  const Value::Member* used = nullptr;
  for (const Value& root : roots) {
    for (const char* name : varying)
      if (const Value::Member* member = root.find(name); member != nullptr && used != nullptr)
        notes.push_back(member->key_origin.place.text() + ": " + named_tables(*member) +
                        " of a base: not used, because the file that builds on it has a [" + used->key +
                        "] of its own: " + used->key_origin.place.text());
    if (used == nullptr) used = first_varying(root);
  }
}

const Value::Member* data_of(const Value& root) {
  const Value::Member* data = root.find("data");
  return data != nullptr && data->value.is_table() ? data : nullptr;
}

/// Returns the index of the file whose [data] replaces everything that its bases have there.
std::optional<std::size_t> replaces_data(const std::vector<Value>& roots) {
  std::optional<std::size_t> typed;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const Value::Member* data = data_of(roots[i]);
    const Value::Member* type = data == nullptr ? nullptr : data->value.find("type");
    if (type == nullptr) continue;
    if (typed && to_text(data_of(roots[*typed])->value.find("type")->value) != to_text(type->value))
      return typed;
    typed = i;
  }
  return std::nullopt;
}

void note_data(const std::vector<Value>& roots, std::vector<std::string>& notes) {
  const std::optional<std::size_t> last = replaces_data(roots);
  if (!last) return;
  std::set<std::string> known;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const Value::Member* data = data_of(roots[i]);
    if (data == nullptr) continue;
    for (const Value::Member& member : data->value.table()) {
      const bool is_new = known.insert(member.key).second;
      if (i > *last && is_new && data_schema().find(member.key) != nullptr)
        notes.push_back(member.key_origin.place.text() + ": \"" + member.key +
                        "\" of a base's [data]: not used, because the file that builds on it names "
                        "another type: " +
                        data_of(roots[*last])->value.find("type")->key_origin.place.text());
    }
  }
}

}  // namespace

std::vector<std::string> unused_tables(const std::vector<SourceFile>& sources) {
  std::vector<Value> roots;
  std::vector<std::string> notes;
  try {
    for (const SourceFile& source : sources) roots.push_back(parse_toml(source.text, source.file));
  } catch (const ConfigErrors&) {
    return notes;  // reported when the file was loaded
  }
  note_varying(roots, notes);
  note_data(roots, notes);
  return notes;
}

}  // namespace encore::config
