// report: what the database knows of a run, a sweep or everything, as a document in one of several formats.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/terminal_filter.hpp"
#include "cli/access.hpp"
#include "cli/report_formats.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "report/checklist.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"
#include "world/atomic_file.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

/// ".html, .md"
std::string endings() {
  std::string list;
  for (const ReportFormat& format : report_formats())
    list += (list.empty() ? "" : ", ") + format.extensions.front();
  return list;
}

/// "html, md"
std::string formats() {
  std::string list;
  for (const ReportFormat& format : report_formats()) list += (list.empty() ? "" : ", ") + format.name;
  return list;
}

/// "a, b, c"
std::string listed_words(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

CommandLine make_report_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "report", {"report [RUN...] -o FILE [options]",
                 "Writes a document about a run, a sweep or all runs, made from the database alone: what was "
                 "asked and the answer with its uncertainty, all trials, curves, what each parameter "
                 "explains, examples, the method, the environment, and how to do it again. Equal databases "
                 "give equal bytes. The name of the file says the format. Without RUN all runs are meant.",
                 {{"exp report quickstart -o report.html", "of a run, or of all runs of a sweep"},
                  {"exp report quickstart --metric dev/f1 --format json",
                   "about another score, to the standard output"},
                  {"exp report quickstart --brief -o brief.html",
                   "two pages: the answer, one table, one picture, how to do it again"},
                  {"exp report quickstart --without examples,code -o report.md",
                   "without sentences of the data and without uncommitted changes"},
                  {"exp report quickstart -o tables.csv", "each table as a file in the folder tables"},
                  {"exp report quickstart --checklist neurips",
                   "what the record answers of the checklist of a venue, and what is left for you"},
                  {"exp report all --against quickstart -o beside.tex",
                   "all runs, with older ones beside them; a date puts those finished before it there"}}});
  line.options()("output,o", po::value<std::string>()->value_name("FILE"),
                 ("the file to write: " + endings()).c_str());
  line.options()("format", po::value<std::string>()->value_name("NAME"),
                 (formats() + ", where the name of the file does not say it").c_str());
  line.options()("template", po::value<std::string>()->value_name("FILE"),
                 "a template or a folder of templates of your own");
  line.options()("table", po::value<std::string>()->value_name("ID"), "of csv: this table alone");
  line.options()("brief", po::bool_switch(),
                 "two pages: abstract, one table, one picture, how to do it again");
  line.options()("sections", po::value<std::string>()->value_name("A,B"),
                 ("only these: " + listed_words(report_sections())).c_str());
  line.options()("without", po::value<std::string>()->value_name("A,B"),
                 "all but these. Examples are left out by themselves where [data] private = true, unless "
                 "--sections names them");
  line.options()(
      "metric", po::value<std::string>()->value_name("NAME"),
      "what the report is about: split/measure (default: the measure that chooses checkpoints, on test)");
  line.options()("against", po::value<std::string>()->value_name("OLD"),
                 "put other runs beside these: a run, a sweep, or a date such as 2026-11-01 (UTC)");
  line.options()("checklist", po::value<std::string>()->value_name("LIST"),
                 ("in place of the report: the checklist of a venue, as far as the record answers it: " +
                  listed_words(checklist_names()))
                     .c_str());
  line.options()("json", po::bool_switch(), "of a checklist: as JSON, item by item");
  line.options()("pool", po::bool_switch(),
                 "runs that differ in plugin files or numeric environments are one candidate too");
  add_run_arguments(line);
  return line;
}

/// Rows of a table for which two pages have room.
constexpr std::size_t most_brief_rows = 12;

/// "a,b" and " a, b": the words between the commas.
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

/// The first file refers to the others, so it is there last.
void write(const std::vector<OutputFile>& files, const fs::path& folder) {
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const fs::path path = folder / file->path;
    make_folder(path.parent_path());
    save_file(path, file->bytes);
  }
}

/// "a.html"; "tables: 12 files"; "a.md, and 14 files in a.files"
std::string places(const std::vector<OutputFile>& files, const fs::path& folder) {
  const std::string first = (folder / files.front().path).string();
  if (files.size() == 1) return first;
  const std::string others = (folder / files.back().path).parent_path().string();
  if (files.front().path.has_parent_path()) return others + ": " + std::to_string(files.size()) + " files";
  return first + ", and " + counted(files.size() - 1, "file") + " in " + others;
}

