// SPDX-License-Identifier: BSD-3-Clause
// The checks of steps: fields, answers that depend on one record alone, a fit that is a pure function of its
// data, knowledge that is stored and read back, and measures. suite.cpp calls step_checks(). Plugins of other
// authors must pass them, so a check may demand only what encore/step.hpp promises. Read step_checks.hpp and
// step_samples.hpp first.
#include "contract/step_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/measures.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "contract/step_answers.hpp"
#include "contract/step_samples.hpp"
#include "plugin_host/loader.hpp"

namespace encore::contract {
namespace {

/// What one record adds, by the names of the column and its keys.
using Added = std::map<std::array<std::string, 3>, double>;

Added added_by(const Statistics& statistics, std::size_t record) {
  Added all;
  for (const auto* entry = statistics.begin(record); entry != statistics.end(record); ++entry)
    all[{statistics.columns()[entry->column], statistics.keys()[entry->key],
         statistics.keys()[entry->second_key]}] += entry->value;
  return all;
}

/// What was checked, and which variants of the options refuse the records, for the sentence of a check.
struct Tally {
  std::size_t variants = 0;
  std::string refused;
};

class StepCheck {
 public:
  StepCheck(const Offer& offer, CheckData data, OtherFields others)
      : offer_(offer), data_(std::move(data)), others_(others) {}

  std::string declaration() const {
    // The code that reads manifests must accept the manifest of this step.
    const nlohmann::json manifest =
        config::manifest_to_json({"plugin", "1", "", "plugin.so", {plugin_host::describe(offer_)}});
    require(config::manifest_to_json(config::manifest_from_json(manifest)) == manifest,
            "its manifest changes when it is read back");
    std::set<std::string> read;
    const Tally tally = for_each_trial([&](const StepTrial& trial, const Options& options) {
      const auto step = trial.make();
      require(is_same(step->fields(), trial.fields()) && is_same(step->fields(), trial.fields()),
              "fields() called again gives other fields; expected the same for equal options and one model");
      require_names(trial.fields());
      const auto unasked = make_only_checked(offer_, options);
      require_known_before(unasked->fields(), trial.fields());
      require(!step->learns() || step->is_fitted(),
              "learns() is true and is_fitted() is false; expected is_fitted() to be true in a step whose "
              "fit() reads the training set");
      if (step->is_fitted()) {
        trial.fit(*step);
        require(is_same(step->fields(), trial.fields()),
                "fields() changes with fit(); expected fields that depend on the options and the model");
      }
      read.insert(trial.fields().reads.begin(), trial.fields().reads.end());
    });
    return "reads " + quoted_list({read.begin(), read.end()}) + ", " +
           std::to_string(offer_.measures.size()) + " measures" + text_of(tally) + tally.refused;
  }

  std::string answers() const {
    std::set<std::string> given_fields;
    std::size_t records = 0;
    const Tally tally = for_each_trial([&](const StepTrial& trial, const Options&) {
      const auto step = trial.fitted();
      for (const Records* asked : {&trial.dev(), &trial.asked()}) {
        const Records given = answers_to(*step, *asked);
        require_given(given, trial.fields());
        require_same_answers(given, answers_to(*step, *asked), ", asked again,");
        require_alone(*step, *asked, given);
        require_same_answers(given, answers_to(*step, *asked), ", asked after other records,");
        const Records bare = without_truth(*asked, trial.fields());
        if (!bare.fields().empty())
          require_same_answers(given, answers_to(*step, bare), ", asked without the truth,");
        for (const Records::Field& field : given.fields()) given_fields.insert(field.name);
        records += asked->size();
      }
    });
    return std::to_string(records) + " answers with " +
           quoted_list({given_fields.begin(), given_fields.end()}) +
           ", equal alone, in a batch, in another order and without the truth" + text_of(tally);
  }

