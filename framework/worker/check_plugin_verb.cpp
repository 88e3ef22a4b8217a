// SPDX-License-Identifier: BSD-3-Clause
// The verb check-plugin: opens one plugin as a run would and tests everything it offers with the contract
// suite, for `exp plugin check`. It is linked into encore-worker-check-plugin, with which encore-worker
// replaces itself (program.hpp). It writes one JSON object per line, and flushes each line, so that the
// reader (app/plugin_check.cpp) knows in which check a plugin crashed. Members keep their names:
//   {"opening": FILE}
//   {"checks": [{"subject", "check"}...]}   all that follow
//   {"begin": SUBJECT, "check": NAME}
//   {"subject", "check", "passed", "skipped", "unchecked", "detail"}
//   {"digest": NAME, "value": HEX}
//   {"finished": true}                      if it is missing, the plugin ended the worker
#include <iostream>

#include <nlohmann/json.hpp>

#include "base/load_file.hpp"
#include "base/nearest.hpp"
#include "contract/suite.hpp"
#include "plugin_host/registry.hpp"
#include "worker/answers.hpp"
#include "worker/program.hpp"

namespace encore::worker {
namespace {

using nlohmann::json;

void write_line(const json& line) {
  answer_stream() << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
}

struct OfferChecks {
  const Offer& offer;
  std::vector<contract::Check> checks;
};

/// Writes the digests that the control program compares between numbers of threads, and returns the detail of
/// the check, which passes only after that comparison.
std::string write_digests(const Device& device, const Offer& offer) {
  const std::map<std::string, std::string> digests = contract::suite_digests(device, offer);
  for (const auto& [name, value] : digests)
    write_line({{"digest", contract::subject_of(offer) + " " + name}, {"value", value}});
  return std::to_string(digests.size()) + " digests";
}

/// Returns the files of --data with their readers: the one that the settings name, else those of the plugin.
contract::CheckData data_of(const CheckPluginArguments& arguments, const std::vector<Offer>& offers) {
  const std::string type = contract::chosen_reader(arguments.settings);
  std::vector<Offer> readers;
  std::vector<std::string> names;
  for (const Offer& offer : offers) {
    if (offer.kind != Kind::reader) continue;
    names.push_back(offer.name);
    if (type.empty() || offer.name == type) readers.push_back(offer);
  }
  if (!type.empty() && readers.empty())
    throw Error("-S data.type=" + type + ": no reader has this name" + did_you_mean(type, names));
  contract::CheckData data{.readers = std::move(readers), .chosen = !type.empty()};
  for (const std::string& file : arguments.data)
    data.files.push_back({.name = file, .text = load_text(file, "file of --data")});
  return data;
}

}  // namespace

int check_plugin_verb(const CheckPluginArguments& arguments) {
  config::Catalogue catalogue;
  catalogue.add(config::load_manifest(std::filesystem::path(arguments.file).replace_extension(".json")));
  const std::size_t checked = catalogue.manifests().front().offers.size();
  if (!arguments.reader_plugin.empty())
    catalogue.add(
        config::load_manifest(std::filesystem::path(arguments.reader_plugin).replace_extension(".json")));
  write_line({{"opening", arguments.file.string()}});
  plugin_host::Registry registry;
  registry.load_all(catalogue);
  for (const plugin_host::LoadFailure& failure : registry.failures()) throw Error(failure.reason);

  const Device device;
  std::vector<Offer> offers;
  for (const config::Manifest& manifest : catalogue.manifests())
    for (const config::ManifestOffer& offered : manifest.offers)
      offers.push_back(registry.offer(offered.kind, offered.name));
  offers = contract::with_settings(std::move(offers), arguments.settings);
  const contract::CheckData own = data_of(arguments, offers);
  std::vector<contract::LargeSize> sizes = contract::default_sizes;
  if (arguments.width > 0 || arguments.length > 0)
    sizes = {{.width = arguments.width > 0 ? arguments.width : sizes.back().width,
              .length = arguments.length > 0 ? arguments.length : sizes.back().length,
              .exact = arguments.width > 0}};
  offers.resize(checked);  // drops the offers of the reader's plugin, which are the last ones
  std::vector<OfferChecks> all;
  json planned = json::array();
  for (const Offer& offer : offers) {
    all.push_back({offer, arguments.only_digests ? std::vector<contract::Check>()
                                                 : contract::suite_checks(device, offer, own, sizes)});
    if (contract::has_digests(offer))
      all.back().checks.push_back({"threads", [&] { return write_digests(device, offer); }});
    for (const contract::Check& check : all.back().checks)
      planned.push_back({{"subject", contract::subject_of(offer)}, {"check", check.name}});
  }
  write_line({{"checks", planned}});

  bool passed = true;
  const contract::SuiteObserver observer{[](const std::string& subject, std::string_view check) {
                                           write_line({{"begin", subject}, {"check", check}});
                                         },
                                         [&](const contract::Finding& finding) {
                                           passed = passed && finding.passed;
                                           write_line({{"subject", finding.subject},
                                                       {"check", finding.check},
                                                       {"passed", finding.passed},
                                                       {"skipped", finding.skipped},
                                                       {"unchecked", finding.unchecked},
                                                       {"detail", finding.detail}});
                                         }};
  for (const OfferChecks& each : all) contract::run_suite(each.offer, each.checks, observer);
  write_line({{"finished", true}});
  return passed ? 0 : 1;
}

WorkerVerbs check_plugin_verbs() {
  return {{"check-plugin", {[](const WorkerCall& call) {
             const std::vector<std::string> files = call.texts("file");
             return check_plugin_verb({.file = files.empty() ? std::string() : files.front(),
                                       .data = call.texts("data"),
                                       .reader_plugin = call.text("reader-plugin"),
                                       .settings = call.texts("set"),
                                       .width = call.whole("width"),
                                       .length = call.whole("length"),
                                       .only_digests = call.flag("digests")});
           }}}};
}

}  // namespace encore::worker
