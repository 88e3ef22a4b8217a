// SPDX-License-Identifier: BSD-3-Clause
// The stages of the fit: temperature, distance, the two regressions and the features that they use,
// thresholds. Temperature and regressions are fitted on the calibration part of the development set alone (a
// third, calibrates()), and so is the distance if there is no training set. So the other part gives valid
// bounds of errors. Only the most frequent classes are counted in the whole set. Decide::fit (decide.cpp)
// calls it. The order of sums decides stored bits. Read fitting.hpp first.
#include "fitting.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <encore/error.hpp>

namespace encore::decide {
namespace {

constexpr double penalty = 1e-3;          // of the regressions
constexpr std::size_t fewest_cases = 10;  // of yes and of no, for a regression
constexpr std::size_t frequent_classes = 20;
constexpr std::uint64_t parts = 3;

/// A 64-bit FNV-1a hash, mixed at the end as in SplitMix64 so that all bits depend on all bytes.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) add_byte(static_cast<unsigned char>(byte));
    add_byte(0xFF);  // a byte that UTF-8 does not have ends the text
  }
  void add(double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    for (int shift = 0; shift < 64; shift += 8) add_byte(bits >> shift & 0xFF);
  }
  std::uint64_t value() const {
    std::uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBULL;
    return mixed ^ mixed >> 31;
  }

 private:
  void add_byte(std::uint64_t byte) { state_ = (state_ ^ byte) * 0x100000001B3ULL; }
  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

std::string percent(double share) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.3g %%", 100.0 * share);
  return buffer;
}

std::string whole(double count) {
  return std::to_string(static_cast<long long>(count));
}

/// Does the stages one after the other. Members are in the order in which they are filled.
class Fitting {
 public:
  Fitting(const std::vector<KnownRequest>& dev, const TrainingVectors& train, const Settings& settings)
      : dev_(dev), train_(train), settings_(settings) {
    for (const KnownRequest& known : dev) {
      in_calibration_.push_back(calibrates(known.request));
      const bool is_in = in_scope(known);
      (is_in ? in_ : out_) += 1.0;
      if (in_calibration_.back()) ++(is_in ? calibration_in_ : calibration_out_);
    }
    if (in_ == 0.0)
      throw Error(
          "step \"" + settings.step + "\": none of the " + std::to_string(dev.size()) +
          " examples of the development set that it is fitted on is in scope: expected examples with a label "
          "other than \"" +
          settings.out_of_scope + "\"; give more data as data.dev or raise app.fit");
  }

  Fitted run(bool uses_distance) {
    Findings& findings = knowledge_.findings;
    findings.examples = static_cast<double>(dev_.size());
    findings.calibration = static_cast<double>(calibration_in_ + calibration_out_);
    findings.out_of_scope = out_;
    note(whole(findings.examples) + " examples of the development set: " + whole(findings.calibration) +
         " calibrate, the others bound the errors");
    find_frequent();
    find_own_class();
    fit_temperature_of_labels();
    if (uses_distance) fit_distance();
    fit_regressions();
    choose_thresholds();
    return {std::move(knowledge_), std::move(notes_)};
  }

 private:
  void note(std::string line) { notes_.push_back(std::move(line)); }
  bool in_scope(const KnownRequest& known) const {
    return settings_.out_of_scope.empty() || *known.truth != settings_.out_of_scope;
  }
  bool is_right(const KnownRequest& known) const {
    return in_scope(known) && *known.request.label == *known.truth;
  }

