// check-plugin: opens one plugin as a run would and puts everything it offers through the contract suite. One
// JSON object per line, written at once, so that the reader knows where a plugin that crashed was:
//   {"opening": FILE}   {"begin": SUBJECT, "check": NAME}   {"subject", "check", "passed", "detail"}
//   {"digest": NAME, "value": HEX}   {"finished": true}, without which the plugin has ended the worker
#include <iostream>

#include <nlohmann/json.hpp>

#include "contract/suite.hpp"
#include "plugin_host/registry.hpp"
#include "worker/verbs.hpp"

namespace encore {
namespace {

void write_line(const nlohmann::json& line) {
  std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

}  // namespace

int check_plugin_verb(const std::filesystem::path& file, bool only_digests) {
  Catalogue catalogue;
  catalogue.add(load_manifest(std::filesystem::path(file).replace_extension(".json")));
  write_line({{"opening", file.string()}});
  Registry registry;
  registry.load_all(catalogue);
  for (const LoadFailure& failure : registry.failures()) throw Error(failure.reason);

  const Device device;
  bool passed = true;
  const SuiteObserver observer{[](const std::string& subject, std::string_view check) {
                                 write_line({{"begin", subject}, {"check", check}});
                               },
                               [&](const Finding& finding) {
                                 passed = passed && finding.passed;
                                 write_line({{"subject", finding.subject},
                                             {"check", finding.check},
                                             {"passed", finding.passed},
                                             {"detail", finding.detail}});
                               }};
  for (const ManifestOffer& offered : catalogue.manifests().front().offers) {
    const Offer& offer = registry.offer(offered.kind, offered.name);
    if (!only_digests) run_suite(device, offer, observer);
    write_line({{"begin", subject_of(offer)}, {"check", "threads"}});
    try {
      for (const auto& [name, value] : suite_digests(device, offer))
        write_line({{"digest", subject_of(offer) + " " + name}, {"value", value}});
    } catch (const std::exception& error) {
      passed = false;
      write_line({{"subject", subject_of(offer)},
                  {"check", "threads"},
                  {"passed", false},
                  {"detail", error.what()}});
    }
  }
  write_line({{"finished", true}});
  return passed ? 0 : 1;
}

}  // namespace encore
