// SPDX-License-Identifier: BSD-3-Clause
// read_set(): reads the files of one set with the reader of the format, and hashes each file, so that a run
// records what it learned from. Read read_set.hpp first.
#include "tasks/read_set.hpp"

#include "base/load_file.hpp"
#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "tasks/all_errors.hpp"

namespace encore {

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
  std::vector<std::string> missing, given;
  for (const std::vector<std::string>* fields : {&needs.structure, &needs.truth})
    for (const std::string& field : *fields)
      if (!records.has(field)) missing.push_back(field);
  if (missing.empty()) return;
  for (const Records::Field& field : records.fields()) given.push_back(field.name);
  throw Error("the task needs the field" + std::string(missing.size() == 1 ? " " : "s ") +
              quoted_list(missing) + ", and the reader gives " + quoted_list(given) +
              "; its options decide what it gives");
}

}  // namespace encore
