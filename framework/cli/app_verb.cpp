// SPDX-License-Identifier: BSD-3-Clause
// exp app: the verb with the action new, which prints what a user's file holds, what is too small, and the
// next commands. app/app_from_file.cpp does it; help_verb.cpp lists the verb. Programs read the JSON: members
// keep their names. Read next: app/app_from_file.hpp.
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "app/app_from_file.hpp"
#include "base/readable_text.hpp"
#include "base/shell_word.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

constexpr std::size_t shown_classes = 8;  ///< of the most frequent ones, and of the rarest
constexpr std::size_t shown_columns = 20;

std::string percent_text(double share) {
  return fixed(100.0 * share, share < 0.1 ? 1 : 0) + " %";
}

/// Returns `"a", "b" and 3 more`.
std::string some(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i > 0 ? ", \"" : "\"") + names[i] + "\"";
  return names.size() > most
             ? text + " and " + thousands(std::ssize(names) - static_cast<std::int64_t>(most)) + " more"
             : text;
}

void print_columns(Console& console, const record::SurveyAnswer& survey) {
  Table table({{"COLUMN"},
               {"USE"},
               {"VALUES", Align::right},
               {"EMPTY", Align::right},
               {"WORDS", Align::right},
               {"EXAMPLE", Align::left, true}});
  for (const record::SurveyedColumn& column : survey.columns) {
    if (&column - survey.columns.data() == shown_columns) break;
    const bool is_text = column.name == survey.text.name, is_label = column.name == survey.label.name;
    table.add({column.name,
               is_text    ? "text"
               : is_label ? "label"
                          : "-",
               column.values ? thousands(*column.values) : "> 1,000", thousands(column.empty),
               fixed(column.words, 1), column.example});
  }
  table.print(console.out, console.terminal, 2);
  if (survey.columns.size() > shown_columns)
    console.out << "  and " << survey.columns.size() - shown_columns << " more columns\n";
  for (const auto& [role, chosen] : {std::pair("text", &survey.text), {"label", &survey.label}})
    console.out << "  " << role << "  \"" << chosen->name << "\": " << chosen->why << '\n';
}

void print_classes(Console& console, const record::SurveyedRecords& found) {
  Table table({{"CLASS"}, {"RECORDS", Align::right}, {"SHARE", Align::right}});
  const std::size_t all = found.classes.size();
  const bool cut = all > 2 * shown_classes;
  for (std::size_t i = 0; i < all; ++i) {
    if (cut && i >= shown_classes && i + shown_classes < all) {
      if (i == shown_classes)
        table.add({"(" + thousands(static_cast<std::int64_t>(all - 2 * shown_classes)) + " more)", "-", "-"});
      continue;
    }
    const record::SurveyedClass& one = found.classes[i];
    table.add({one.label, thousands(one.records),
               percent_text(static_cast<double>(one.records) / static_cast<double>(found.records))});
  }
  table.print(console.out, console.terminal, 2);
}

void print_examples(Console& console, const std::vector<record::RepeatedText>& examples) {
  for (const record::RepeatedText& one : examples)
    console.out << "    \"" << one.text << "\" " << counted(static_cast<std::size_t>(one.records), "time")
                << ": " << listed(one.labels) << '\n';
}

void print_findings(Console& console, const record::SurveyedRecords& found, const std::string& file) {
  if (found.invalid > 0) console.out << "  " << file << ": " << found.first_invalid << '\n';
  if (found.duplicates > 0)
    console.out << "  " << file << ": " << counted(static_cast<std::size_t>(found.duplicates), "record")
                << (found.duplicates == 1 ? " repeats" : " repeat")
                << " text and label of an earlier one; equal "
                << "records stay in one set\n";
  print_examples(console, found.duplicate_examples);
  if (found.conflicts > 0)
    console.out << "  " << file << ": " << counted(static_cast<std::size_t>(found.conflicts), "text")
                << (found.conflicts == 1 ? " has" : " have") << " several labels; correct the wrong ones\n";
  print_examples(console, found.conflict_examples);
}

void print_test(Console& console, const app::AppNewRequest& request, const record::SurveyedTest& test) {
  console.out << *request.test << ": " << counted(static_cast<std::size_t>(test.found.records), "record")
              << '\n';
  print_findings(console, test.found, *request.test);
  if (test.leaks > 0)
    console.out << "  leak: " << counted(static_cast<std::size_t>(test.leaks), "record") << " of "
                << *request.test << (test.leaks == 1 ? " is" : " are") << " also in " << request.from
                << ", so the measures of the test set are too good; remove them from one file\n";
  print_examples(console, test.leak_examples);
  if (!test.unknown_classes.empty())
    console.out << "  " << *request.test << " has classes that " << request.from
                << " lacks, which are always wrong: " << some(test.unknown_classes, shown_classes) << '\n';
}

