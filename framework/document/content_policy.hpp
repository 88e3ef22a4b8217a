// SPDX-License-Identifier: BSD-3-Clause
// Writes the Content-Security-Policy of pages that load nothing: a browser runs only the style and script
// inside the page, which the policy names by hash. html.cpp, report/attention_page.cpp (`exp attention`) and
// serve/page.cpp use it.
#pragma once

#include <string>

namespace encore::document {

/// Returns the policy of a page whose only <style> and <script> hold exactly these strings.
std::string content_policy(const std::string& style, const std::string& script);

}  // namespace encore::document
