// SPDX-License-Identifier: BSD-3-Clause
// The program promises, run by hand: measures how often the step `decide` of an application breaks its
// promises. It pools the development and the test set of a run, answers them once by the steps before the
// last one, then draws both sets again many times, fits `decide` on each draw as a run does, and counts
// errors on records that the fit has not seen. Read next: plugins/steps/decide/thresholds.hpp, which says
// what a promise is.
// `promises --help` lists the options.
//
// Which error counts: without --replace the sets are drawn without replacement, and the error is counted on
// all records of the pool that the step was not fitted on. This is a sample too, so an error that is just
// within the promise is above it half of the time, and the program also counts the draws whose one-sided 95 %
// interval lies above the promise. With --replace the pool is the population: draws are independent, the
// error in the pool is the true one, and chance has no part in the comparison.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <encore/device.hpp>
#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "apply/application.hpp"
#include "apply/application_sets.hpp"
#include "tasks/data_split.hpp"

namespace encore {
namespace {

using nlohmann::json;
using Numbers = std::vector<std::size_t>;

constexpr double quantile_95 = 1.6448536269514722;  // of the normal distribution
constexpr double more = 2.0;                        // draws beyond the allowed share

constexpr const char* usage = R"(Usage: promises RUN_FOLDER [options]

Measures how often the step `decide` of an application breaks its promises, by drawing the development and the
test set of its run again. The exit status is 0 if the promises are kept, 1 if one is exceeded in more than
SHARE of the draws + 2, and 2 if the command line or the run is invalid.

  --draws N             number of draws (200)
  --seed N              of the draws (1)
  --replace             draw with replacement: the pool of records is the population
  --dev N               draw N records into the development set, in place of as many as the run has
  --out-of-scope N      draw exactly N requests out of scope among these; by default their number is left to chance
  --set OPTION=VALUE    change an option of the step; an empty VALUE removes it; may be repeated
  --allowed SHARE       share of draws that may exceed a promise (1 - confidence of the step)
  --plugin-folder DIR   folder with plugins; may be repeated
  --json                print the result as JSON

Example: promises runs/RUN --replace --set out_of_scope_share=0.18
)";

struct Call {
  std::filesystem::path folder;
  std::size_t draws = 200;
  std::uint64_t seed = 1;
  bool replaces = false, as_json = false;
  std::optional<std::size_t> dev = {}, out_of_scope = {};
  std::optional<double> allowed = {};
  std::vector<std::pair<std::string, std::string>> settings = {};
  std::vector<std::string> plugin_folders = {};
};

Call call_of(int argc, char** argv) {
  if (argc < 2) throw Error("expected the folder of an application's run");
  Call call{.folder = argv[1]};
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--replace" || word == "--json") {
      (word == "--json" ? call.as_json : call.replaces) = true;
      continue;
    }
    if (i + 1 == argc) throw Error(word + " needs a value");
    const std::string value = argv[++i];
    if (word == "--draws")
      call.draws = std::stoul(value);
    else if (word == "--seed")
      call.seed = std::stoull(value);
    else if (word == "--dev")
      call.dev = std::stoul(value);
    else if (word == "--out-of-scope")
      call.out_of_scope = std::stoul(value);
    else if (word == "--allowed")
      call.allowed = std::stod(value);
    else if (word == "--plugin-folder")
      call.plugin_folders.push_back(value);
    else if (word == "--set" && value.find('=') != std::string::npos)
      call.settings.emplace_back(value.substr(0, value.find('=')), value.substr(value.find('=') + 1));
    else
      throw Error("invalid argument \"" + word + " " + value + "\": promises --help lists the options");
  }
  return call;
}

/// Returns the specification of the run with the changed options of its last step.
record::Specification changed(const Call& call) {
  record::Specification specification = record::Specification::load(call.folder);
  if (!record::is_application(specification))
    throw Error(call.folder.string() + " is not the folder of an application's run");
  if (!call.plugin_folders.empty()) specification.plugin_folders = call.plugin_folders;
  json& app = specification.config.at("app");
  json& step = app.at("step").at(app.at("steps").back().get<std::string>());
  if (step.at("type") != "decide") throw Error("the last step of the application is not of the type decide");
  for (const auto& [option, value] : call.settings) {
    const json parsed = json::parse(value, nullptr, false);
    if (value.empty())
      step.erase(option);
    else
      step[option] = parsed.is_discarded() ? json(value) : parsed;
  }
  return specification;
}

