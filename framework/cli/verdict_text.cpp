// SPDX-License-Identifier: BSD-3-Clause
// Prints verdicts of verifications as text, from the JSON of runner/verifier.cpp, which the database stores
// too. verify_verb.cpp prints all lines, show_text.cpp the first. Stored verdicts may come from older
// versions, so a missing member must not be an error. Read next: verify_screen.hpp.
#include "cli/verify_screen.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/difference_text.hpp"
#include "cli/table.hpp"
#include "report/wording.hpp"
#include "runner/score_comparison.hpp"

namespace encore::cli {

namespace {

using nlohmann::json;

/// Returns the member at "/a/b", or null.
json at(const json& object, const std::string& pointer) {
  const json::json_pointer place(pointer);
  return object.is_object() && object.contains(place) ? object.at(place) : json();
}

std::string recorded_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "not recorded" : value.dump();
}

std::optional<runner::DriftReport> drift_in(const json& details) {
  const json drift = at(details, "/drift");
  return drift.is_object() ? std::optional(from_json_object<runner::DriftReport>(drift)) : std::nullopt;
}

/// Returns "(openmp, 2 ranks with 1 thread each, killed after step 7, resumed from step 6)".
std::string how(const json& details) {
  const json options = at(details, "/options");
  std::string text = recorded_text(at(options, "/backend"));
  const json ranks = at(options, "/ranks");
  const bool has_ranks = ranks.is_number_integer();
  if (has_ranks) text += ", " + ranks.dump() + (ranks == 1 ? " rank" : " ranks");
  if (const json threads = at(options, "/threads"); threads.is_number_integer())
    text += (has_ranks ? " with " : ", ") + threads.dump() + (threads == 1 ? " thread" : " threads") +
            (has_ranks ? " each" : "");
  if (const json from = at(options, "/from_checkpoint"); !from.is_null())
    text += ", from the checkpoint of step " + from.dump();
  if (const json from = at(details, "/went_on_from"); !from.is_null())
    text += ", killed after step " + at(options, "/kill_at").dump() +
            (from == 0 ? ", started again" : ", resumed from step " + from.dump());
  return " (" + text + ")";
}

std::size_t count_at(const json& object, const std::string& pointer) {
  const json value = at(object, pointer);
  return value.is_number_unsigned() ? value.get<std::size_t>() : 0;
}

/// Returns what else is equal: ", and so do 12 scores", or if all records of the run were compared ", and so
/// do 12 scores, 340 other values and 8 files"; "" if only digests were compared.
std::string also_equal(const json& details) {
  const json scores = at(details, "/scores"), record = at(details, "/record");
  if (!scores.is_object()) return "";
  const std::size_t count = count_at(scores, "/compared");
  const std::string verb = count == 1 && !record.is_object() ? "does " : "do ";
  std::string text = ", and so " + verb + counted(count, "score");
  if (!record.is_object()) return text;
  const std::size_t others =
      count_at(record, "/values") - count + count_at(record, "/meanings") + count_at(record, "/facts");
  return text + ", " + counted(others, "other value") + " and " + counted(count_at(record, "/files"), "file");
}

/// Returns a line about the other values and files that differ, for a training with equal digests and scores.
std::string different_record(const json& details, const store::VerificationRow& verification) {
  const json record = at(details, "/record");
  return "  the digests agree, and so do the scores, but " + at(record, "/different").dump() +
         " of the other values and files do not; " + verification.scope + " is " +
         recorded_text(at(record, "/run")) + " in the run, " + recorded_text(at(record, "/verification")) +
         " in the verification\n";
}

/// Returns a line about the scores that differ, for a training with equal parameters.
std::string different_scores(const json& details, const store::VerificationRow& verification) {
  const json scores = at(details, "/scores");
  return "  the parameters agree, and of " + at(scores, "/compared").dump() + " scores " +
         at(scores, "/different").dump() + " do not; " + verification.scope + " of step " +
         std::to_string(verification.first_step.value_or(0)) + " is " + recorded_text(at(scores, "/run")) +
         " in the run, " + recorded_text(at(scores, "/verification")) + " in the verification\n";
}

/// Prints the differing tensors at the first step since the difference for which both have a checkpoint.
void print_distance(std::ostringstream& out, std::int64_t first_step, const json& details) {
  const runner::DriftReport drift = drift_in(details).value_or(runner::DriftReport());
  const auto compared = std::ranges::find_if(
      drift.steps, [&](const runner::DriftOfStep& one) { return one.step >= first_step; });
  if (compared == drift.steps.end()) {
    out << "  distance: unknown; " << recorded_text(at(details, "/drift_unknown")) << '\n';
    return;
  }
  std::vector<runner::DriftFigures> tensors;
  std::ranges::copy_if(compared->tensors, std::back_inserter(tensors),
                       [](const runner::DriftFigures& tensor) { return tensor.different > 0; });
  if (tensors.empty()) {
    out << "  distance: none at step " << compared->step
        << ": the checkpoints of both sides are equal there\n";
    return;
  }
  constexpr std::size_t most = 10;
  std::ranges::stable_sort(tensors, std::greater(),
                           [](const runner::DriftFigures& tensor) { return tensor.ulps.value_or(0); });
  out << "  distance at step " << compared->step << ", where both have a checkpoint: " << tensors.size()
      << (tensors.size() == 1 ? " tensor differs" : " tensors differ");
  if (tensors.size() > most) out << "; the " << most << " largest distances";
  out << '\n';
  Table table({{"TENSOR"}, {"ULPS", Align::right}, {"ABSOLUTE", Align::right}, {"VALUES", Align::right}});
  if (tensors.size() > most) tensors.resize(most);
  for (const runner::DriftFigures& tensor : tensors)
    table.add({tensor.name, std::to_string(tensor.ulps.value_or(0)),
               document::number_text(tensor.largest.value_or(0.0)),
               std::to_string(tensor.different) + " of " + std::to_string(tensor.values)});
  table.print(out, Terminal(), 4);
}

/// Prints the scores of both sides, and whether another seed would make the same difference.
void print_final_scores(std::ostringstream& out, const std::vector<runner::RecordedScore>& scores) {
  if (scores.empty()) {
    out << " scores of both sides: unknown, because the training was not finished (exp verify --scores "
           "does)\n";
    return;
  }
  const std::size_t seeds = scores.front().seeds.value_or(0);
  out << "  scores of both sides"
      << (seeds > 1 ? "; LOW to HIGH: where 95 % of runs with one more seed lie, by " + counted(seeds, "seed")
                    : "; one seed does not show the spread of seeds")
      << '\n';
  Table table({{"METRIC"},
               {"RUN", Align::right},
               {"VERIFICATION", Align::right},
               {"LOW", Align::right},
               {"HIGH", Align::right},
               {"WITHIN"}});
  for (const runner::RecordedScore& score : scores) {
    const Metric metric{.name = score.metric, .meaning = {.name = "score", .fraction = score.fraction}};
    const std::string unit = report::unit_of(metric).name;
    const auto number = [&](double value) {
      if (!std::isfinite(value)) return std::string("-");
      return document::number_text(report::unit_of(metric).factor * value) + (unit.empty() ? "" : " " + unit);
    };
    const double again = score.verification, low = score.low.value_or(NAN), high = score.high.value_or(NAN);
    const bool known = std::isfinite(low) && std::isfinite(high) && std::isfinite(again);
    table.add({metric.name, number(score.run), number(again), number(low), number(high),
               !known                          ? "-"
               : again >= low && again <= high ? "yes"
                                               : "no"});
  }
  table.print(out, Terminal(), 4);
}

}  // namespace

