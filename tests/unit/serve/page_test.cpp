// SPDX-License-Identifier: BSD-3-Clause
// Tests the pages at `/` and `/review` that `exp serve` sends to a browser (serve/page.hpp, source in
// serve/page). Each page must have no placeholder left, load and run only what its Content-Security-Policy
// allows (ServePage::policy), and make no HTML of a server's answer, because answers repeat the inputs of
// users. Layout and words of the pages may change.
#include "serve/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <encore/base64.hpp>

#include "base/sha256.hpp"

namespace encore::serve {
namespace {

/// Returns what the first group of the pattern matches, for each match in the order of the text.
std::vector<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> words;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    words.push_back((*at)[1]);
  return words;
}

/// Returns the text between <name> and </name>; each tag occurs once.
std::string between_tags(const std::string& html, const std::string& name) {
  const std::string open = "<" + name + ">", close = "</" + name + ">";
  const std::size_t begin = html.find(open) + open.size(), end = html.find(close);
  EXPECT_EQ(html.find(open, begin), std::string::npos) << name;
  EXPECT_EQ(html.find(close, end + 1), std::string::npos) << name;
  return html.substr(begin, end - begin);
}

/// The parameter is the function that returns the page.
class ServePageTest : public ::testing::TestWithParam<const ServePage& (*)()> {
 protected:
  static const ServePage& page() { return GetParam()(); }
  static const std::string& html() { return page().html; }
  static std::string script() { return between_tags(html(), "script"); }
  /// Returns the page without style and script.
  static std::string frame() {
    std::string text = html();
    for (const char* name : {"style", "script"}) {
      const std::string inner = between_tags(text, name);
      text.erase(text.find(inner), inner.size());
    }
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(Pages, ServePageTest, ::testing::Values(serve_page, review_page));

TEST_P(ServePageTest, PolicyAllowsTheStyleAndTheScriptOfThePageAlone) {
  EXPECT_EQ(html().find("{{"), std::string::npos) << "a placeholder is left";
  for (const char* name : {"style", "script"}) {
    std::string digest;
    const std::string hex = sha256(between_tags(html(), name));
    for (std::size_t i = 0; i < hex.size(); i += 2)
      digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    const std::string source = std::string(name) + "-src 'sha256-" + to_base64(digest) + "';";
    EXPECT_NE(page().policy.find(source), std::string::npos) << page().policy;
  }
  EXPECT_TRUE(page().policy.starts_with("default-src 'none';")) << page().policy;
  EXPECT_EQ(page().policy.find("unsafe"), std::string::npos) << page().policy;
}

TEST_P(ServePageTest, LoadsNothingFromElsewhereAndRunsTheScriptAlone) {
  for (const char* pattern : {R"((\son\w+\s*=))", R"((\sstyle\s*=))", R"((javascript:))", R"((\ssrc\s*=))"})
    EXPECT_EQ(found_in(frame(), pattern), std::vector<std::string>()) << pattern;
  for (const std::string& address : found_in(frame(), "href=\"([^\"]*)\""))
    EXPECT_TRUE(address == "/openapi.json" || address == "data:,") << address;
  for (const char* pattern :
       {R"((https?:))", R"((url\())", R"((@import))", R"((\bimport\b))", R"((\beval\b))"})
    EXPECT_EQ(found_in(html(), pattern), std::vector<std::string>()) << pattern;
}

TEST_P(ServePageTest, MakesNoHtmlOfText) {
  for (const char* word : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "setHTML",
                           "srcdoc", "DOMParser", "createContextualFragment", "new Function", "execCommand"})
    EXPECT_EQ(script().find(word), std::string::npos) << word;
  EXPECT_EQ(script().find("<!--"), std::string::npos) << "changes how a script is read";
}

TEST_P(ServePageTest, HasEveryIdThatIsReferredToOnce) {
  const std::vector<std::string> ids = found_in(frame(), "\\sid=\"([^\"]*)\"");
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size()) << "a duplicate id";
  EXPECT_GT(ids.size(), 10U);
  std::vector<std::string> used = found_in(script(), R"re(\$\("([\w-]+)"\))re");
  EXPECT_GT(used.size(), 20U);
  for (const char* attribute : {"for", "aria-describedby", "aria-labelledby"})
    for (const std::string& id : found_in(frame(), "\\s" + std::string(attribute) + "=\"([^\"]*)\""))
      used.push_back(id);
  for (const std::string& id : used) EXPECT_NE(std::ranges::find(ids, id), ids.end()) << id;
}

TEST_P(ServePageTest, LabelsEveryControlAndSaysWhatHappens) {
  const std::vector<std::string> labelled = found_in(frame(), "<label\\b[^>]*\\sfor=\"([^\"]*)\"");
  const std::vector<std::string> controls =
      found_in(frame(), "<(?:input|select|textarea)\\b[^>]*\\sid=\"([^\"]*)\"");
  EXPECT_EQ(controls.size(), found_in(frame(), "<(input|select|textarea)\\b").size()) << "one has no id";
  EXPECT_EQ(std::set<std::string>(controls.begin(), controls.end()),
            std::set<std::string>(labelled.begin(), labelled.end()));
  EXPECT_NE(frame().find("id=\"state\" role=\"status\""), std::string::npos);
}

}  // namespace
}  // namespace encore::serve