/// A share with the squares that its standard error needs. Records may have weights.
struct Share {
  double part = 0.0, whole = 0.0;
  double part_squares = 0.0, products = 0.0, whole_squares = 0.0;

  void add(double weight, bool in_part, bool in_whole) {
    const double a = in_part ? weight : 0.0, b = in_whole ? weight : 0.0;
    part += a, whole += b;
    part_squares += a * a, products += a * b, whole_squares += b * b;
  }
  double value() const { return whole > 0.0 ? part / whole : 0.0; }
  /// Returns the lower end of the one-sided 95 % interval, by the standard error of a ratio.
  double lower_end() const {
    if (whole == 0.0) return 0.0;
    const double r = value();
    const double squares = part_squares - 2.0 * r * products + r * r * whole_squares;
    return r - quantile_95 * std::sqrt(std::max(0.0, squares)) / whole;
  }
};

/// What decisions on some records come to.
struct Counted {
  Share error, missed;  ///< among answered, and among refused
  Share automation, automation_in_scope, review, refused;
  double cost = 0.0, cost_by_hand = 0.0, cost_automatic = 0.0, weight = 0.0;
};

/// The step that is fitted again, and the answers that it decides on.
class Bench {
 public:
  Bench(const Call& call, const Device& device)
      : application_(changed(call), call.folder, device), table_(application_.description().steps.back()) {
    const std::vector<config::StepTable>& steps = application_.description().steps;
    of_ = table_.options.text("of");
    if (of_.empty() && steps.size() > 1) of_ = steps[steps.size() - 2].name;
    const tasks::RecordSets sets = apply::read_sets(application_);
    const auto& dev = sets[tasks::index_of(data::Split::dev)];
    const auto& test = sets[tasks::index_of(data::Split::test)];
    if (!dev || !test) throw Error("the application needs a development and a test set");
    dev_size_ = call.dev.value_or(dev->size());
    if (dev_size_ == 0 || dev_size_ >= dev->size() + test->size())
      throw Error("invalid --dev " + std::to_string(dev_size_) + ": expected 1 to " +
                  std::to_string(dev->size() + test->size() - 1) + ", less than the pool has");
    const auto watch = [](const std::string& step, std::size_t done, std::size_t all) {
      if (done == all) std::cerr << "promises: " << step << " has answered " << all << " records\n";
    };
    pool_ = application_.before_last(tasks::joined({*dev, *test}), watch);
    if (const auto& train = sets[tasks::index_of(data::Split::train)])
      train_ = application_.before_last(*train, watch);
    const Records::Texts& truths = pool_.texts(table_.options.text("truth"));
    const std::string& none = table_.options.text("out_of_scope");
    for (const std::string& truth : truths) is_in_scope_.push_back(none.empty() || truth != none);
  }

  std::size_t pool_size() const { return pool_.size(); }
  std::size_t dev_size() const { return dev_size_; }
  std::size_t out_of_scope() const {
    return static_cast<std::size_t>(std::ranges::count(is_in_scope_, false));
  }
  const Options& options() const { return table_.options; }
  std::optional<double> number(const char* option) const {
    if (!options().has(option)) return std::nullopt;
    return options().number(option);
  }

  /// What one draw comes to.
  struct Drawn {
    Counted truth, test;
    std::size_t fitted = 0;
  };

