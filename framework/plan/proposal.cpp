// SPDX-License-Identifier: BSD-3-Clause
// propose_all(): makes all points of a sweep in order, from grid, zips and draws (plan.cpp calls it);
// drawn_label(): the text of a drawn value in names of runs. Names and numbers of stored sweeps depend on
// this order, so it must not change. Read proposal.hpp first.
#include "plan/proposal.hpp"

#include <charconv>
#include <utility>

#include "plan/label.hpp"
#include "plan/sweep.hpp"

namespace encore::plan {

namespace {

Assignment assignment(const SweepAxis& axis, std::size_t index) {
  return {axis.path, axis.key, axis.key_origin, axis.values[index], axis.labels[index]};
}

Assignment assignment(const RandomVariable& variable, std::int64_t seed, std::int64_t number) {
  config::Value value = draw(variable, seed, number);
  std::string label = drawn_label(value);
  return {variable.path, variable.key, variable.key_origin, std::move(value), std::move(label)};
}

// Returns the product: every proposal, extended by each of `choices`.
std::vector<Proposal> crossed(const std::vector<Proposal>& proposals, const std::vector<Proposal>& choices) {
  std::vector<Proposal> out;
  for (const Proposal& proposal : proposals)
    for (const Proposal& choice : choices) {
      out.push_back(proposal);
      out.back().insert(out.back().end(), choice.begin(), choice.end());
    }
  return out;
}

// Returns the points of a zip, or of a single axis.
std::vector<Proposal> in_lock_step(const Zip& zip) {
  std::vector<Proposal> out(zip.front().values.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const SweepAxis& axis : zip) out[i].push_back(assignment(axis, i));
  return out;
}

}  // namespace

std::string drawn_label(const config::Value& value) {
  const double* number = std::get_if<double>(&value.data);
  if (number == nullptr) return label_of(value);
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), *number, std::chars_format::scientific, 2).ptr;
  double rounded = *number;
  std::from_chars(buffer, end, rounded);
  return config::shortest(rounded);
}

std::vector<Proposal> propose_all(const Sweep& sweep) {
  std::vector<Proposal> proposals(1);
  for (const SweepAxis& axis : sweep.grid) proposals = crossed(proposals, in_lock_step({axis}));
  for (const Zip& zip : sweep.zips) proposals = crossed(proposals, in_lock_step(zip));
  if (sweep.random.empty()) return proposals;
  std::vector<Proposal> draws(static_cast<std::size_t>(sweep.draws));
  for (std::size_t number = 0; number < draws.size(); ++number)
    for (const RandomVariable& variable : sweep.random)
      draws[number].push_back(assignment(variable, sweep.seed, static_cast<std::int64_t>(number)));
  return crossed(proposals, draws);
}

}  // namespace encore::plan
