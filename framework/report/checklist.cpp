// SPDX-License-Identifier: BSD-3-Clause
// Fills a checklist from the record and makes its document. report.cpp calls fill_checklist() in
// make_checklist(), because both need the data of a report. Only recorded facts may become answers. Read
// checklist.hpp first; checklist_items.cpp has the questions.
#include "report/checklist.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "report/checklist_items.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

ChecklistItem filled(const ListedItem& listed, const ReportData& data) {
  ChecklistItem item{.number = listed.number, .title = listed.title, .question = listed.question};
  for (const FactOf fact : listed.facts)
    if (const std::optional<ChecklistFact> found = fact(data)) {
      item.answers.push_back(found->text);
      for (const std::string& place : found->where)
        if (std::ranges::find(item.where, place) == item.where.end()) item.where.push_back(place);
    }
  item.person = listed.person;
  if (item.person.empty() && item.answers.empty())
    item.person = "Answer it; these runs record nothing about it.";
  return item;
}

std::string joined(const std::vector<std::string>& texts, const std::string& between) {
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : between) + one;
  return text;
}

document::TableBlock answer_table(const Checklist& checklist) {
  document::TableBlock table{
      .id = "answered",
      .caption = "Answers from the record of these runs, with their sources.",
      .columns = {{"item"}, {"asked"}, {"answer of the record"}, {"where"}, {"left for you"}},
      .rows = {}};
  for (const ChecklistItem& item : checklist.items)
    if (!item.answers.empty())
      table.rows.push_back({item.number + " " + item.title, item.question, joined(item.answers, " "),
                            joined(item.where, "; "),
                            item.person.empty() ? document::TableCell() : document::TableCell(item.person)});
  return table;
}

document::TableBlock person_table(const Checklist& checklist) {
  document::TableBlock table{.id = "person",
                             .caption = "Questions that no run answers.",
                             .columns = {{"item"}, {"asked"}, {"what to do"}},
                             .rows = {}};
  for (const ChecklistItem& item : checklist.items)
    if (item.answers.empty())
      table.rows.push_back({item.number + " " + item.title, item.question, item.person});
  return table;
}

}  // namespace

const std::vector<std::string>& checklist_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const ListOfItems& list : lists_of_items()) all.emplace_back(list.name);
    return all;
  }();
  return names;
}

void require_checklist(const std::string& name) {
  const std::vector<std::string>& names = checklist_names();
  if (std::ranges::find(names, name) == names.end())
    throw Error("invalid --checklist \"" + name + "\"" +
                did_you_mean(name, names, "; there are " + quoted_list(names)));
}

Checklist fill_checklist(const ReportData& data, const std::string& name) {
  require_checklist(name);
  const ListOfItems& list = *std::ranges::find(lists_of_items(), name,
                                               [](const ListOfItems& one) { return std::string(one.name); });
  Checklist checklist{
      .name = list.name, .title = list.title, .source = list.source, .subject = data.subject, .items = {}};
  for (const ListedItem& item : list.items) checklist.items.push_back(filled(item, data));
  return checklist;
}

std::size_t Checklist::answered() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(items, [](const ChecklistItem& item) { return !item.answers.empty(); }));
}

document::Document checklist_document(const Checklist& checklist) {
  document::Document document;
  document.title = checklist.title + ", for " + checklist.subject;
  document.subtitle = checklist.source;
  document.facts = {{"items", std::to_string(checklist.answered()) + " of " +
                                  std::to_string(checklist.items.size()) + " have an answer in the record"}};
  document.abstract = {document::Paragraph{
      "Questions are reworded: read the original list, and these answers, before you "
      "submit them. Sections are those of exp report of the same runs, tables those of the "
      "database."}};
  document::Section answered{
      .id = "record", .title = "What the record answers", .blocks = {answer_table(checklist)}};
  document::Section person{
      .id = "yours", .title = "What you have to answer", .blocks = {person_table(checklist)}};
  if (checklist.answered() > 0) document.sections.push_back(std::move(answered));
  if (checklist.answered() < checklist.items.size()) document.sections.push_back(std::move(person));
  return document;
}

}  // namespace encore::report
