// SPDX-License-Identifier: BSD-3-Clause
// Asks steps and compares answers: two values are equal if their bits are, so values are written as text that
// has the bits of each number. step_checks.cpp calls it. A new type of values in encore/records.hpp needs a
// case in EachNumber and Written. Read step_answers.hpp first.
#include "contract/step_answers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "base/nearest.hpp"
#include "contract/step_samples.hpp"

namespace encore::contract {
namespace {

/// Calls call(number) for each number of one record in a field.
template <class Call>
struct EachNumber {
  const Call& call;
  void operator()(double number) const { call(number); }
  void operator()(const std::string&) const {}
  void operator()(const TextSpan& span) const {
    for (const std::optional<double>& each : {span.score, span.least_score})
      if (each) call(*each);
  }
  void operator()(const std::map<std::string, double>& numbers) const {
    for (const auto& [name, number] : numbers) call(number);
  }
  template <class T>
  void operator()(const std::vector<T>& list) const {
    for (const T& each : list) (*this)(each);
  }
};

/// Writes a value of one record so that equal text means equal bits.
struct Written {
  std::string text;
  void add(double number) { text += std::to_string(std::bit_cast<std::uint64_t>(number)) + ";"; }
  void add(const std::string& words) { text += std::to_string(words.size()) + ":" + words; }
  void add(const std::optional<double>& number) {
    text += number ? "+" : "-";
    if (number) add(*number);
  }
  void add(const TextSpan& span) {
    add(span.label);
    add(span.text);
    text += std::to_string(span.start) + "," + std::to_string(span.end) + ";";
    add(span.score);
    add(span.least_score);
  }
  void add(const std::map<std::string, double>& numbers) {
    text += "{";
    for (const auto& [name, number] : numbers) {
      add(name);
      add(number);
    }
  }
  template <class T>
  void add(const std::vector<T>& list) {
    text += "[" + std::to_string(list.size()) + ":";
    for (const T& each : list) add(each);
  }
};

/// Returns the answer to one record by the names of fields.
std::map<std::string, std::string> answer_at(const Records& given, std::size_t record) {
  std::map<std::string, std::string> answer;
  for (const Records::Field& field : given.fields()) {
    Written written{.text = std::to_string(field.values.index()) + " "};
    std::visit([&](const auto& values) { written.add(values.at(record)); }, field.values);
    answer[field.name] = written.text;
  }
  return answer;
}

/// Returns the first field that differs in two answers; "" if none does.
std::string differing_field(const std::map<std::string, std::string>& a,
                            const std::map<std::string, std::string>& b) {
  for (const auto* each : {&a, &b})
    for (const auto& [name, ignored] : *each)
      if (!a.contains(name) || !b.contains(name) || a.at(name) != b.at(name)) return name;
  return {};
}

/// Throws Error unless record `record` of `given` has the answer `number` of `others`. `how` completes the
/// sentence "record 3, ..., gets ...".
void require_same_answer(const Records& given, std::size_t record, const Records& others, std::size_t number,
                         const std::string& how) {
  const std::string field = differing_field(answer_at(given, record), answer_at(others, number));
  require(field.empty(), "record " + std::to_string(record + 1) + how + " gets another value in \"" + field +
                             "\"; expected equal bits, because the answer to a record depends on this record "
                             "alone");
}

std::vector<std::size_t> numbers_down_from(std::size_t count) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = count; i-- > 0;) numbers.push_back(i);
  return numbers;
}

void require_own_type(const Records::Field& field) {
  if (field.name == vector_field)
    require(std::holds_alternative<Records::NumberLists>(field.values),
            "apply() gives \"vector\", which is not a list of numbers for each record (NumberLists)");
  if (field.name != shown_field) return;
  const auto* lines = std::get_if<Records::Texts>(&field.values);
  require(lines != nullptr &&
              std::ranges::none_of(
                  *lines, [](const std::string& line) { return line.find('\n') != std::string::npos; }),
          "apply() gives \"shown\", which is not one line of text for each record");
}

}  // namespace

Records answers_to(AppStep& step, const Records& records) {
  Records given = step.apply(records);
  require(given.size() == records.size(), "apply() gives " + std::to_string(given.size()) +
                                              " values per field for " + std::to_string(records.size()) +
                                              " records; expected one for each record");
  return given;
}

void require_given(const Records& given, const StepFields& fields) {
  for (const std::string& name : fields.gives)
    require(given.has(name), "apply() does not give the field \"" + name + "\", which fields() names");
  for (const Records::Field& field : given.fields()) {
    require(!field.name.empty(), "apply() gives a field without a name");
    require(field.name == shown_field || fields.gives.empty() ||
                std::ranges::find(fields.gives, field.name) != fields.gives.end(),
            "apply() gives the field \"" + field.name + "\", which fields() does not name" +
                did_you_mean(field.name, fields.gives, "; it names " + quoted_list(fields.gives)));
    const auto check = [&](double number) {
      require(std::isfinite(number), "apply() gives " + std::to_string(number) + " in \"" + field.name +
                                         "\"; expected finite numbers");
    };
    std::visit([&](const auto& values) { EachNumber<decltype(check)>{check}(values); }, field.values);
    require_own_type(field);
  }
}

void require_same_answers(const Records& given, const Records& others, const std::string& how) {
  for (std::size_t i = 0; i < given.size(); ++i) require_same_answer(given, i, others, i, how);
}

void require_alone(AppStep& step, const Records& asked, const Records& given) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Records alone = answers_to(step, records_at(asked, {i}));
    require_same_answer(given, i, alone, 0, ", asked alone,");
  }
  const std::vector<std::size_t> down = numbers_down_from(asked.size());
  const Records reversed = answers_to(step, records_at(asked, down));
  for (std::size_t i = 0; i < down.size(); ++i)
    require_same_answer(given, down[i], reversed, i, ", asked in another order,");
}

}  // namespace encore::contract