  Drawn draw(const Call& call, std::mt19937_64& random) {
    const auto [dev, test] = drawn_sets(call, random);
    const Records drawn = tasks::selected(pool_, dev);
    std::vector<std::uint64_t> order(dev.size());
    for (std::uint64_t& each : order) each = random();
    const std::vector<bool> is_fit = apply::fit_share(order, apply::labels_in(drawn, application_.fields()),
                                                      application_.description().fit);
    Numbers fitted_on, others;
    std::vector<bool> is_used(pool_.size());
    for (std::size_t i = 0; i < dev.size(); ++i)
      if (is_fit[i]) {
        fitted_on.push_back(i);
        is_used[dev[i]] = true;
      }
    for (std::size_t i = 0; i < pool_.size(); ++i)
      if (call.replaces || !is_used[i]) others.push_back(i);
    const std::unique_ptr<AppStep> step =
        application_.registry().make_step(table_.type, table_.options, {.name = table_.name, .before = of_});
    const Records dev_part = with_own_hashes(tasks::selected(drawn, fitted_on), random);
    step->fit({.train = step->learns() && train_ ? &*train_ : nullptr, .dev = dev_part});
    const Records given = step->apply(pool_);
    return {.truth = counted(others, given), .test = counted(test, given), .fitted = fitted_on.size()};
  }