/// Files of the same kind that an earlier report has left among those of this one.
std::vector<std::string> left_over(const std::vector<OutputFile>& files, const fs::path& folder) {
  std::vector<std::string> names;
  if (files.size() == 1) return names;
  std::set<fs::path> own;
  for (const OutputFile& file : files) own.insert(folder / file.path);
  const fs::path& last = files.back().path;
  for (const auto& entry : fs::directory_iterator(folder / last.parent_path()))
    if (entry.path().extension() == last.extension() && !own.contains(entry.path()))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void refuse_with_checklist(const CommandLine& line) {
  if (line.flag("json") && !line.has("checklist"))
    throw UsageError("--json is for --checklist; a report is written as JSON with --format json");
  if (!line.has("checklist")) return;
  for (const char* option : {"against", "sections", "without"})
    if (line.has(option)) throw UsageError(std::string("--checklist has no --") + option);
  if (line.flag("brief")) throw UsageError("--checklist has no --brief");
}

void print_json(const Checklist& checklist) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const ChecklistItem& item : checklist.items)
    items.push_back({{"number", item.number},
                     {"title", item.title},
                     {"question", item.question},
                     {"answers", item.answers},
                     {"where", item.where},
                     {"person", item.person}});
  std::cout << nlohmann::ordered_json{{"checklist", checklist.name},
                                      {"title", checklist.title},
                                      {"source", checklist.source},
                                      {"subject", checklist.subject},
                                      {"items", items}}
                   .dump(2)
            << '\n';
}

}  // namespace

int report_verb(const Arguments& arguments) {
  CommandLine line = make_report_line();
  if (!line.parse(arguments)) return exit_done;
  refuse_with_checklist(line);
  fs::path output = line.text("output");
  if (output.empty() && !line.has("format") && !line.has("checklist"))
    throw UsageError(
        "exp report needs -o with a file to write, such as report.html (exp report -h shows examples)");
  // A checklist is read in the terminal too.
  const bool plain = line.has("checklist") && output.empty() && !line.has("format");
  const ReportFormat& format = find_report_format(plain ? "md" : line.text("format"), output);
  for (const char* option : {"metric", "against", "template", "table", "sections", "without"})
    if (line.has(option) && line.text(option).empty())
      throw UsageError(std::string("--") + option + " is empty");

  if (line.flag("brief") && line.has("sections"))
    throw UsageError("--brief and --sections exclude each other: --brief chooses what two pages hold");
  if (line.flag("brief") && line.has("against"))
    throw UsageError("--brief has no room for --against; leave one of them out");

  if (!output.has_filename()) output = output.parent_path();
  if (!format.tabular && fs::is_directory(output))
    throw UsageError("-o " + output.string() + " is a folder; name a file in it, such as " +
                     (output / "report").string() + format.extensions.front());
  const fs::path name = output.empty() ? fs::path("report") += format.extensions.front() : output.filename();
  const ReportShape shape{name.string(), line.text("template"), line.text("table")};
  require_fitting(format, shape);
  std::error_code other;
  if (!shape.templates.empty() && fs::equivalent(output, shape.templates, other))
    throw UsageError("-o " + output.string() + " is the template itself; give another file");

  ReportOptions options;
  options.runs = selection_from(line);
  options.metric = line.text("metric");
  options.against = line.text("against");
  options.pool = line.flag("pool");
  options.brief = line.flag("brief");
  options.sections = words_of(line.text("sections"));
  options.without = words_of(line.text("without"));
  if (options.brief) options.most_rows = most_brief_rows;
  if (format.complete) options.most_rows = 0;
  Store store(line.database(), OpenMode::read);
  std::optional<Checklist> checklist;
  if (line.has("checklist")) checklist = make_checklist(store, options, line.text("checklist"));
  if (line.flag("json")) {
    print_json(*checklist);
    return exit_done;
  }
  const Document document = checklist ? checklist_document(*checklist) : make_report(store, options);
  const std::vector<OutputFile> files = format.write(document, shape);
  if (output.empty()) {
    if (files.size() > 1)
      throw UsageError(format.name + " is written as " + std::to_string(files.size()) +
                       " files; name a place with -o" +
                       (format.tabular ? ", or one table with --table" : ""));
    if (::isatty(STDOUT_FILENO) == 0) pass_all(std::cout);  // what a file or a program gets is data
    std::cout << files.front().bytes;
    return exit_done;
  }
  write(files, output.parent_path());
  std::cout << document.title << " (" << document.facts.front().second << ") written to "
            << places(files, output.parent_path()) << '\n';
  const std::vector<std::string> others = left_over(files, output.parent_path());
  if (!others.empty()) std::cout << "  also there, not of this report: " << listed(others) << '\n';
  return exit_done;
}

}  // namespace encore
