// SPDX-License-Identifier: BSD-3-Clause
// Writes both sample documents in every format of `exp report` (HTML, Markdown, LaTeX, CSV) and checks that
// equal documents give equal bytes, and that charts with a million points stay small. With ENCORE_OUT=FOLDER
// the files are also written to FOLDER, to look at them. writer_test.cpp checks the content.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "document/writers.hpp"
#include "support/places.hpp"
#include "unit/document/sample_document.hpp"

namespace encore::document {
namespace {

/// Returns the files of the document in all formats.
std::vector<OutputFile> every_format(const Document& document, const std::string& name) {
  const Templates templates(ENCORE_SOURCE_DIR "/reports");
  std::vector<OutputFile> files;
  for (const auto& written :
       {html_files(document, templates, name + ".html"), markdown_files(document, templates, name + ".md"),
        latex_files(document, templates, name + ".tex"), csv_files(document, name + ".csv")})
    files.insert(files.end(), written.begin(), written.end());
  return files;
}

/// Writes the files into the folder that ENCORE_OUT names, if it is set.
void show(const std::vector<OutputFile>& files) {
  const char* folder = std::getenv("ENCORE_OUT");
  if (folder == nullptr) return;
  for (const OutputFile& file : files) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << file.bytes;
  }
}

}  // namespace

TEST(Samples, EqualDocumentsGiveEqualBytes) {
  for (const std::string name : {"sample", "hostile"}) {
    const auto make = name == "sample" ? samples::sample_document : samples::hostile_document;
    const auto files = every_format(make(), name), again = every_format(make(), name);
    ASSERT_EQ(files.size(), again.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(files[i].path, again[i].path);
      EXPECT_TRUE(files[i].bytes == again[i].bytes) << files[i].path;
      EXPECT_FALSE(files[i].bytes.empty());
    }
    show(files);
  }
}

TEST(Samples, AThousandRunsAndAMillionPointsStaySmall) {
  Document document;
  document.title = "many";
  document.sections = {{"s",
                        "S",
                        {Figure{"loss", "", "loss", samples::loss_curves(333334)},
                         Figure{"trials", "", "trials", samples::trials(1000)}}}};
  const auto files = html_files(document, Templates(ENCORE_SOURCE_DIR "/reports"), "x.html");
  EXPECT_LT(files.front().bytes.size(), 1500000u);
}

}  // namespace encore::document
