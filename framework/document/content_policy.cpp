// SPDX-License-Identifier: BSD-3-Clause
// Implements content_policy(): hashes the style and the script of a page and writes the policy that allows
// only these two. html.cpp, report/attention_page.cpp and serve/page.cpp call it. Read writer_parts.hpp
// first. A page must contain exactly the strings that were hashed, or browsers block them.
#include "document/writer_parts.hpp"

#include <encore/base64.hpp>

#include "base/sha256.hpp"

namespace encore::document {

namespace {

/// Returns the hash of the text between two tags, in the notation of a Content-Security-Policy.
std::string policy_hash(const std::string& content) {
  std::string digest;
  const std::string hex = sha256(content);
  for (std::size_t i = 0; i < hex.size(); i += 2)
    digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + to_base64(digest) + "'";
}

}  // namespace

std::string content_policy(const std::string& style, const std::string& script) {
  return "default-src 'none'; style-src " + policy_hash(style) + "; script-src " + policy_hash(script) +
         "; base-uri 'none'; form-action 'none'";
}

}  // namespace encore::document
