// SPDX-License-Identifier: BSD-3-Clause
// Implements SectionChoice: finds sections by name, also nested ones, and removes links to those that were
// left out. report.cpp calls it. A new section needs a row in names(). Users write these names (--sections,
// --without), so they stay. Read section_choice.hpp first.
#include "report/section_choice.hpp"

#include <algorithm>
#include <set>

#include "base/nearest.hpp"

namespace encore::report {

namespace {

/// The name of a section for users, its id in the document, and the name of the section that holds it.
struct Name {
  std::string name, id, parent = {};
};

const std::vector<Name>& names() {
  static const std::vector<Name> list = {{"abstract", "abstract"},
                                         {"results", "results"},
                                         {"measures", "measures", "results"},
                                         {"classes", "classes", "results"},
                                         {"calibration", "calibration", "results"},
                                         {"trials", "trials-section", "results"},
                                         {"against", "against"},
                                         {"curves", "curves"},
                                         {"searches", "searches"},
                                         {"parameters", "sweep"},
                                         {"examples", "examples"},
                                         {"attention", "attention"},
                                         {"service", "service"},
                                         {"method", "method"},
                                         {"model", "model", "method"},
                                         {"training", "training", "method"},
                                         {"steps", "steps", "method"},
                                         {"data", "data", "method"},
                                         {"settings", "settings", "method"},
                                         {"environment", "environment"},
                                         {"code", "code", "environment"},
                                         {"machines", "machines", "environment"},
                                         {"compute", "compute", "environment"},
                                         {"reproduction", "reproduction"},
                                         {"commands", "commands", "reproduction"},
                                         {"digests", "digests", "reproduction"},
                                         {"not-recorded", "not-recorded", "reproduction"}};
  return list;
}

std::vector<std::string> ids_of(const std::vector<std::string>& given) {
  std::vector<std::string> ids;
  for (const std::string& word : given) {
    const auto found =
        std::find_if(names().begin(), names().end(), [&](const Name& name) { return name.name == word; });
    if (found == names().end())
      throw Error("a report has no section \"" + word + "\"" +
                  did_you_mean(word, report_sections(), "; there are " + quoted_list(report_sections())));
    ids.push_back(found->id);
  }
  return ids;
}

bool holds(const std::vector<std::string>& list, const std::string& id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

// --- references ---

void collect_ids(const std::vector<document::Block>& blocks, std::set<std::string>& ids) {
  for (const document::Block& block : blocks) {
    if (const auto* table = std::get_if<document::TableBlock>(&block)) ids.insert(table->id);
    if (const auto* figure = std::get_if<document::Figure>(&block)) ids.insert(figure->id);
  }
}

void collect_ids(const document::Section& section, std::set<std::string>& ids) {
  ids.insert(section.id);
  collect_ids(section.blocks, ids);
  for (const document::Section& inner : section.sections) collect_ids(inner, ids);
}

class Unlinker {
 public:
  explicit Unlinker(std::set<std::string> ids) : ids_(std::move(ids)) {}

  void operator()(document::Text& text) const {
    for (document::Span& span : text.spans)
      if (span.kind == document::Span::Kind::reference && !ids_.contains(span.target))
        span = {(span.text.empty() ? "a section" : span.text) + " (left out here)"};
  }
  void operator()(document::Paragraph& paragraph) const { (*this)(paragraph.text); }
  void operator()(document::Notice& notice) const { (*this)(notice.text); }
  void operator()(document::ItemList& list) const {
    for (document::Text& item : list.items) (*this)(item);
  }
  void operator()(document::Listing&) const {}
  void operator()(document::Figure& figure) const { (*this)(figure.caption); }
  void operator()(document::TableBlock& table) const {
    (*this)(table.caption);
    for (auto& row : table.rows)
      for (document::TableCell& cell : row) (*this)(cell.text);
    for (document::Text& note : table.notes) (*this)(note);
  }
  void operator()(std::vector<document::Block>& blocks) const {
    for (document::Block& block : blocks) std::visit(*this, block);
  }
  void operator()(document::Section& section) const {
    (*this)(section.blocks);
    for (document::Section& inner : section.sections) (*this)(inner);
  }

 private:
  std::set<std::string> ids_;
};

}  // namespace

const std::vector<std::string>& report_sections() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> found;
    for (const Name& name : names()) found.push_back(name.name);
    return found;
  }();
  return list;
}

SectionChoice::SectionChoice(const ReportOptions& options)
    : wanted_(ids_of(options.sections)), unwanted_(ids_of(options.without)) {}

bool SectionChoice::named(const std::string& id) const {
  return wanted_.empty() || holds(wanted_, id);
}

bool SectionChoice::refused(const std::string& id) const {
  return holds(unwanted_, id);
}

bool SectionChoice::has_abstract() const {
  return named("abstract") && !refused("abstract");
}

bool SectionChoice::wants(const std::string& id) const {
  if (refused(id)) return false;
  return named(id) || std::any_of(names().begin(), names().end(), [&](const Name& name) {
           return name.parent == id && holds(wanted_, name.id) && !refused(name.id);
         });
}

void SectionChoice::apply(document::Section& section) const {
  const bool whole = named(section.id);
  if (!whole) section.blocks.clear();
  std::erase_if(section.sections, [&](const document::Section& inner) {
    return refused(inner.id) || (!whole && !holds(wanted_, inner.id));
  });
}

void unlink_missing(document::Document& document) {
  std::set<std::string> ids;
  collect_ids(document.abstract, ids);
  for (const document::Section& section : document.sections) collect_ids(section, ids);
  const Unlinker unlink(std::move(ids));
  unlink(document.abstract);
  for (document::Section& section : document.sections) unlink(section);
}

}  // namespace encore::report
