// SPDX-License-Identifier: BSD-3-Clause
// Writes the value of an option for tables and charts: numbers in their shortest form, arrays in brackets,
// and long paths by their last two parts. analysis/factors.cpp, cli/run_list.cpp and report/ call it; no
// program reads the text, so its form may change, together with the tests that compare it. Read
// option_text.hpp first.
#include "config/option_text.hpp"

#include <nlohmann/json.hpp>

#include "config/value.hpp"

namespace encore::config {

namespace {

std::string written(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string setting_text(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return shortest(value.get<double>());
  if (value.is_array()) {
    std::string list;
    for (const nlohmann::json& one : value)
      list +=
          (list.empty() ? "" : ",") + (one.is_number_float() ? shortest(one.get<double>()) : written(one));
    return "[" + list + "]";
  }
  if (!value.is_string()) return written(value);
  const std::string& text = value.get_ref<const std::string&>();
  if (!text.starts_with('/')) return text;
  const std::size_t last = text.rfind('/');
  const std::size_t before = last == 0 ? std::string::npos : text.rfind('/', last - 1);
  return before == std::string::npos ? text : text.substr(before + 1);
}

}  // namespace encore::config
