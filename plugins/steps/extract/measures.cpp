// SPDX-License-Identifier: BSD-3-Clause
// The measures of the step "extract", and what each document adds to them. The manifest of the plugin and
// every run have the list; files of predictions have the columns, so names never change. extract.cpp has the
// other functions of the class.
#include <algorithm>
#include <cstddef>
#include <map>

#include "extract.hpp"

namespace encore::extract {
namespace {

Measure measure_of(const char* name, const char* title, const char* help, Better better, Reducer reducer,
                   std::vector<std::string> columns, bool always = true) {
  return {.name = name,
          .title = title,
          .help = help,
          .fraction = true,
          .better = better,
          .reducer = reducer,
          .columns = std::move(columns),
          .always = always};
}

/// Adds the values of the fields of one document, by the name of the field.
void add_fields(const Document& given, const Document& truth, Statistics& statistics) {
  std::map<std::string, std::pair<const Field*, const Field*>> fields;
  for (const Field& field : given.fields) fields[field.rule.name].first = &field;
  for (const Field& field : truth.fields) fields[field.rule.name].second = &field;
  for (const auto& [name, both] : fields) {
    const bool is_found = both.first != nullptr && both.first->found,
               is_true = both.second != nullptr && both.second->found;
    if (is_found) statistics.add("found_fields", 1.0, name);
    if (is_true) statistics.add("true_fields", 1.0, name);
    if (is_found && is_true && is_right(both.first->found, both.second->found))
      statistics.add("right_fields", 1.0, name);
  }
}

/// Returns the groups of a name; none if documents of this type do not have it.
std::vector<Group> groups_of(const Document& document, const Rules& rules, const std::string& name) {
  for (std::size_t g = 0; g < rules.groups.size(); ++g)
    if (rules.groups[g].name == name) return document.groups[g];
  return {};
}

/// Adds the groups of one rule. A true group makes at most one given group right.
void add_groups(const std::string& name, const std::vector<Group>& given, const std::vector<Group>& truth,
                Statistics& statistics) {
  std::vector<bool> is_taken(truth.size(), false);
  for (const Group& group : given) {
    statistics.add("found_groups", 1.0, name);
    for (std::size_t i = 0; i < truth.size(); ++i)
      if (!is_taken[i] && is_right(group, truth[i])) {
        is_taken[i] = true;
        statistics.add("right_groups", 1.0, name);
        break;
      }
  }
  for (std::size_t i = 0; i < truth.size(); ++i) statistics.add("true_groups", 1.0, name);
}

}  // namespace

std::vector<Measure> Extract::measures() {
  return {measure_of("f1", "F1",
                     "F1 of the values of all fields; a value is right if its normal form is the true one",
                     Better::higher, Reducer::harmonic_mean, {"right_fields", "found_fields", "true_fields"}),
          measure_of("precision", "Precision", "share of the values that are right", Better::higher,
                     Reducer::ratio, {"right_fields", "found_fields"}),
          measure_of("recall", "Recall", "share of the true values that are found", Better::higher,
                     Reducer::ratio, {"right_fields", "true_fields"}),
          measure_of("f1/{label}", "F1", "F1 of the values of one field", Better::higher,
                     Reducer::harmonic_mean, {"right_fields", "found_fields", "true_fields"}),
          measure_of("group_f1", "F1 of groups", "F1 of groups; a group is right if all its members are",
                     Better::higher, Reducer::harmonic_mean, {"right_groups", "found_groups", "true_groups"},
                     false),
          measure_of("documents", "Documents, right",
                     "share of the documents of which all fields and groups are right", Better::higher,
                     Reducer::ratio, {"right_documents", "documents"}),
          measure_of("approved", "Approved", "share of the documents that are approved automatically",
                     Better::higher, Reducer::ratio, {"approved", "documents"}),
          measure_of("error", "Error",
                     "share of the approved documents that have a wrong, missing or needless value",
                     Better::lower, Reducer::ratio, {"wrong_approved", "approved"}, false),
          measure_of("flagged", "Flagged",
                     "share of the documents whose true values fail a check that are not approved",
                     Better::higher, Reducer::ratio, {"flagged", "failing"}, false),
          measure_of("type_accuracy", "Type", "share of the documents whose type is right", Better::higher,
                     Reducer::ratio, {"right_types", "typed_documents"}, false)};
}

void Extract::measure(const Records& records, const Records& given, Statistics& statistics) const {
  const std::vector<Document> documents = documents_in(records), truths = truths_in(records);
  const Records::Texts& bands = given.texts(band_field);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    statistics.begin_example();
    const Document &document = documents[i], &truth = truths[i];
    add_fields(document, truth, statistics);
    for (const GroupRule& rule : rules_.all.groups)
      add_groups(rule.name, groups_of(document, rules_of(document), rule.name),
                 groups_of(truth, rules_of(truth), rule.name), statistics);
    const bool is_all_right = is_right(document, truth), is_approved = bands[i] == "answer";
    statistics.add("documents", 1.0);
    statistics.add("right_documents", is_all_right ? 1.0 : 0.0);
    statistics.add("approved", is_approved ? 1.0 : 0.0);
    if (is_approved) statistics.add("wrong_approved", is_all_right ? 0.0 : 1.0);
    if (has_true_types()) {
      statistics.add("typed_documents", 1.0);
      statistics.add("right_types", document.type->name == truth.type->name ? 1.0 : 0.0);
    }
    if (failures_of(truth, rules_of(truth)).empty()) continue;
    statistics.add("failing", 1.0);
    statistics.add("flagged", is_approved ? 0.0 : 1.0);
  }
}

}  // namespace encore::extract
