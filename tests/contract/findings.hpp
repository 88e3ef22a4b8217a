// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the contract tests beside it: findings_of() runs the contract suite (contract/suite.hpp) on one
// offer, which is a type that a plugin registers, and failures() joins the failed checks to one string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "contract/suite.hpp"

namespace encore::testing {

/// Returns the result of every check of the suite, passed ones too.
inline std::vector<contract::Finding> findings_of(
    const Offer& offer, const contract::CheckData& data = {},
    const std::vector<contract::LargeSize>& sizes = contract::default_sizes) {
  const Device device;
  std::vector<contract::Finding> findings;
  contract::run_suite(offer, contract::suite_checks(device, offer, data, sizes),
                      {[](const std::string&, std::string_view) {},
                       [&](const contract::Finding& finding) { findings.push_back(finding); }});
  return findings;
}

/// Returns a line "check: detail" for each failed check; empty if all passed.
inline std::string failures(const std::vector<contract::Finding>& findings) {
  std::string text;
  for (const contract::Finding& finding : findings)
    if (!finding.passed) text += finding.check + ": " + finding.detail + "\n";
  return text;
}

inline void expect_said(const std::string& failures, const std::string& part) {
  EXPECT_NE(failures.find(part), std::string::npos) << "said: " << failures;
}

}  // namespace encore::testing