 private:
  /// Returns the records of the development and of the test set.
  std::pair<Numbers, Numbers> drawn_sets(const Call& call, std::mt19937_64& random) const {
    Numbers all(pool_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::ranges::shuffle(all, random);
    if (call.out_of_scope) {  // that many of them stand first, then records in scope, then the others
      const auto first_in =
          std::ranges::stable_partition(all, [&](std::size_t i) { return !is_in_scope_[i]; });
      const auto others = static_cast<std::size_t>(first_in.begin() - all.begin());
      if (*call.out_of_scope > others || *call.out_of_scope > dev_size_)
        throw Error("--out-of-scope: the pool has " + std::to_string(others) +
                    " such records, the development "
                    "set " +
                    std::to_string(dev_size_) + " in all");
      const std::size_t in = dev_size_ - *call.out_of_scope;
      if (in > all.size() - others) throw Error("--out-of-scope: the pool has too few records in scope");
      std::rotate(all.begin() + static_cast<std::ptrdiff_t>(*call.out_of_scope), first_in.begin(),
                  first_in.begin() + static_cast<std::ptrdiff_t>(in));
    }
    if (call.replaces) {
      const Numbers from = all;
      const std::size_t out = call.out_of_scope.value_or(0);
      // With a stated number each part is drawn from its own records of the pool.
      Numbers in_records, out_records;
      for (const std::size_t i : from) (is_in_scope_[i] ? in_records : out_records).push_back(i);
      for (std::size_t k = 0; k < all.size(); ++k) {
        const Numbers& source = !call.out_of_scope || k >= dev_size_ ? from
                                : k < out                            ? out_records
                                                                     : in_records;
        all[k] = source[std::uniform_int_distribution<std::size_t>(0, source.size() - 1)(random)];
      }
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(dev_size_);
    return {Numbers(all.begin(), middle), Numbers(middle, all.end())};
  }

  /// Changes each probability by less than a billionth. The step divides its records by a hash of the
  /// probabilities; without this a record would be in the same part in all draws.
  Records with_own_hashes(const Records& records, std::mt19937_64& random) const {
    std::uniform_real_distribution<double> small(0.0, 1e-9);
    Records changed;
    for (const Records::Field& field : records.fields()) {
      Records::Values values = field.values;
      if (field.name == of_ + ".scores")
        if (auto* maps = std::get_if<Records::NumberMaps>(&values))
          for (auto& scores : *maps)
            for (auto& [label, probability] : scores) probability *= 1.0 - small(random);
      changed.add(field.name, std::move(values));
    }
    return changed;
  }

  Counted counted(const Numbers& records, const Records& given) const {
    const Records::Texts &bands = given.texts("band"), &labels = given.texts("label"),
                         &truths = pool_.texts(options().text("truth")),
                         &models = pool_.texts(of_ + ".label");
    double in = 0.0, out = 0.0;
    for (const std::size_t i : records) (is_in_scope_[i] ? in : out) += 1.0;
    const std::optional<double> share = number("out_of_scope_share");
    Counted sums;
    for (const std::size_t i : records) {
      double weight = 1.0;
      if (share && in > 0.0 && out > 0.0) weight = is_in_scope_[i] ? (1.0 - *share) / in : *share / out;
      const bool answers = bands[i] == "answer", refuses = bands[i] == "refuse", in_scope = is_in_scope_[i];
      sums.error.add(weight, answers && labels[i] != truths[i], answers);
      sums.missed.add(weight, refuses && in_scope, refuses);
      sums.automation.add(weight, answers, true);
      sums.automation_in_scope.add(weight, answers && in_scope, in_scope);
      sums.review.add(weight, bands[i] == "review", true);
      sums.refused.add(weight, refuses, true);
      if (!number("cost_wrong")) continue;
      const double wrong = *number("cost_wrong"), review = *number("cost_review");
      double cost = answers ? 0.0 : refuses ? 0.0 : review;
      if (answers && labels[i] != truths[i]) cost = wrong;
      if (refuses && in_scope) cost = number("cost_missed").value_or(0.0);
      sums.cost += weight * cost;
      sums.cost_by_hand += weight * review;
      sums.cost_automatic += in_scope && models[i] == truths[i] ? 0.0 : weight * wrong;
      sums.weight += weight;
    }
    return sums;
  }

  apply::Application application_;
  config::StepTable table_;
  std::string of_;
  Records pool_;
  std::optional<Records> train_;
  std::vector<bool> is_in_scope_;
  std::size_t dev_size_ = 0;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Returns the mean, and the values below which 5, 50 and 95 % of the draws are.
json spread(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return {{"mean", mean(values)}, {"5 %", at(0.05)}, {"50 %", at(0.5)}, {"95 %", at(0.95)}};
}

template <class Get>
json spread_of(const std::vector<Bench::Drawn>& draws, const Get& get) {
  std::vector<double> values;
  for (const Bench::Drawn& draw : draws) values.push_back(get(draw));
  return spread(std::move(values));
}

/// How often a promise was exceeded.
json kept(const std::vector<Bench::Drawn>& draws, Share Counted::*share, double most, bool exact,
          double allowed) {
  std::size_t above = 0, clearly = 0, in_test = 0, idle = 0;
  for (const Bench::Drawn& draw : draws) {
    const Share &truth = draw.truth.*share, &test = draw.test.*share;
    above += truth.value() > most ? 1 : 0;
    clearly += (exact ? truth.value() : truth.lower_end()) > most ? 1 : 0;
    in_test += test.value() > most ? 1 : 0;
    idle += truth.whole == 0.0 ? 1 : 0;
  }
  return {{"promise", most},
          {"above", above},
          {"clearly_above", clearly},
          {"above_in_test", in_test},
          {"takes_none", idle},
          {"allowed", allowed},
          {"is_kept", static_cast<double>(above) <= allowed},
          {"value", spread_of(draws, [&](const Bench::Drawn& draw) { return (draw.truth.*share).value(); })}};
}

json result_of(const Bench& bench, const Call& call, const std::vector<Bench::Drawn>& draws) {
  const double share = call.allowed.value_or(1.0 - bench.options().number("confidence"));
  const double allowed = share * static_cast<double>(draws.size()) + more;
  const bool weighs = bench.number("out_of_scope_share").has_value();
  json result = {{"draws", draws.size()},
                 {"seed", call.seed},
                 {"pool", bench.pool_size()},
                 {"pool_out_of_scope", bench.out_of_scope()},
                 {"dev", bench.dev_size()},
                 {"fitted_on", spread_of(draws, [](const Bench::Drawn& d) { return double(d.fitted); })},
                 {"truth", call.replaces ? "the pool, from which the sets are drawn with replacement"
                                         : "all records of the pool that the step was not fitted on"},
                 {"out_of_scope_share", weighs ? json(*bench.number("out_of_scope_share")) : json()}};
  const std::pair<const char*, Share Counted::*> measures[] = {
      {"automation", &Counted::automation},
      {"automation_in_scope", &Counted::automation_in_scope},
      {"review", &Counted::review},
      {"refused", &Counted::refused}};
  for (const auto& [name, measure] : measures)
    result[name] =
        spread_of(draws, [&, of = measure](const Bench::Drawn& draw) { return (draw.truth.*of).value(); });
  if (const auto error = bench.number("error"))
    result["error"] = kept(draws, &Counted::error, *error, call.replaces, allowed);
  if (const auto missed = bench.number("missed"))
    result["missed"] = kept(draws, &Counted::missed, *missed, call.replaces, allowed);
  if (bench.number("cost_wrong")) {
    std::size_t above = 0;
    for (const Bench::Drawn& draw : draws)
      above += draw.truth.cost > std::min(draw.truth.cost_by_hand, draw.truth.cost_automatic) ? 1 : 0;
    const auto cost = [&](double Counted::*of) {
      return spread_of(draws, [&](const Bench::Drawn& d) { return d.truth.*of / d.truth.weight; });
    };
    result["cost"] = {{"value", cost(&Counted::cost)},
                      {"by_hand", cost(&Counted::cost_by_hand)},
                      {"automatic", cost(&Counted::cost_automatic)},
                      {"above_both", above}};
  }
  return result;
}

void print(const json& result) {
  const auto percent = [](const json& value) { return 100.0 * value.get<double>(); };
  std::printf(
      "%zu draws (seed %zu) of %zu records for the development set from a pool of %zu, %zu out of scope\n"
      "truth: %s\n\n",
      result.at("draws").get<std::size_t>(), result.at("seed").get<std::size_t>(),
      result.at("dev").get<std::size_t>(), result.at("pool").get<std::size_t>(),
      result.at("pool_out_of_scope").get<std::size_t>(), result.at("truth").get<std::string>().c_str());
  std::printf("%-22s %8s %8s %8s %8s\n", "in percent", "mean", "5 %", "median", "95 %");
  const auto row = [&](const char* name, const json& of) {
    std::printf("%-22s %8.2f %8.2f %8.2f %8.2f\n", name, percent(of.at("mean")), percent(of.at("5 %")),
                percent(of.at("50 %")), percent(of.at("95 %")));
  };
  for (const char* name : {"automation", "automation_in_scope", "review", "refused"})
    row(name, result.at(name));
  for (const char* name : {"error", "missed"})
    if (result.contains(name)) row(name, result.at(name).at("value"));
  std::printf("\n");
  for (const char* name : {"error", "missed"}) {
    if (!result.contains(name)) continue;
    const json& of = result.at(name);
    std::printf(
        "%s = %g: exceeded in %zu draws (allowed: %g), with the interval above it in %zu; "
        "in the test set in %zu; nothing taken in %zu: %s\n",
        name, of.at("promise").get<double>(), of.at("above").get<std::size_t>(),
        of.at("allowed").get<double>(), of.at("clearly_above").get<std::size_t>(),
        of.at("above_in_test").get<std::size_t>(), of.at("takes_none").get<std::size_t>(),
        of.at("is_kept").get<bool>() ? "kept" : "BROKEN");
  }
  if (result.contains("cost")) {
    const json& of = result.at("cost");
    std::printf("cost %.4f, by hand %.4f, automatic %.4f; above the cheaper of both in %zu draws\n",
                of.at("value").at("mean").get<double>(), of.at("by_hand").at("mean").get<double>(),
                of.at("automatic").at("mean").get<double>(), of.at("above_both").get<std::size_t>());
  }
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--help") {
    std::cout << usage;
    return 0;
  }
  const Call call = call_of(argc, argv);
  const KokkosSession kokkos;
  const Device device;
  Bench bench(call, device);
  std::vector<Bench::Drawn> draws;
  for (std::size_t number = 0; number < call.draws; ++number) {
    std::mt19937_64 random(call.seed * 1'000'003 + number);
    draws.push_back(bench.draw(call, random));
    if ((number + 1) % 20 == 0) std::cerr << "promises: " << number + 1 << " of " << call.draws << " draws\n";
  }
  const json result = result_of(bench, call, draws);
  if (call.as_json)
    std::cout << result.dump(1) << '\n';
  else
    print(result);
  for (const char* name : {"error", "missed"})
    if (result.contains(name) && !result.at(name).at("is_kept").get<bool>()) return 1;
  return 0;
}

}  // namespace
}  // namespace encore

int main(int argc, char** argv) try { return encore::run(argc, argv); } catch (const std::exception& error) {
  std::cerr << "promises: " << error.what() << '\n';
  return 2;
}
