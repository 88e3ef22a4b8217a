// report: what the database knows of a run, a sweep or everything, as a document in one of several formats.
#include <iostream>

#include "cli/access.hpp"
#include "cli/report_formats.hpp"
#include "cli/verbs.hpp"
#include "record/atomic_file.hpp"
#include "report/report.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

CommandLine make_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "report",
      {"report [RUN|SWEEP|all] -o FILE [options]",
       "Writes a document about a run, a sweep or all runs, made from the database alone: what was asked and "
       "the answer\n"
       "with its uncertainty, all trials, curves, what each parameter explains, examples, the method, the "
       "environment,\n"
       "and how to do it again. Equal databases give equal bytes. The name of the file says the format.",
       {{"exp report quickstart -o report.json", "of a run, or of all runs of a sweep"},
        {"exp report quickstart --metric dev/f1 --format json",
         "about another score, to the standard output"},
        {"exp report all --against quickstart -o beside.json",
         "all runs, with older ones beside them; a date puts those finished before it there"}}});
  line.options()("output,o", po::value<std::string>()->value_name("FILE"), "the file to write");
  line.options()("format", po::value<std::string>()->value_name("NAME"),
                 "the format, where the name of the file does not say it");
  line.options()("template", po::value<std::string>()->value_name("FILE"),
                 "a template or a folder of templates of your own");
  line.options()("metric", po::value<std::string>()->value_name("NAME"),
                 "what the report is about: split/measure (default: test/f1, else what chooses checkpoints)");
  line.options()("against", po::value<std::string>()->value_name("OLD"),
                 "put other runs beside these: a run, a sweep, or a date such as 2026-11-01 (UTC)");
  line.positional("runs", -1);
  return line;
}

void write(const std::vector<OutputFile>& files, const fs::path& output) {
  const fs::path folder = output.parent_path();
  if (!folder.empty()) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) throw Error(system_message("make the folder", folder, failure.value()));
  }
  for (const OutputFile& file : files) {
    const fs::path path = folder / file.path;
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    save_file(path, file.bytes);
  }
}

}  // namespace

int report_verb(const Arguments& arguments) {
  CommandLine line = make_line();
  if (!line.parse(arguments)) return exit_done;
  const fs::path output = line.text("output");
  if (output.empty() && !line.has("format"))
    throw UsageError(
        "exp report needs -o with a file to write, such as report.html (exp report -h shows examples)");
  const ReportFormat& format = find_report_format(line.text("format"), output);
  if (line.has("template") && !format.templated)
    throw UsageError("--template is for formats that people read; " + format.name + " has none");
  for (const char* option : {"metric", "against", "template"})
    if (line.has(option) && line.text(option).empty())
      throw UsageError(std::string("--") + option + " is empty");

  ReportOptions options;
  options.words = line.texts("runs");
  options.metric = line.text("metric");
  options.against = line.text("against");
  if (format.complete) options.most_rows = 0;
  Store store(line.database(), OpenMode::read);
  const Document document = make_report(store, options);
  const fs::path name = output.empty() ? fs::path("report") += format.extensions.front() : output.filename();
  const std::vector<OutputFile> files = format.write(document, name.string(), line.text("template"));
  if (output.empty()) {
    if (files.size() > 1)
      throw UsageError(format.name + " is written as " + std::to_string(files.size()) +
                       " files; name a place with -o");
    std::cout << files.front().bytes;
    return exit_done;
  }
  write(files, output);
  std::cout << document.title << " (" << document.facts.front().second << ") written to " << output.string()
            << (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " files beside it" : "")
            << '\n';
  return exit_done;
}

}  // namespace encore
