// SPDX-License-Identifier: BSD-3-Clause
// Writes the Content-Security-Policy of pages that load nothing: only what stands in them may run, by its
// hash. html.cpp and the page of `exp attention` (report/attention_page.cpp) use it.
#pragma once

#include <string>

namespace encore {

/// Returns the policy of a page whose only <style> and <script> hold exactly these strings.
std::string content_policy(const std::string& style, const std::string& script);

}  // namespace encore
