// The Content-Security-Policy of pages that load nothing: what may run is what stands in them, by its hash.
// Place in the flow: html.cpp, and the page of `exp attention` (report/attention_page.cpp).
#pragma once

#include <string>

namespace encore {

/// For a page whose one <style> and one <script> hold exactly these texts.
std::string content_policy(const std::string& style, const std::string& script);

}  // namespace encore
