// SPDX-License-Identifier: BSD-3-Clause
// The tree of values of a TOML file: finds and sets members, and writes values for messages and names.
// Identities depend on shortest(), so its results never change. Read value.hpp first.
#include "config/value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace encore::config {

const Value::Member* Value::find(std::string_view key) const {
  const Table* members = std::get_if<Table>(&data);
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(*members, key, &Member::key);
  return found == members->end() ? nullptr : &*found;
}

Value::Member* Value::find(std::string_view key) {
  return const_cast<Member*>(static_cast<const Value*>(this)->find(key));
}

const Value* Value::at(const std::vector<std::string>& path) const {
  const Value* value = this;
  for (const std::string& key : path) {
    const Member* member = value->find(key);
    if (member == nullptr) return nullptr;
    value = &member->value;
  }
  return value;
}

bool Value::set(const std::vector<std::string>& path, Value value, const Origin& key_origin) {
  Value* table = this;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (table->find(path[i]) == nullptr)
      table->table().push_back({path[i], key_origin, Value{Table{}, key_origin}});
    table = &table->find(path[i])->value;
    if (!table->is_table()) return false;
  }
  if (Member* member = table->find(path.back()); member != nullptr)
    *member = {path.back(), key_origin, std::move(value)};
  else
    table->table().push_back({path.back(), key_origin, std::move(value)});
  return true;
}

void Value::erase(std::string_view key) {
  std::erase_if(table(), [&](const Member& member) { return member.key == key; });
}

std::string shortest(double number) {
  if (number == 0.0) return "0";  // also for -0.0
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), number).ptr;
  std::string text(buffer, end);
  // to_chars writes exponents as "e-04" and "e+20"; this writes the shorter form that people use.
  const std::size_t mark = text.find('e');
  if (mark == std::string::npos) return text;
  std::size_t digits = mark + 2;
  while (digits + 1 < text.size() && text[digits] == '0') ++digits;
  return text.substr(0, mark + 1) + (text[mark + 1] == '-' ? "-" : "") + text.substr(digits);
}

std::string shortened(const std::string& text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // keeps code points whole
  return text.substr(0, end) + "...";
}

std::string describe(const Value& value) {
  struct Describe {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return "the integer " + std::to_string(number); }
    std::string operator()(double number) const {
      const std::string text = shortest(number);
      const bool plain = text.find_first_of(".einf") == std::string::npos;
      return "the number " + text + (plain ? ".0" : "");
    }
    std::string operator()(const std::string& text) const { return "text \"" + shortened(text) + "\""; }
    std::string operator()(const Value::Array& array) const {
      return array.empty() ? "an empty list" : "a list";
    }
    std::string operator()(const Value::Table&) const { return "a table"; }
    std::string operator()(const Value::Date& date) const { return "the date " + date.text; }
  };
  return std::visit(Describe{}, value.data);
}

std::string to_text(const Value& value) {
  struct ToText {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return shortest(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const Value::Array& array) const {
      std::string text;
      for (const Value& element : array) text += (text.empty() ? "" : ", ") + to_text(element);
      return "[" + text + "]";
    }
    std::string operator()(const Value::Table& table) const {
      std::string text;
      for (const Value::Member& member : table)
        text += (text.empty() ? "" : ", ") + member.key + " = " + to_text(member.value);
      return "{" + text + "}";
    }
    std::string operator()(const Value::Date& date) const { return date.text; }
  };
  return std::visit(ToText{}, value.data);
}

}  // namespace encore::config
