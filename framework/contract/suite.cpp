// SPDX-License-Identifier: BSD-3-Clause
// Runs the contract suite on one type of a plugin: collects the checks of its kind and runs them in order, so
// that one cause is reported as one failure. worker/check_plugin_verb.cpp calls run_suite(). `exp plugin
// check --json` has the names of checks, so these stay. Read suite.hpp first.
#include "contract/suite.hpp"

#include <algorithm>

#include "contract/step_checks.hpp"
#include "record/crash_line.hpp"

namespace encore::contract {
namespace {

bool is_label(const std::string& label) {
  const std::size_t colons = label.find("::");
  if (colons == std::string::npos || colons == 0 || colons + 2 == label.size()) return false;
  return std::ranges::all_of(
      label, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':'; });
}

}  // namespace

void require_labels(const KokkosWatch& watch) {
  for (const std::string& label : watch.kernels())
    require(is_label(label),
            "a kernel is labelled \"" + label + "\"; give it a name like \"my_layers::scale\"");
}

std::vector<Check> suite_checks(const Device& device, const Offer& offer, const CheckData& data,
                                const std::vector<LargeSize>& sizes) {
  std::vector<Check> checks{{"options", [&offer] { return check_options(offer); }}};
  const auto append = [&](std::vector<Check> more) {
    for (Check& check : more) checks.push_back(std::move(check));
  };
  switch (offer.kind) {
    case Kind::layer:
    case Kind::head:
      append(layer_checks(device, offer, sizes));
      break;
    case Kind::optimizer:
      append(optimizer_checks(device, offer));
      break;
    case Kind::schedule:
      append(schedule_checks(offer));
      break;
    case Kind::tokenizer:
      append(tokenizer_checks(offer));
      break;
    case Kind::task:
      append(task_checks(offer, data));
      break;
    case Kind::reader:
      append(reader_checks(offer, data));
      break;
    case Kind::step:
      append(step_checks(offer, data));
      break;
  }
  return checks;
}

void run_suite(const Offer& offer, const std::vector<Check>& checks, const SuiteObserver& observer) {
  const std::string subject = subject_of(offer);
  std::vector<Finding> causes;
  for (const Check& check : checks) {
    observer.begin(subject, check.name);
    const record::CurrentWork work(check.name);
    Finding finding{.subject = subject, .check = check.name, .detail = {}};
    try {
      finding.detail = check.run();
      finding.passed = true;
    } catch (const NotChecked& reason) {
      finding.detail = reason.what();
      finding.passed = finding.unchecked = true;
    } catch (const std::exception& error) {
      finding.detail = error.what();
      const auto cause = std::ranges::find_if(causes, [&](const Finding& known) {
        return !known.detail.empty() && finding.detail.find(known.detail) != std::string::npos;
      });
      if (cause == causes.end()) {
        causes.push_back(finding);
      } else {
        finding.skipped = true;
        finding.detail = "the same cause as " + cause->check;
      }
    }
    observer.end(finding);
  }
}

bool has_digests(const Offer& offer) {
  return offer.kind == Kind::layer || offer.kind == Kind::head || offer.kind == Kind::optimizer;
}

std::map<std::string, std::string> suite_digests(const Device& device, const Offer& offer) {
  if (!has_digests(offer)) return {};
  return offer.kind == Kind::optimizer ? optimizer_digests(device, offer) : layer_digests(device, offer);
}

}  // namespace encore::contract