  std::string fitting() const {
    bool fits = false;
    const Tally tally = for_each_trial([&](const StepTrial& trial, const Options&) {
      const auto step = trial.make();
      if (!step->is_fitted()) {
        require(
            step->knowledge().empty(),
            "is_fitted() is false, but knowledge() is not empty; expected no knowledge of a step that has "
            "nothing to fit");
        return;
      }
      fits = true;
      trial.fit(*step);
      const std::string known = step->knowledge();
      require(!known.empty(),
              "knowledge() is empty after fit(); expected a text from which restore() makes an equal step");
      require(!find_invalid_utf8(known),
              "knowledge() is not UTF-8; write bytes as base64 (encore/base64.hpp)");
      require(step->knowledge() == known, "knowledge() called again gives another text");
      const std::vector<std::string> notes = step->notes();
      for (const std::string& note : notes)
        require(!note.empty() && note.find('\n') == std::string::npos,
                "notes() gives a note that is not one line; expected one fact per line");
      trial.fit(*step);
      require(step->knowledge() == known && step->notes() == notes,
              "fit() called again with equal records gives other knowledge() or notes(); expected a pure "
              "function of the records, the options and the seed");
      require(trial.fitted("others")->knowledge() == known,
              "fit() of another object with equal records gives other knowledge(); expected a pure function "
              "of the records, the options and the seed, also with another folder for files");
      require_refusals(trial);
    });
    return fits ? "equal knowledge for equal records" + text_of(tally)
                : "it has nothing to fit" + text_of(tally);
  }

  std::string knowledge() const {
    std::size_t refused = 0;
    bool fits = false;
    const Tally tally = for_each_trial([&](const StepTrial& trial, const Options&) {
      const auto step = trial.fitted();
      fits = fits || step->is_fitted();
      const std::string known = step->knowledge();
      const auto again = trial.make();
      restore(*again, known);
      require(again->knowledge() == known,
              "knowledge() of a restored step differs from the text that it was restored from");
      for (const Records* asked : {&trial.dev(), &trial.asked()}) {
        const Records given = answers_to(*step, *asked);
        require_same_answers(given, answers_to(*again, *asked),
                             ", asked of a step restored from knowledge(),");
        require(is_same(step->fields(), again->fields()), "a restored step has other fields()");
        if (has_truth(*asked, trial.fields()))
          require_same_statistics(measured(*step, *asked, given), measured(*again, *asked, given),
                                  " of a step restored from knowledge()");
      }
      refused += require_damage_refused(trial, known);
      if (step->is_fitted()) require_changed_files_refused(trial, known);
    });
    return (fits ? "a restored step gives equal answers; " : "no knowledge; ") + std::to_string(refused) +
           " damaged forms of it refused" + text_of(tally);
  }

  std::string measures() const {
    if (offer_.measures.empty()) return measured_without();
    Statistics all;
    std::set<std::string> used;
    const Tally tally = for_each_trial([&](const StepTrial& trial, const Options&) {
      const auto step = trial.fitted();
      for (const Records* asked : {&trial.dev(), &trial.asked()}) {
        const Records given = answers_to(*step, *asked);
        const Statistics statistics = measured(*step, *asked, given);
        require_same_statistics(statistics, measured(*step, *asked, given), " called again");
        for (std::size_t i = 0; i < asked->size(); ++i)
          require(added_by(measured(*step, records_at(*asked, {i}), records_at(given, {i})), 0) ==
                      added_by(statistics, i),
                  "record " + std::to_string(i + 1) +
                      ", measured alone, adds other values than in its set; expected what this record "
                      "contributes");
        for (const auto& [name, value] : measure_values(offer_.measures, statistics))
          require(std::isfinite(value),
                  "measure \"" + name + "\" is " + std::to_string(value) + "; expected a finite number");
        for (const Measure& measure : offer_.measures) require_fraction(measure, statistics);
        used.insert(statistics.columns().begin(), statistics.columns().end());
      }
    });
    require_columns(used);
    return std::to_string(offer_.measures.size()) + " measures, each record by itself" + text_of(tally) +
           "; the formulas are not compared; a test of your own can compare the expected values";
  }

 private:
  /// Another value of an option than the default, which the step does not take for these records.
  struct Refusal : Error {
    using Error::Error;
  };

