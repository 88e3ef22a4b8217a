// check-plugin: opens one plugin as a run would and puts everything it offers through the contract suite. One
// JSON object per line, written at once, so that the reader knows where a plugin that crashed was:
//   {"opening": FILE}   {"checks": [{"subject", "check"}...]}, all that follow   {"begin": SUBJECT, "check":
//   NAME}
//   {"subject", "check", "passed", "skipped", "detail"}   {"digest": NAME, "value": HEX}
//   {"finished": true}, without which the plugin has ended the worker
#include <iostream>

#include <nlohmann/json.hpp>

#include "base/load_file.hpp"
#include "contract/suite.hpp"
#include "plugin_host/registry.hpp"
#include "worker/answers.hpp"
#include "worker/verbs.hpp"

namespace encore {
namespace {

using nlohmann::json;

void write_line(const json& line) {
  answer_stream() << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
}

struct OfferChecks {
  const Offer& offer;
  std::vector<Check> checks;
};

/// What the control program compares between numbers of threads; its check has passed only there.
std::string write_digests(const Device& device, const Offer& offer) {
  const std::map<std::string, std::string> digests = suite_digests(device, offer);
  for (const auto& [name, value] : digests)
    write_line({{"digest", subject_of(offer) + " " + name}, {"value", value}});
  return std::to_string(digests.size()) + " digests";
}

}  // namespace

int check_plugin_verb(const std::filesystem::path& file, const std::filesystem::path& data,
                      bool only_digests) {
  Catalogue catalogue;
  catalogue.add(load_manifest(std::filesystem::path(file).replace_extension(".json")));
  write_line({{"opening", file.string()}});
  Registry registry;
  registry.load_all(catalogue);
  for (const LoadFailure& failure : registry.failures()) throw Error(failure.reason);

  const Device device;
  const CheckData own =
      data.empty() ? CheckData()
                   : CheckData{data.string(), load_text(data, "file of --data"), registry.all(Kind::reader)};
  std::vector<OfferChecks> all;
  json planned = json::array();
  for (const ManifestOffer& offered : catalogue.manifests().front().offers) {
    const Offer& offer = registry.offer(offered.kind, offered.name);
    all.push_back({offer, only_digests ? std::vector<Check>() : suite_checks(device, offer, own)});
    if (has_digests(offer))
      all.back().checks.push_back({"threads", [&] { return write_digests(device, offer); }});
    for (const Check& check : all.back().checks)
      planned.push_back({{"subject", subject_of(offer)}, {"check", check.name}});
  }
  write_line({{"checks", planned}});

  bool passed = true;
  const SuiteObserver observer{[](const std::string& subject, std::string_view check) {
                                 write_line({{"begin", subject}, {"check", check}});
                               },
                               [&](const Finding& finding) {
                                 passed = passed && finding.passed;
                                 write_line({{"subject", finding.subject},
                                             {"check", finding.check},
                                             {"passed", finding.passed},
                                             {"skipped", finding.skipped},
                                             {"detail", finding.detail}});
                               }};
  for (const OfferChecks& each : all) run_suite(each.offer, each.checks, observer);
  write_line({{"finished", true}});
  return passed ? 0 : 1;
}

}  // namespace encore
