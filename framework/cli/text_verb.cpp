// SPDX-License-Identifier: BSD-3-Clause
// exp text: prints the text of PDF files, one line for each file or page. app/pdf_text.cpp reads the files;
// help_verb.cpp lists the verb. Other commands read the lines and the JSON, whose members keep their names.
#include "app/pdf_text.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

int text_verb(const app::PdfTextRequest& request, app::App& app, Console& console) {
  const app::PdfTexts read = app::pdf_texts(request, app);
  for (const app::PdfText& text : read.texts)
    if (request.json)
      console.out << to_json_object<nlohmann::ordered_json>(text).dump() << '\n';
    else
      console.out << text.text << '\n';
  for (const std::string& problem : read.problems) console.noticed(problem);
  return read.problems.empty() ? exit_done : exit_failed;
}

}  // namespace

Verb text_verb() {
  return make_verb("text", "print the text of PDF files, for exp predict and exp index", app::pdf_text_form,
                   text_verb);
}

}  // namespace encore::cli
