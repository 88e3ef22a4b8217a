// SPDX-License-Identifier: BSD-3-Clause
// The reader "parallel": reads two files line by line into pairs of source and target. parallel_plugin.cpp
// registers it. The worker calls read() for data sets (tasks/read_set.cpp) and the other functions for `exp
// predict`. Runs repeat only if equal files give equal records. Read parallel.hpp first.
#include "parallel.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <encore/lines.hpp>

#include "line_checks.hpp"
#include "line_text.hpp"
#include "row_problems.hpp"

namespace encore::parallel {
namespace {

std::string_view without_mark(std::string_view text) {
  while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

std::vector<std::string_view> lines_of(const InputText& file, std::vector<std::string>& notes) {
  std::vector<std::string_view> all;
  Lines lines(without_mark(file.text));
  while (lines.next()) all.push_back(trimmed(lines.line()));
  add_stray_returns(notes, file.name, lines.stray_returns());
  return all;
}

std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  return text;
}

/// The records read so far, and what is wrong with lines.
struct Taken {
  Records::Texts sources = {}, targets = {};
  RowProblems problems = {};
  std::int64_t rows = 0;
  std::vector<std::string> notes = {};
};

void read_pair(const InputText& source, const InputText& target, Taken& taken) {
  const std::vector<std::string_view> sources = lines_of(source, taken.notes),
                                      targets = lines_of(target, taken.notes);
  if (sources.size() != targets.size())
    throw Error(source.name + " has " + counted(std::ssize(sources), "line", "lines") + " and " +
                target.name + " has " + std::to_string(targets.size()) +
                "; line i of one belongs to line i of the other, so both need the same number");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ++taken.rows;
    const auto line = static_cast<std::int64_t>(i) + 1;
    if (sources[i].empty() && targets[i].empty())
      taken.problems.add(source.name, line, "this line is empty, and so is that of " + target.name);
    else if (sources[i].empty())
      taken.problems.add(source.name, line, "this line is empty, but that of " + target.name + " is not");
    else if (targets[i].empty())
      taken.problems.add(target.name, line, "this line is empty, but that of " + source.name + " is not");
    else if (const std::string problem = problem_of_length(sources[i]); !problem.empty())
      taken.problems.add(source.name, line, problem);
    else if (const std::string long_target = problem_of_length(targets[i]); !long_target.empty())
      taken.problems.add(target.name, line, long_target);
    else {
      taken.sources.emplace_back(sources[i]);
      taken.targets.emplace_back(targets[i]);
    }
  }
}

}  // namespace

Schema Parallel::options() {
  return Schema().choice(
      "bad_rows", "error", {"error", "skip"},
      {.help = "what to do with pairs that have an empty line or one of more than 16 MiB. error: refuse the "
               "run; skip: skip them and count them in the log (exp logs RUN)"});
}

Parallel::Parallel(const Options& options, const ReaderContext&)
    : skips_(options.text("bad_rows") == "skip") {}

Records Parallel::read(std::span<const InputText> files, const std::string& what) const {
  if (files.size() % 2 != 0)
    throw Error(files.back().name + ": the " + what + " has " + counted(std::ssize(files), "file", "files") +
                ", so this one has no partner: name the files in pairs, [\"source\", \"target\"]");
  Taken taken;
  for (std::size_t i = 0; i < files.size(); i += 2) read_pair(files[i], files[i + 1], taken);
  if (!skips_) taken.problems.require_none(!taken.sources.empty());
  if (taken.sources.empty() && !files.empty())
    throw Error(files.front().name + ": the " + what +
                (taken.rows > 0 ? " has no pair of lines with text; " + taken.problems.skipped(taken.rows)
                                : " is empty: expected at least one pair of lines"));
  Records records;
  records.notes = std::move(taken.notes);
  records.add("source", std::move(taken.sources));
  records.add("target", std::move(taken.targets));
  if (taken.problems.count() > 0) records.notes.push_back(taken.problems.skipped(taken.rows));
  return records;
}

std::optional<Records> Parallel::read_questions(const InputText& file) const {
  Records records;
  Records::Texts sources;
  RowProblems problems;
  std::int64_t number = 0;
  for (const std::string_view line : lines_of(file, records.notes)) {
    ++number;
    if (const std::string problem = problem_of_length(line); !problem.empty())
      problems.add(file.name, number, problem);
    else if (!line.empty())
      sources.emplace_back(line);
  }
  problems.require_none();
  records.add("source", std::move(sources));
  return records;
}

std::string Parallel::write_answers(const InputText& file, const Records& answers) const {
  const std::string_view text = without_mark(file.text);
  std::string all;
  std::size_t done = 0, record = 0;
  for (Lines lines(text); lines.next();) {
    const auto begin = static_cast<std::size_t>(lines.line().data() - text.data());
    all.append(text.substr(done, begin - done));  // the end of the previous line
    done = begin + lines.line().size();
    if (!trimmed(lines.line()).empty()) all += on_one_line(answers.texts("target")[record++]);
  }
  return all.append(text.substr(done));
}

std::string Parallel::write(const Records& records, FilePart) const {
  std::string all;
  for (const std::string& text : records.texts("target")) all += on_one_line(text) + "\n";
  return all;
}

}  // namespace encore::parallel
