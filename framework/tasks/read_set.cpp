// SPDX-License-Identifier: BSD-3-Clause
// read_set(): reads the files of one set with the reader of the format, and hashes each file, so that a run
// records what it learned from. The hash must cover every byte of a file, because set_files.cpp compares it
// with the planned one. Read read_set.hpp first.
#include "tasks/read_set.hpp"

#include <cstdint>
#include <system_error>

#include "base/load_file.hpp"
#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "config/error.hpp"
#include "tasks/all_errors.hpp"

namespace encore::tasks {
namespace {

/// Larger files are not read again with other options.
constexpr std::uintmax_t most_tried_bytes = std::uintmax_t{16} << 20;

std::uintmax_t bytes_of(const std::vector<std::string>& paths) {
  std::uintmax_t bytes = 0;
  std::error_code failure;
  for (const std::string& path : paths)
    if (const std::uintmax_t size = std::filesystem::file_size(path, failure); !failure) bytes += size;
  return bytes;
}

/// Returns `the task needs the field "number", and the reader gives "text", "label"`, or "".
std::string field_problem(const Records& records, const TaskFields& needs) {
  std::vector<std::string> missing, given;
  for (const std::vector<std::string>* fields : {&needs.structure, &needs.truth})
    for (const std::string& field : *fields)
      if (!records.has(field)) missing.push_back(field);
  if (missing.empty()) return "";
  for (const Records::Field& field : records.fields()) given.push_back(field.name);
  return "the task needs the field" + std::string(missing.size() == 1 ? " " : "s ") + quoted_list(missing) +
         ", and the reader gives " + quoted_list(given);
}

}  // namespace

ReadSet read_set(const Reader& reader, const std::vector<std::string>& paths, const std::string& what) {
  std::vector<std::string> texts;
  ReadSet set;
  AllErrors errors;
  for (const std::string& path : paths)
    errors.collect([&] {
      texts.push_back(load_text(path, what));
      set.sha256.push_back(sha256(texts.back()));
    });
  errors.require_none();
  std::vector<InputText> files;
  for (std::size_t i = 0; i < paths.size(); ++i) files.push_back({.name = paths[i], .text = texts[i]});
  set.records = reader.read(files, what);
  return set;
}

void require_fields(const Records& records, const TaskFields& needs) {
  const std::string problem = field_problem(records, needs);
  if (!problem.empty()) throw Error(problem + "; its options decide what it gives");
}

void require_fields(const Records& records, const TaskFields& needs, const std::vector<std::string>& paths,
                    const FieldRemedy& remedy) {
  const std::string problem = field_problem(records, needs);
  if (problem.empty()) return;
  std::vector<std::string> fields = needs.structure;
  fields.insert(fields.end(), needs.truth.begin(), needs.truth.end());
  std::vector<std::string> texts;
  std::vector<InputText> files;
  if (bytes_of(paths) <= most_tried_bytes)
    for (const std::string& path : paths) texts.push_back(load_text(path, "set"));
  for (std::size_t i = 0; i < texts.size(); ++i) files.push_back({.name = paths[i], .text = texts[i]});
  throw config::ConfigError("data.type",
                            paths.front() + ": " + problem + "; " +
                                (remedy ? remedy(files, fields) : "its options decide what it gives"));
}

}  // namespace encore::tasks
