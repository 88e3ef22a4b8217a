// What a Sweep says of itself, and how its values are called. See sweep.hpp.
#include "plan/sweep.hpp"

#include <algorithm>
#include <cctype>

namespace encore {

namespace {
constexpr std::size_t longest_label = 60;  // bytes; what is cut alike is told apart by its number in the list
}

bool Sweep::is_guarded_by_chance() const {
  return std::ranges::any_of(guards, [&](const Guard& guard) {
    return std::ranges::any_of(guard.condition.expression.keys(), [&](const std::string& key) {
      return std::ranges::any_of(random, [&](const RandomVariable& variable) { return variable.key == key; });
    });
  });
}

std::size_t Sweep::size() const {
  std::size_t points = 1;
  const auto times = [&](std::size_t count) {
    points = std::min(points * std::min(count, most_points), most_points + 1);
  };
  for (const SweepAxis& axis : grid) times(axis.values.size());
  for (const Zip& zip : zips) times(zip.front().values.size());
  if (!random.empty()) times(static_cast<std::size_t>(draws));
  return points;
}

std::string label_of(const Value& value) {
  std::string text;
  if (const Value::Member* type = value.find("type")) {
    text = to_text(type->value);
  } else if (value.is_table()) {
    text = "table";
  } else if (value.is_array()) {
    for (const Value& element : value.array()) text += (text.empty() ? "" : "+") + to_text(element);
  } else {
    text = to_text(value);
  }
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  text.erase(0, text.find_last_of('/') + 1);  // of a path the last part; npos + 1 is 0
  if (text.size() > longest_label) text.resize(longest_label);
  for (char& letter : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                      std::string("._+-").find(letter) != std::string::npos;
    if (!fits) letter = '_';
  }
  return text;
}

}  // namespace encore