  void find_frequent() {
    std::map<std::string, std::size_t> counts;
    for (const KnownRequest& known : dev_)
      if (in_scope(known)) ++counts[*known.truth];
    std::vector<std::pair<std::string, std::size_t>> ordered(counts.begin(), counts.end());
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < std::min(frequent_classes, ordered.size()); ++i)
      knowledge_.frequent.push_back(ordered[i].first);
  }

  /// Finds whether the classifier has a class of its own for requests that are out of scope.
  void find_own_class() {
    const std::string& name = settings_.out_of_scope;
    if (!name.empty() && std::ranges::all_of(dev_, [&](const KnownRequest& one) {
          return one.request.scores->contains(name);
        }))
      knowledge_.out_of_scope = name;
  }

  void fit_temperature_of_labels() {
    std::vector<KnownTruth> answers;
    for (std::size_t i = 0; i < dev_.size(); ++i)
      if (in_calibration_[i] && in_scope(dev_[i]) && dev_[i].request.scores->contains(*dev_[i].truth))
        answers.push_back({dev_[i].request.scores, dev_[i].truth});
    knowledge_.temperature = fit_temperature(answers);
    char line[64];
    std::snprintf(line, sizeof(line), "temperature %.4g", knowledge_.temperature);
    note(line);
  }

  /// Takes the class means from the training set, or from the calibration part if there is none.
  void fit_distance() {
    std::vector<std::span<const double>> vectors;
    std::vector<const std::string*> truths;
    const bool has_train = !train_.vectors.empty();
    for (std::size_t i = 0; i < train_.vectors.size(); ++i)
      if (*train_.truths[i] != settings_.out_of_scope || settings_.out_of_scope.empty()) {
        vectors.emplace_back(*train_.vectors[i]);
        truths.push_back(train_.truths[i]);
      }
    for (std::size_t i = 0; i < dev_.size() && !has_train; ++i)
      if (in_calibration_[i] && in_scope(dev_[i])) {
        vectors.emplace_back(*dev_[i].request.vector);
        truths.push_back(dev_[i].truth);
      }
    std::map<std::string_view, std::size_t> numbers;
    for (const std::string* truth : truths) numbers.emplace(*truth, 0);
    std::size_t count = 0;
    for (auto& [name, number] : numbers) number = count++;
    std::vector<std::size_t> classes;
    classes.reserve(truths.size());
    for (const std::string* truth : truths) classes.push_back(numbers.at(*truth));
    Distance distance{.classes = ClassDistance(vectors, classes, count)};
    if (!distance.classes.exists()) {
      note("the distance to the classes is not used: the vectors of each class are equal");
      return;
    }
    knowledge_.distance = std::move(distance);
    if (!has_train)
      for (std::size_t i = 0; i < dev_.size(); ++i)
        if (in_calibration_[i] && in_scope(dev_[i])) own_class_[i] = numbers.at(*dev_[i].truth);
    note("distance to the means of " + std::to_string(count) + " classes of the " +
         (has_train ? "training set" : "calibration part"));
  }

  /// Returns the weight of an example of the calibration part: examples out of scope count as often as the
  /// stated share says.
  double weight(bool is_in) const {
    if (is_in || !settings_.share || *settings_.share == 0.0 || calibration_in_ == 0 || calibration_out_ == 0)
      return 1.0;
    return *settings_.share / (1.0 - *settings_.share) * static_cast<double>(calibration_in_) /
           static_cast<double>(calibration_out_);
  }

  void fit_regressions() {
    std::vector<LogisticRow> answers, scopes;
    double distances = 0.0;
    for (std::size_t i = 0; i < dev_.size(); ++i) {
      const auto own = own_class_.find(i);
      features_.push_back(knowledge_.features(
          dev_[i].request, own == own_class_.end() ? std::nullopt : std::optional(own->second)));
      if (!in_calibration_[i]) continue;
      const bool is_in = in_scope(dev_[i]);
      if (knowledge_.distance && is_in) distances += features_[i][1];
      const bool counts = is_in || settings_.share != 0.0;
      if (counts && knowledge_.may_answer(dev_[i].request))
        answers.push_back({.features = features_[i], .is_yes = is_right(dev_[i]), .weight = weight(is_in)});
      scopes.push_back({.features = knowledge_.scope_features(dev_[i].request, features_[i]),
                        .is_yes = !is_in,
                        .weight = weight(is_in)});
    }
    if (knowledge_.distance && distances > 0.0)
      knowledge_.distance->typical = distances / static_cast<double>(calibration_in_);
    knowledge_.answer = regression(answers, "right answers", "wrong answers",
                                   "the probability of the label alone is the confidence");
    if (!settings_.out_of_scope.empty())
      knowledge_.scope =
          regression(scopes, "requests out of scope", "requests in scope",
                     knowledge_.distance ? "the distance alone says what is out of scope"
                                         : "a low probability alone says what is out of scope");
  }

  std::optional<Logistic> regression(const std::vector<LogisticRow>& rows, const char* yes, const char* no,
                                     const char* instead) {
    const auto cases = static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const LogisticRow& row) { return row.is_yes; }));
    const bool few_yes = cases < fewest_cases, few_no = rows.size() - cases < fewest_cases;
    if (!few_yes && !few_no) return fit_logistic(rows, penalty);
    note("the calibration part has " + std::to_string(few_yes ? cases : rows.size() - cases) + " " +
         (few_yes ? yes : no) + ", and a regression needs " + std::to_string(fewest_cases) + ": " + instead);
    return std::nullopt;
  }

  void choose_thresholds() {
    std::vector<Outcome> calibration, bound;
    for (std::size_t i = 0; i < dev_.size(); ++i) {
      const RequestScores scores = knowledge_.scores_of(dev_[i].request, features_[i]);
      (in_calibration_[i] ? calibration : bound)
          .push_back({.answer = scores.answer,
                      .scope = scores.scope,
                      .may_answer = knowledge_.may_answer(dev_[i].request),
                      .is_right = is_right(dev_[i]),
                      .in_scope = in_scope(dev_[i])});
    }
    if (!settings_.out_of_scope.empty() && out_ == 0.0)
      note("no example of the development set has the label \"" + settings_.out_of_scope +
           "\": what the step says about such requests is not measured");
    if (settings_.costs) {
      knowledge_.thresholds = cheapest(bound, *settings_.costs, settings_.share);
      return;
    }
    const Parts both{.calibration = calibration, .bound = bound};
    Promise promise{.most = *settings_.error, .confidence = settings_.confidence, .share = settings_.share};
    const Tested answers = test_answers(both, promise);
    knowledge_.thresholds.answer = answers.threshold;
    knowledge_.thresholds.no_refusal = answers.failed ? answers.failed : answers.threshold;
    knowledge_.findings.answers = answers;
    note_promise(answers, promise, bound.size(), "an error of", "answers");
    if (!settings_.missed) return;
    promise.most = *settings_.missed;
    const Tested refusals = test_refusals(both, promise, knowledge_.thresholds.no_refusal);
    knowledge_.thresholds.refuse = refusals.threshold;
    knowledge_.findings.refusals = refusals;
    note_promise(refusals, promise, bound.size(), "a share in scope of", "refuses");
  }

  void note_promise(const Tested& tested, const Promise& promise, std::size_t bound, const char* what,
                    const char* verb) {
    const std::string with = " with " + percent(promise.confidence) + " confidence";
    if (tested.threshold) {
      note(std::string(verb) + " " + whole(tested.taken) + " of " + std::to_string(bound) + " examples, " +
           whole(tested.errors) + " of them wrongly: " + what + " at most " + percent(tested.bound) + with +
           " (promised: " + percent(promise.most) + ")");
      return;
    }
    note("the development set is too small, or the model too often wrong, to promise " + std::string(what) +
         " " + percent(promise.most) + with + ": " + std::to_string(bound) + " examples, upper end " +
         percent(tested.bound) + " at the most promising threshold; at least " + whole(fewest_for(promise)) +
         " examples without a mistake are needed" +
         (promise.share
              ? ", and with out_of_scope_share more than the " + whole(out_) + " examples out of scope"
              : std::string()) +
         ". The step " + verb +
         " no request; state a larger error, or fit it on more examples or with a better model");
  }

  const std::vector<KnownRequest>& dev_;
  const TrainingVectors& train_;
  const Settings& settings_;
  std::vector<bool> in_calibration_;
  double in_ = 0.0, out_ = 0.0;
  std::size_t calibration_in_ = 0, calibration_out_ = 0;
  Knowledge knowledge_;
  std::vector<std::string> notes_;
  std::map<std::size_t, std::size_t> own_class_;  ///< of the examples that the distance was fitted on
  std::vector<std::vector<double>> features_;     ///< of each example
};

}  // namespace

bool calibrates(const Request& request) {
  Hash hash;
  hash.add(*request.label);
  for (const auto& [label, probability] : *request.scores) {
    hash.add(label);
    hash.add(probability);
  }
  return hash.value() % parts == 0;
}

Fitted fit(const std::vector<KnownRequest>& dev, const TrainingVectors& train, bool uses_distance,
           const Settings& settings) {
  return Fitting(dev, train, settings).run(uses_distance);
}

}  // namespace encore::decide