void print_shares(Console& console, const app::AppNewRequest& request, const app::AppFromFile& made) {
  const double records = static_cast<double>(made.survey.found->records);
  const auto about = [&](double share) {
    return "about " + thousands(std::llround(share * records)) + " records (" + percent_text(share) + ")";
  };
  console.out << "split by content\n  model    " << about(made.shares.model()) << "\n  fit      "
              << about(made.shares.fit) << '\n';
  if (made.shares.test > 0.0) console.out << "  test     " << about(made.shares.test) << '\n';
  const app::PromiseSize& promise = made.promise;
  const std::string wanted = "an error of at most " + percent_text(request.error);
  console.out << "  promise  " << thousands(promise.bound) << " of the fit test the thresholds: ";
  if (promise.most_errors < 0)
    console.out << "too few to promise " << wanted << ", which needs " << thousands(promise.least_bound)
                << " answers without a mistake; every request will go to a person. Add records ("
                << thousands(made.comfortable) << " in the fit are comfortable), or give a larger --error\n";
  else
    console.out << wanted << " holds with at most "
                << counted(static_cast<std::size_t>(promise.most_errors), "mistake") << " if all are answered"
                << (promise.records < made.comfortable
                        ? "; " + thousands(made.comfortable) + " records in the fit are comfortable"
                        : "")
                << '\n';
  if (!made.small_classes.empty())
    console.out << "  " << counted(made.small_classes.size(), "class", "classes") << " with fewer than "
                << app::least_of_class
                << " records can hardly be learned: " << some(made.small_classes, shown_classes)
                << "; add records or merge classes\n";
}

void print_out_of_scope(Console& console, const app::AppFromFile& made) {
  if (!made.likely_out_of_scope.empty())
    console.out << "  class \"" << made.likely_out_of_scope
                << "\": if its requests belong to no class, set out_of_scope in app.toml\n";
}

void print_next(Console& console, const app::AppNewRequest& request, const app::AppFromFile& made) {
  console.out << "made " << made.folder.string() << '\n';
  for (const std::string& file : made.files) console.out << "  " << (made.folder / file).string() << '\n';
  const std::string ending = std::filesystem::path(request.from).extension().string();
  const std::string input = "new" + ending, output = "answered" + ending;
  console.out << "next\n  " << console.suggestion({"run", (made.folder / "app.toml").string()}) << "\n  "
              << console.suggestion(
                     {"predict", request.name, "--file", input, "--format", made.survey.reader, "-o", output})
              << "\n  " << console.suggestion({"serve", request.name}) << '\n';
}

nlohmann::ordered_json json_of(const app::AppFromFile& made) {
  const app::PromiseSize& promise = made.promise;
  nlohmann::ordered_json json = {{"version", 1},
                                 {"found", to_json_object<nlohmann::ordered_json>(made.survey)}};
  if (!made.undecided.empty()) {
    json["undecided"] = made.undecided;
    return json;
  }
  json["split"] = {{"train", made.shares.train},
                   {"selection", made.shares.checkpoint},
                   {"fit", made.shares.fit},
                   {"test", made.shares.test}};
  json["promise"] = {{"records", promise.records},
                     {"bound", promise.bound},
                     {"most_errors", promise.most_errors},
                     {"least_bound", promise.least_bound},
                     {"comfortable", made.comfortable}};
  json["small_classes"] = made.small_classes;
  json["likely_out_of_scope"] = made.likely_out_of_scope;
  json["folder"] = made.folder.string();
  json["files"] = made.files;
  return json;
}

int app_new_action(const app::AppNewRequest& request, app::App& app, Console& console) {
  const app::AppFromFile made = app::app_from_file(request, app);
  if (request.json) console.print(json_of(made));
  if (!made.undecided.empty()) throw app::UsageError(made.undecided);
  if (request.json) return exit_done;
  const record::SurveyAnswer& survey = made.survey;
  console.out << request.from << ": " << counted(static_cast<std::size_t>(survey.found->records), "record")
              << ", " << counted(survey.found->classes.size(), "class", "classes") << '\n';
  print_columns(console, survey);
  print_classes(console, *survey.found);
  print_findings(console, *survey.found, request.from);
  if (survey.test) print_test(console, request, *survey.test);
  print_shares(console, request, made);
  print_out_of_scope(console, made);
  print_next(console, request, made);
  return exit_done;
}

}  // namespace

Verb app_new() {
  return make_verb("new", "make an application from your own file of labelled text", app::app_new_form,
                   app_new_action);
}

Verb app_verb() {
  return make_verb_of_actions("app", "make an application from your own file",
                              "an application answers, reviews or refuses requests with a stated error",
                              {app_new()});
}

}  // namespace encore::cli