  /// Calls call(trial, options) for each variant of the options. A variant that the step refuses is named in
  /// the result; an error of another one names the variant.
  template <class Call>
  Tally for_each_trial(const Call& call) const {
    Tally tally;
    for (const OptionsVariant& variant : step_variants(offer_)) {
      const std::string where = variant.name == "defaults" ? std::string() : "with " + variant.name + ": ";
      try {
        const StepTrial trial(offer_, data_, variant.options, others_);
        require_usable(trial, variant.is_default);
        call(trial, variant.options);
        ++tally.variants;
      } catch (const NotChecked&) {
        throw;
      } catch (const OptionError& error) {
        if (variant.is_default)
          throw Error("it refuses its default options: " + std::string(error.what()) +
                      "; name values that it takes: -S OPTION=VALUE");
        tally.refused += "; refused with " + variant.name + ": " + error.what();
      } catch (const Refusal& error) {
        if (variant.is_default) throw;
        tally.refused += "; refused with " + variant.name + ": " + error.what();
      } catch (const std::exception& error) {
        if (where.empty()) throw;
        throw Error(where + error.what());
      }
    }
    return tally;
  }

  /// Throws Refusal if the step throws an Error for the records of the trial, which may not suffice for it;
  /// NotChecked if it asks a model, because the suite has one kind of model only.
  void require_usable(const StepTrial& trial, bool is_default) const {
    try {
      trial.fitted()->apply(trial.asked());
    } catch (const Error& error) {
      if (offer_.asks_model && is_default) throw NotChecked(refused_models(error.what()));
      throw Refusal(
          std::string(error.what()) +
          "; if it needs other records than those of the suite, name a file of its own: --data FILE "
          "-S data.type=READER, with -S OPTION=VALUE for options that it needs");
    }
  }

  static std::string text_of(const Tally& tally) {
    return " (" + std::to_string(tally.variants) +
           (tally.variants == 1 ? " set of options)" : " sets of options)");
  }

  // --- fields ---

  static bool is_same(const StepFields& a, const StepFields& b) {
    return a.reads == b.reads && a.truth == b.truth && a.gives == b.gives;
  }

  static void require_names(const StepFields& fields) {
    std::vector<std::string> asked = fields.reads;
    asked.insert(asked.end(), fields.truth.begin(), fields.truth.end());
    for (const std::vector<std::string>* names :
         std::initializer_list<const std::vector<std::string>*>{&asked, &fields.gives}) {
      require(std::ranges::find(*names, "") == names->end(), "fields() has a field without a name");
      std::set<std::string> seen;
      for (const std::string& name : *names)
        require(seen.insert(name).second,
                "fields() names \"" + name +
                    "\" twice; expected each field once, either in reads or, if only data sets have it, in "
                    "truth");
    }
    require(std::ranges::find(fields.gives, shown_field) == fields.gives.end(),
            "fields().gives names \"shown\", which is a line for people and reaches no later step; leave it "
            "out");
  }

  /// Compares the fields of a step that was made without a model, where they may be unknown.
  void require_known_before(const StepFields& unasked, const StepFields& fields) const {
    if (!offer_.asks_model) {
      require(
          is_same(unasked, fields),
          "fields() of a step that is only checked, without a folder, differ; expected fields that depend "
          "on the options alone");
      return;
    }
    const auto is_known = [](const std::vector<std::string>& before, const std::vector<std::string>& later) {
      return std::ranges::all_of(
          before, [&](const std::string& name) { return std::ranges::find(later, name) != later.end(); });
    };
    require(is_known(unasked.reads, fields.reads) && is_known(unasked.truth, fields.truth) &&
                (unasked.gives.empty() || unasked.gives == fields.gives),
            "fields() without a model names fields that the step with a model does not have; expected those "
            "that every model has, or none");
  }

  static bool has_truth(const Records& records, const StepFields& fields) {
    return std::ranges::all_of(fields.truth, [&](const std::string& name) { return records.has(name); });
  }

