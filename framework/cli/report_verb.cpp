// SPDX-License-Identifier: BSD-3-Clause
// exp report: writes a document about a run, a sweep or all runs, in one of several formats
// (report_formats.hpp). report/report.hpp makes the document. It is linked into the program exp-report,
// which exp becomes for this verb (report_main.cpp). Equal databases must give equal bytes, so nothing of
// the present (time, host, user) may get into a file.
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/document_requests.hpp"
#include "base/terminal_filter.hpp"
#include "cli/components.hpp"
#include "cli/report_formats.hpp"
#include "report/checklist.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"
#include "world/atomic_file.hpp"

namespace encore::cli {

namespace {

namespace fs = std::filesystem;

/// The number of rows of a table that fit into two pages.
constexpr std::size_t most_brief_rows = 12;

/// Returns the words between the commas of "a,b" or " a, b".
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    const std::size_t first = word.find_first_not_of(' ');
    if (first != std::string::npos)
      words.push_back(word.substr(first, word.find_last_not_of(' ') - first + 1));
  }
  return words;
}

/// Writes the files, the first one last, because it refers to the others.
void write(const std::vector<document::OutputFile>& files, const fs::path& folder) {
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const fs::path path = folder / file->path;
    world::make_folder(path.parent_path());
    world::save_file(path, file->bytes);
  }
}

/// Returns, for example, "a.html", "tables: 12 files" or "a.md, and 14 files in a.files".
std::string places(const std::vector<document::OutputFile>& files, const fs::path& folder) {
  const std::string first = (folder / files.front().path).string();
  if (files.size() == 1) return first;
  const std::string others = (folder / files.back().path).parent_path().string();
  if (files.front().path.has_parent_path()) return others + ": " + std::to_string(files.size()) + " files";
  return first + ", and " + counted(files.size() - 1, "file") + " in " + others;
}

/// Returns files of an earlier report among those of this one.
std::vector<std::string> left_over(const std::vector<document::OutputFile>& files, const fs::path& folder) {
  std::vector<std::string> names;
  if (files.size() == 1) return names;
  std::set<fs::path> own;
  for (const document::OutputFile& file : files) own.insert(folder / file.path);
  const fs::path& last = files.back().path;
  for (const auto& entry : fs::directory_iterator(folder / last.parent_path()))
    if (entry.path().extension() == last.extension() && !own.contains(entry.path()))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

nlohmann::ordered_json json_of(const report::Checklist& checklist) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const report::ChecklistItem& item : checklist.items)
    items.push_back({{"number", item.number},
                     {"title", item.title},
                     {"question", item.question},
                     {"answers", item.answers},
                     {"where", item.where},
                     {"person", item.person}});
  return {{"checklist", checklist.name},
          {"title", checklist.title},
          {"source", checklist.source},
          {"subject", checklist.subject},
          {"items", items}};
}

int report(const app::ReportRequest& request, app::App& app, Console& console) {
  fs::path output = request.output;
  // A checklist alone is printed as text, because people read it in the terminal.
  const bool plain = request.checklist && output.empty() && !request.format;
  const ReportFormat& format = find_report_format(plain ? "md" : request.format.value_or(""), output);
  if (!output.has_filename()) output = output.parent_path();
  if (!format.tabular && fs::is_directory(output))
    throw app::UsageError("-o " + output.string() + " is a folder; name a file in it, such as " +
                          (output / "report").string() + format.extensions.front());
  const fs::path name = output.empty() ? fs::path("report") += format.extensions.front() : output.filename();
  const ReportShape shape{name.string(), request.templates.value_or(""), request.table.value_or("")};
  require_fitting(format, shape);
  std::error_code other;
  if (!shape.templates.empty() && fs::equivalent(output, shape.templates, other))
    throw app::UsageError("-o " + output.string() + " is the template itself; choose another file");

  report::ReportOptions options;
  options.runs = app::selection_from(request.selection);
  options.metric = request.metric.value_or("");
  options.against = request.against.value_or("");
  options.pool = request.pool;
  options.brief = request.brief;
  options.sections = words_of(request.sections.value_or(""));
  options.without = words_of(request.without.value_or(""));
  if (options.brief) options.most_rows = most_brief_rows;
  if (format.complete) options.most_rows = 0;
  store::Store store(app.database, store::OpenMode::read);
  std::optional<report::Checklist> checklist;
  if (request.checklist) checklist = report::make_checklist(store, options, *request.checklist);
  if (request.json) {
    console.print(json_of(*checklist));
    return exit_done;
  }
  const document::Document document =
      checklist ? report::checklist_document(*checklist) : report::make_report(store, options);
  const std::vector<document::OutputFile> files = format.write(document, shape);
  if (output.empty()) {
    if (files.size() > 1)
      throw app::UsageError(format.name + " is written as " + std::to_string(files.size()) +
                            " files; choose a folder with -o" +
                            (format.tabular ? ", or one table with --table" : ""));
    if (::isatty(STDOUT_FILENO) == 0) pass_all(console.out);  // a file or a program gets unfiltered bytes
    console.out << files.front().bytes;
    return exit_done;
  }
  write(files, output.parent_path());
  console.out << document.title << " (" << document.facts.front().second << ") written to "
              << places(files, output.parent_path()) << '\n';
  const std::vector<std::string> others = left_over(files, output.parent_path());
  if (!others.empty()) console.out << " from an earlier report: " << listed(others) << '\n';
  return exit_done;
}

}  // namespace

Verb report_of_component() {
  return make_verb("report", "", app::report_form, report);
}

}  // namespace encore::cli
