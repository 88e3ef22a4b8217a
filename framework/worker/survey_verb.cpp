// SPDX-License-Identifier: BSD-3-Clause
// The verb survey: says what a user's own file holds, for `exp app new`. It loads the readers that ship and
// neither Kokkos nor a model. Request and answer are in record/survey_answer.hpp; app/app_from_file.cpp is
// the other side. Read next: survey/survey.hpp, which does the work.
#include <iostream>
#include <iterator>

#include "base/json_text.hpp"
#include "base/load_file.hpp"
#include "config/catalogue.hpp"
#include "config/fingerprint.hpp"
#include "plugin_host/default_options.hpp"
#include "plugin_host/registry.hpp"
#include "survey/survey.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

/// Returns the options over the defaults of the reader.
Options completed(const Schema& schema, const Options& options) {
  Options all = plugin_host::default_options(schema);
  for (const auto& [name, value] : options.values()) all.set(name, value);
  return all;
}

}  // namespace

int survey_verb() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const auto request = from_json_object<record::SurveyRequest>(parse_json(text));
  const std::vector<std::filesystem::path> folders(request.plugin_folders.begin(),
                                                   request.plugin_folders.end());
  const config::Catalogue catalogue = config::Catalogue::load(folders, config::host_fingerprint());
  plugin_host::Registry registry;
  const auto make_reader = [&](const std::string& name, const Options& options) {
    const config::TypeName type{Kind::reader, name};
    registry.load(catalogue, {&type, 1});
    return registry.make_reader(name, completed(registry.offer(Kind::reader, name).options, options));
  };
  const std::string content = load_text(request.file, "file"),
                    test = request.test.empty() ? "" : load_text(request.test, "test file");
  const auto progress = [](const std::string& what, const std::string& unit, std::size_t done,
                           std::size_t all) {
    tell_progress({.what = what, .unit = unit, .done = done, .all = all});
  };
  const record::SurveyAnswer answer =
      survey::survey(request, {.name = request.file, .text = content}, {.name = request.test, .text = test},
                     make_reader, progress);
  write_answer(to_json_object(answer));
  return 0;
}

}  // namespace encore::worker
