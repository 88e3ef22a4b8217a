// SPDX-License-Identifier: BSD-3-Clause
// Implements SearchSubject: decides the kind of axis of a variable and its labels, and returns values and
// coordinates of trials. search_pictures.cpp and search_maps.cpp use it. All pictures of a search follow
// these rules, so that they agree. Read search_subject.hpp first.
#include "report/search_subject.hpp"

#include <limits>

#include "report/wording.hpp"

namespace encore::report {

using Law = plan::RandomVariable::Law;

bool is_logarithmic(const plan::RandomVariable& variable) {
  return variable.law == Law::log_uniform || variable.law == Law::log_integer;
}

bool has_few_values(const plan::RandomVariable& variable) {
  return (variable.law == Law::integer || variable.law == Law::log_integer) &&
         variable.high - variable.low < static_cast<double>(map_cells);
}

std::vector<std::string> names_of_values(const plan::RandomVariable& variable) {
  std::vector<std::string> names;
  if (variable.law == Law::choice)
    for (std::size_t i = 0; i < variable.values.size(); ++i)
      names.push_back(plan::search::value_text(variable, static_cast<double>(i)));
  else if (has_few_values(variable))
    for (double value = variable.low; value <= variable.high; value += 1.0)
      names.push_back(plan::search::value_text(variable, value));
  return names;
}

double SearchSubject::value(std::size_t number) const {
  const plan::search::TrialState& state = view.leaderboard.states[number];
  return state.has_values() ? state.measured.back()->values.at(objective)
                            : std::numeric_limits<double>::quiet_NaN();
}

double SearchSubject::coordinate(std::size_t number, std::size_t variable) const {
  const plan::RandomVariable& one = view.space[variable];
  return trial(number).point[variable] - (has_few_values(one) ? one.low : 0.0);
}

std::string state_text(const SearchSubject& subject, std::size_t trial) {
  if (subject.is_complete(trial)) return "complete";
  const std::int64_t epochs = subject.view.leaderboard.states[trial].measured.back()->epochs;
  return "after " + length_text(subject.view.options.unit, epochs);
}

}  // namespace encore::report
