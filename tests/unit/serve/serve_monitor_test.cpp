// SPDX-License-Identifier: BSD-3-Clause
// Tests ServeMonitor (serve/serve_monitor.hpp), which records samples of requests for `exp monitor`: if the
// answer of a worker is not valid JSON, only this answer may be lost; the numbers of its request and all
// other records must be written.
#include "serve/serve_monitor.hpp"

#include <gtest/gtest.h>

#include "unit/record/temporary_folder.hpp"

namespace encore::serve {
namespace {

Job answered(const std::string& answer) {
  Job job;
  job.texts = {"a text"};
  job.answers = {{.id = 1, .tokens = 2, .text = answer, .facts = R"({"pieces":2,"unknown":0})"}};
  return job;
}

/// Returns the bytes of all spools of a kind in the folder, one file after the other.
std::string spools_of(const std::filesystem::path& folder, const std::string& kind) {
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder / store::served_folder))
    if (entry.path().filename().string().starts_with(kind)) bytes += testing::read_bytes(entry.path());
  return bytes;
}

TEST(ServeMonitor, OnlyAnInvalidAnswerIsLost) {
  const testing::TemporaryFolder folder;
  {
    ServeMonitor monitor(folder / "", "0123456789", "session", {.share = 1.0, .text_days = 1.0});
    monitor.add("bad", "digest", answered("{\"label\":"), 0.1);
    EXPECT_NO_THROW(monitor.flush());
    monitor.add("good", "digest", answered(R"({"label":"A"})"), 0.1);
    monitor.flush();
    monitor.add("last", "digest", answered("no JSON"), 0.1);
  }
  const std::string numbers = spools_of(folder / "", "served"), words = spools_of(folder / "", "texts");
  for (const char* request : {"bad", "good", "last"})
    EXPECT_NE(numbers.find(request), std::string::npos) << request;
  EXPECT_NE(words.find("good"), std::string::npos);
  EXPECT_EQ(words.find("bad"), std::string::npos);
}

}  // namespace
}  // namespace encore::serve
