// SPDX-License-Identifier: BSD-3-Clause
// ReplicatesTest: a fixture whose database holds runs as `exp` and a worker leave them, with settings, seed,
// result, numeric environment and predictions, but without any training. The tests of analysis/, of reports
// (unit/report/report_fixture.hpp) and a fuzzer (tests/fuzz/runs.hpp) build on it, and many expect these
// default values: a new one may be added, an old one stays.
#pragma once

#include <fstream>
#include <map>
#include <vector>

#include "base/sha256.hpp"
#include "support/raw_event.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::testing {

/// The facts of one run, as a worker reports them.
struct Told {
  std::string name = "base";
  std::int64_t seed = 1;
  nlohmann::json measures = {{"test/f1", 0.5}};  ///< the scores; null: the run has no result
  store::RunState state = store::RunState::completed;
  std::string reason = {};
  std::string backend = "openmp";
  std::string device = "cpu one";
  std::string test_set = std::string(64, 'd');
  std::string predictions = {};  ///< content of predictions/test.jsonl, unless empty
  double dropout = 0.1;
  bool is_private = false;  ///< whether the data are private
  bool fresh = false;
  std::string plugin = "1";  ///< SHA-256 of the file of the only plugin, "p"
  std::string select = "max dev/f1";
  std::map<std::string, std::vector<double>> curves = {};  ///< values at steps 10, 20, ... of each metric
  std::int64_t best_step = 1;
  std::string ties = {};              ///< the rule that the result names
  bool undefined = false;             ///< whether the result calls the selecting metric undefined
  std::vector<Measure> defined = {};  ///< the declared measures; none: as before version 5 of the schema
};

class ReplicatesTest : public StoreTest {
 protected:
  /// Adds a run to the database, merges its spool and returns its row. Runs with the same name form a group
  /// (replicates): here the name stands for all settings.
  store::RunRow tell(const Told& told) {
    record::Specification specification = specification_of('a', told.name + "-s" + std::to_string(told.seed));
    specification.seed = static_cast<std::uint64_t>(told.seed);
    specification.group = sha256(told.name + told.test_set);
    specification.question = sha256(told.name + told.test_set + std::to_string(told.seed));
    specification.backend = told.backend;
    specification.config["model"]["dropout"] = told.dropout;
    specification.config["train"]["select"] = told.select;
    if (told.is_private) specification.config["data"]["private"] = true;
    specification.data["test"] = {"/data/test.conll", told.test_set};
    store::RunExtras extras;
    extras.sweep = store().add_sweep(told.name.substr(0, told.name.find('-')), "file.toml", "");
    extras.fresh = told.fresh;
    const store::RunRow run = store().add_run(specification, extras).run;
    if (told.state == store::RunState::pending) return run;
    std::filesystem::create_directories(store().run_folder(run.id) / "predictions");
    const auto lease = store().begin_attempt(run.number);
    {
      record::SpoolWriter spool(spool_of(*lease), lease->ordinal);
      spool.event(record::Started{
          .numeric_environment = record::JsonText(nlohmann::json{
              {"backend", told.backend}, {"device", told.device}, {"plugins", {{"p", told.plugin}}}}),
          .host = record::JsonText(nlohmann::json{{"name", "here"}}),
          .build =
              record::JsonText(nlohmann::json{{"version", "1"}, {"fingerprint", "sdk=2;compiler=GNU 12;"}})});
      spool.point("train/loss", 1, 0.25 * static_cast<double>(told.seed));
      if (!told.predictions.empty()) {
        const auto file = store().run_folder(run.id) / "predictions/test.jsonl";
        std::ofstream(file) << told.predictions;
        spool.event(record::Wrote{.name = "predictions/test.jsonl",
                                  .path = "predictions/test.jsonl",
                                  .sha256 = sha256(told.predictions)});
      }
      record::define_measures(spool, std::vector<std::string>{"dev", "test"}, told.defined);
      for (const auto& [name, value] : told.measures.items())
        if (value.is_number()) spool.point(name, 1, value.get<double>());
      for (const auto& [name, values] : told.curves)
        for (std::size_t i = 0; i < values.size(); ++i)
          spool.point(name, static_cast<std::int64_t>(10 * (i + 1)), values[i]);
      nlohmann::json result = {{"best_step", told.best_step}, {"measures", told.measures}};
      if (!told.ties.empty()) result["ties"] = told.ties;
      if (told.undefined) result["undefined"] = true;
      if (!told.measures.is_null()) write_event(spool, "result", result);
      spool.sync();
    }
    store().finish_attempt(*lease, told.state, told.reason);
    return store().read_run(run.number);
  }

  /// Makes one run per value, with seeds 1, 2, 3 ...
  void tell_all(const std::string& name, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      tell({.name = name, .seed = static_cast<std::int64_t>(i + 1), .measures = {{"test/f1", values[i]}}});
  }
};

}  // namespace encore::testing
