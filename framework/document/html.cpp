// SPDX-License-Identifier: BSD-3-Clause
// Implements html_files(), the HTML writer of `exp report`: writes the frame of the page, its sections and
// their numbers. Everything must be inside the one file: the policy of the page (content_policy.cpp) forbids
// loading. Read writers.hpp first; html_blocks.cpp writes the blocks inside a section, reports/report.html is
// the template.
#include "document/writers.hpp"

#include "document/escape.hpp"
#include "document/outline.hpp"
#include "document/palette.hpp"
#include "document/writer_parts.hpp"

namespace encore::document {

namespace {

/// Returns title, subtitle, and the facts of the title page.
std::string page_header(const Document& document) {
  std::string text = "<h1>" + html_line(document.title) + "</h1>\n";
  if (!document.subtitle.empty()) text += "<p class=\"subtitle\">" + html_line(document.subtitle) + "</p>\n";
  if (document.facts.empty()) return text;
  text += "<dl class=\"facts\">\n";
  for (const auto& [name, value] : document.facts)
    text += "<div><dt>" + html_line(name) + "</dt><dd>" + html_line(value) + "</dd></div>\n";
  return text + "</dl>\n";
}

std::string contents(const Document& document, const Outline& outline) {
  std::string text = "<ol>\n";
  if (!document.abstract.empty()) text += "<li><a href=\"#abstract\">Abstract</a></li>\n";
  for (const Section& section : document.sections) {
    const Anchor& anchor = outline.of(section);
    text += "<li><a href=\"#" + anchor.id + "\"><span class=\"number\">" + anchor.number + "</span> " +
            html_line(section.title) + "</a>";
    if (!section.sections.empty()) {
      text += "\n<ol>\n";
      for (const Section& inner : section.sections)
        text += "<li><a href=\"#" + outline.of(inner).id + "\"><span class=\"number\">" +
                outline.of(inner).number + "</span> " + html_line(inner.title) + "</a></li>\n";
      text += "</ol>\n";
    }
    text += "</li>\n";
  }
  return text + "</ol>\n";
}

std::string section_html(const Section& section, const Outline& outline, int level) {
  const Anchor& anchor = outline.of(section);
  const std::string heading = "h" + std::to_string(level);
  std::string text = "<section aria-labelledby=\"" + anchor.id + "\">\n<" + heading + " id=\"" + anchor.id +
                     "\"><span class=\"number\">" + anchor.number + "</span> " + html_line(section.title) +
                     "</" + heading + ">\n";
  text += html_blocks(section.blocks, outline);
  for (const Section& inner : section.sections) text += section_html(inner, outline, level + 1);
  return text + "</section>\n";
}

std::string body(const Document& document, const Outline& outline) {
  std::string text;
  if (!document.abstract.empty()) {
    text += "<section class=\"abstract\" aria-labelledby=\"abstract\">\n<h2 id=\"abstract\">Abstract</h2>\n";
    text += html_blocks(document.abstract, outline);
    text += "</section>\n";
  }
  for (const Section& section : document.sections) text += section_html(section, outline, 2);
  return text;
}

}  // namespace

std::vector<OutputFile> html_files(const Document& document, const Templates& templates,
                                   const std::string& name) {
  const Outline outline(document);
  const std::string style = fill(templates.find("report.css"), {{"light_colours", palette_css(Paper::light)},
                                                                {"dark_colours", palette_css(Paper::dark)}});
  const std::string script = templates.find("report.js").text;
  const Values values = {{"title", html_text(document.title)},
                         {"policy", content_policy(style, script)},
                         {"style", style},
                         {"script", script},
                         {"header", page_header(document)},
                         {"contents", contents(document, outline)},
                         {"body", body(document, outline)}};
  return {{name, fill(templates.find("report.html"), values, {"policy", "header", "body"})}};
}

}  // namespace encore::document