  static Records without_truth(const Records& records, const StepFields& fields) {
    Records bare;
    for (const Records::Field& field : records.fields())
      if (std::ranges::find(fields.truth, field.name) == fields.truth.end())
        bare.add(field.name, field.values);
    return bare;
  }

  // --- knowledge ---

  static void restore(AppStep& step, const std::string& known) {
    try {
      step.restore(known);
    } catch (const Error& error) {
      throw Error("restore() refuses what knowledge() wrote: " + std::string(error.what()));
    }
  }

  // --- measures ---

  static Statistics measured(const AppStep& step, const Records& records, const Records& given) {
    Statistics statistics;
    step.measure(records, given, statistics);
    require(statistics.examples() == records.size(),
            "measure() begins " + std::to_string(statistics.examples()) + " examples for " +
                std::to_string(records.size()) + " records; expected begin_example() once for each record");
    for (const Statistics::Entry& entry : statistics.entries())
      require(std::isfinite(entry.value), "measure() adds " + std::to_string(entry.value) +
                                              " to the column \"" + statistics.columns()[entry.column] +
                                              "\"; expected finite numbers");
    return statistics;
  }

  static void require_same_statistics(const Statistics& a, const Statistics& b, const std::string& how) {
    for (std::size_t i = 0; i < a.examples(); ++i)
      require(added_by(a, i) == added_by(b, i),
              "measure()" + how + " adds other values for record " + std::to_string(i + 1));
  }

  /// A step without measures counts nothing, but each record is still an example.
  std::string measured_without() const {
    const Tally tally = for_each_trial([&](const StepTrial& trial, const Options&) {
      const auto step = trial.fitted();
      const Statistics statistics = measured(*step, trial.asked(), answers_to(*step, trial.asked()));
      require(statistics.columns().empty(),
              "measure() adds to columns, but the step declares no measures; declare them: static "
              "std::vector<Measure> measures()");
    });
    return "it has no measures" + text_of(tally);
  }

  static void require_fraction(const Measure& measure, const Statistics& statistics) {
    if (!measure.fraction || !has_value(measure.reducer) || is_family(measure)) return;
    const double value = measure_value(measure, statistics);
    require(value >= 0.0 && value <= 1.0, "measure \"" + measure.name + "\" is " + std::to_string(value) +
                                              ", which is not a fraction; expected a value from 0 to 1");
  }

  /// A column without entries beside entries without a column is a misspelt name.
  void require_columns(const std::set<std::string>& used) const {
    std::vector<std::string> unread;
    for (const std::string& column : used)
      if (std::ranges::none_of(offer_.measures, [&](const Measure& measure) {
            return std::ranges::find(measure.columns, column) != measure.columns.end();
          }))
        unread.push_back(column);
    if (unread.empty()) return;
    for (const Measure& measure : offer_.measures)
      for (const std::string& column : measure.columns)
        require(used.contains(column), "measure \"" + measure.name + "\" reads the column \"" + column +
                                           "\", to which nothing is added, and no measure reads " +
                                           quoted_list(unread));
  }

  const Offer& offer_;
  CheckData data_;
  OtherFields others_;
};

/// Runs the same checks for records with fields that the step does not need, as another step in front of it
/// may give them.
std::string with_other_fields(const Offer& offer, const CheckData& data) {
  const StepCheck check(offer, data, OtherFields::all);
  check.declaration();
  check.answers();
  check.fitting();
  check.knowledge();
  check.measures();
  return "the same beside the label, score, scores and vector of a step before it";
}

}  // namespace

std::vector<Check> step_checks(const Offer& offer, const CheckData& data) {
  const StepCheck check(offer, data, OtherFields::none);
  return {{"fields", [check] { return check.declaration(); }},
          {"answers", [check] { return check.answers(); }},
          {"fitting", [check] { return check.fitting(); }},
          {"knowledge", [check] { return check.knowledge(); }},
          {"measures", [check] { return check.measures(); }},
          {"other fields", [&offer, data] { return with_other_fields(offer, data); }}};
}

}  // namespace encore::contract
