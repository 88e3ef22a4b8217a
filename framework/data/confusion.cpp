// See confusion.hpp.
#include "data/confusion.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "data/entities.hpp"

namespace encore {
namespace {

const std::string outside = "O";

std::string name_of(std::string_view tag) {
  const std::string_view type = entity_type(tag);
  return type.empty() ? outside : std::string(type);
}

}  // namespace

void Confusion::add(std::span<const std::string> truth, std::span<const std::string> predicted) {
  for (std::size_t i = 0; i < truth.size(); ++i)
    ++pairs_[{name_of(truth[i]), name_of(i < predicted.size() ? predicted[i] : outside)}];
}

std::vector<std::string> Confusion::names() const {
  std::set<std::string> types;
  for (const auto& [pair, count] : pairs_) types.insert({pair.first, pair.second});
  types.erase(outside);
  std::vector<std::string> names = {outside};
  names.insert(names.end(), types.begin(), types.end());
  return names;
}

std::vector<std::vector<std::int64_t>> Confusion::counts() const {
  const std::vector<std::string> all = names();
  const auto index = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), name) - all.begin());
  };
  std::vector<std::vector<std::int64_t>> counts(all.size(), std::vector<std::int64_t>(all.size(), 0));
  for (const auto& [pair, count] : pairs_) counts[index(pair.first)][index(pair.second)] = count;
  return counts;
}

}  // namespace encore