std::string verdict_text(const store::VerificationRow& verification) {
  const json& details = verification.details;
  const json compared = at(details, "/compared");
  if (verification.outcome == "equal")
    return "equal: " + at(compared, "/digests").dump() +
           (at(compared, "/digests") == 1 ? " digest of step " : " digests of steps ") +
           at(compared, "/first_step").dump() +
           (at(compared, "/digests") == 1 ? "" : " to " + at(compared, "/last_step").dump()) +
           (at(compared, "/digests") == 1 ? " agrees" : " agree") + also_equal(details) + how(details);
  return verification.outcome + ": from step " + std::to_string(verification.first_step.value_or(0)) +
         " on, first in " + verification.scope + how(details);
}

std::string verdict_details(const store::VerificationRow& verification) {
  if (verification.outcome == "equal") return "";
  const json& details = verification.details;
  std::ostringstream out;
  if (at(details, "/difference").is_null())
    return at(details, "/record").is_object() ? different_record(details, verification)
                                              : different_scores(details, verification);
  const json scopes = at(details, "/difference/scopes"), fields = at(details, "/environment/differences");
  const std::string found = recorded_text(at(details, "/difference/verification"));
  out << "  digests of step " << at(details, "/difference/step") << " that differ: " << scopes.size()
      << "; the first is " << recorded_text(at(details, "/difference/run")) << " in the run, "
      << (found.empty() ? "missing" : found) << " in the verification\n";
  if (verification.outcome == "different")
    out << " the numeric environments are equal, so the bits should be equal\n";
  else
    out << " the numeric environments differ, so different bits prove nothing:\n";
  const auto value = [](const json& of) { return of.is_null() ? "not recorded" : recorded_text(of); };
  if (fields.is_array())
    for (const json& field : fields)
      out << "    " << recorded_text(at(field, "/field")) << ": " << value(at(field, "/run"))
          << " in the run, " << value(at(field, "/verification")) << " in the verification\n";
  const std::optional<runner::DriftReport> drift = drift_in(details);
  if (verification.outcome == "not comparable" && drift) {
    if (const json unknown = at(details, "/drift_unknown"); !unknown.is_null())
      out << "  " << recorded_text(unknown) << '\n';
    print_drift(out, Terminal(), *drift, 2);
    if (const json scores = at(details, "/final_scores"); scores.is_array())
      print_final_scores(out, from_json_object<std::vector<runner::RecordedScore>>(scores));
  } else {
    print_distance(out, verification.first_step.value_or(0), details);
  }
  return out.str();
}

}  // namespace encore::cli
