// SPDX-License-Identifier: BSD-3-Clause
// Tests the spool (record/spool.hpp writes, record/spool_reader.hpp reads), the file of a worker's events:
// every complete record comes back with all its bits, and a cut or damage at any byte costs only the records
// that it touches. Spools of formats 1 and 2 must stay readable.
#include "record/spool.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <encore/error.hpp>
#include <encore/measure.hpp>

#include "base/crc32.hpp"
#include "record/spool_reader.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

using testing::message_of;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

std::vector<SpoolRecord> read_all(const std::filesystem::path& path, SpoolEnd* end = nullptr) {
  SpoolReader reader(path);
  std::vector<SpoolRecord> records;
  for (SpoolRecord record; reader.next(record);) records.push_back(record);
  if (end) *end = reader.end();
  return records;
}

void write_sample(const std::filesystem::path& path) {
  SpoolWriter spool(path, 1);
  spool.event(Started{.threads = 3});
  spool.define("train/tokens_per_second", "1/s");
  spool.point("train/loss", 1, 2.5);
  spool.point("train/loss", 2, std::nan(""));
  spool.event(Saved{.step = 2, .path = "checkpoints/step-00000002.safetensors", .sha256 = "cd"});
  spool.point("dev/f1", 2, 0.25);
  spool.event(Ended{.ending = Ending::completed});
}

TEST(Spool, ReturnsWhatWasWritten) {
  TemporaryFolder folder;
  write_sample(folder / "s");
  SpoolEnd end = SpoolEnd::torn;
  const std::vector<SpoolRecord> records = read_all(folder / "s", &end);
  EXPECT_EQ(end, SpoolEnd::clean);
  ASSERT_EQ(records.size(), 9u);
  for (std::size_t index = 0; index < records.size(); ++index) EXPECT_EQ(records[index].sequence, index + 1);
  EXPECT_EQ(records[0].event().event, Event(Started{.threads = 3}));
  EXPECT_GT(records[0].event().time, 1.6e9);
  EXPECT_EQ(records[1].name, "train/tokens_per_second");
  EXPECT_EQ(records[1].unit, "1/s");
  EXPECT_EQ(records[2].name, "train/loss");
  EXPECT_EQ(records[3].step, 1);
  EXPECT_EQ(records[3].value, 2.5);
  EXPECT_EQ(records[3].metric, records[2].metric);
}

TEST(Spool, KeepsEveryBitOfAValue) {
  TemporaryFolder folder;
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {infinity, -infinity, std::bit_cast<double>(0x7ff80000deadbeefULL),
                                      -0.0,     5e-324,    0.1};
  {
    SpoolWriter spool(folder / "s", 1);
    for (double value : values) spool.point("m", -3, value);
  }
  std::size_t index = 0;
  for (const SpoolRecord& record : read_all(folder / "s")) {
    if (record.kind != SpoolKind::point) continue;
    EXPECT_EQ(record.step, -3);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(record.value), std::bit_cast<std::uint64_t>(values[index++]));
  }
  EXPECT_EQ(index, values.size());
}

TEST(Spool, CutAtAnyByteLosesOnlyTheCutRecord) {
  TemporaryFolder folder;
  write_sample(folder / "whole");
  const std::string whole = read_bytes(folder / "whole");
  std::vector<std::uint64_t> ends;
  {
    SpoolReader reader(folder / "whole");
    for (SpoolRecord record; reader.next(record);) ends.push_back(reader.offset());
  }
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write_bytes(folder / "cut", whole.substr(0, size));
    std::size_t complete = 0;
    while (complete < ends.size() && ends[complete] <= size) ++complete;
    SpoolEnd end = SpoolEnd::missing;
    EXPECT_EQ(read_all(folder / "cut", &end).size(), complete) << size;
    const bool at_border =
        size == 0 || size == spool_head_bytes || (complete > 0 && ends[complete - 1] == size);
    EXPECT_EQ(end, at_border ? SpoolEnd::clean : SpoolEnd::torn) << size;
    // A writer appends after the last complete record, and the file is whole again.
    {
      SpoolWriter spool(folder / "cut", 1);
      EXPECT_EQ(spool.sequence(), complete);
      spool.point("train/loss", 99, 1.0);
      spool.event(Ended{});
    }
    const std::vector<SpoolRecord> records = read_all(folder / "cut", &end);
    EXPECT_EQ(end, SpoolEnd::clean) << size;
    ASSERT_GE(records.size(), complete + 2);
    EXPECT_EQ(records.back().sequence, records.size());
  }
}

TEST(Spool, AnyChangedByteIsNoticed) {
  TemporaryFolder folder;
  write_sample(folder / "whole");
  const std::string whole = read_bytes(folder / "whole");
  const std::vector<SpoolRecord> expected = read_all(folder / "whole");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (char flip : {char(1), char(0x80), char(0xff)}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      write_bytes(folder / "bad", bytes);
      SpoolEnd end = SpoolEnd::clean;
      const std::vector<SpoolRecord> records = read_all(folder / "bad", &end);
      if (at >= spool_head_bytes) {
        EXPECT_LT(records.size(), expected.size()) << at;
        EXPECT_NE(end, SpoolEnd::clean) << at;
      }
      for (std::size_t index = 0; index < records.size(); ++index)
        EXPECT_EQ(records[index].text, expected[index].text);
    }
  }
}

TEST(Spool, ReportsWhereAndWhyItStops) {
  TemporaryFolder folder;
  write_sample(folder / "s");
  std::string bytes = read_bytes(folder / "s");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_bytes(folder / "s", bytes);
  SpoolReader reader(folder / "s");
  for (SpoolRecord record; reader.next(record);) {
  }
  EXPECT_EQ(reader.end(), SpoolEnd::damaged);
  EXPECT_EQ(reader.problem(), "s: byte " + std::to_string(reader.offset()) + ": the checksum differs");
  SpoolReader nothing(folder / "none");
  SpoolRecord record;
  EXPECT_FALSE(nothing.next(record));
  EXPECT_EQ(nothing.end(), SpoolEnd::missing);
}

TEST(Spool, RefusesARepeatedOrSkippedSequence) {
  TemporaryFolder folder;
  write_sample(folder / "s");
  const std::string bytes = read_bytes(folder / "s");
  SpoolReader reader(folder / "s");
  SpoolRecord record;
  ASSERT_TRUE(reader.next(record));
  const std::size_t first_end = reader.offset();
  write_bytes(folder / "twice", bytes.substr(0, first_end) + bytes.substr(spool_head_bytes));
  SpoolEnd end = SpoolEnd::clean;
  EXPECT_EQ(read_all(folder / "twice", &end).size(), 1u);
  EXPECT_EQ(end, SpoolEnd::damaged);
  write_bytes(folder / "gap", bytes.substr(0, spool_head_bytes) + bytes.substr(first_end));
  EXPECT_EQ(read_all(folder / "gap", &end).size(), 0u);
}

TEST(Spool, CanBeFollowedWhileItGrows) {
  TemporaryFolder folder;
  write_sample(folder / "whole");
  const std::string whole = read_bytes(folder / "whole");
  SpoolReader reader(folder / "s");
  SpoolRecord record;
  std::size_t count = 0;
  for (std::size_t size = 0; size <= whole.size(); size += 3) {
    write_bytes(folder / "s", whole.substr(0, size));
    while (reader.next(record)) EXPECT_EQ(record.sequence, ++count);
  }
  write_bytes(folder / "s", whole);
  while (reader.next(record)) ++count;
  EXPECT_EQ(count, 9u);
  EXPECT_EQ(reader.offset(), whole.size());
}

TEST(Spool, ContinuesAtAStoredPlace) {
  TemporaryFolder folder;
  write_sample(folder / "s");
  SpoolReader first(folder / "s");
  SpoolRecord record;
  for (int index = 0; index < 4; ++index) ASSERT_TRUE(first.next(record));
  SpoolReader second(folder / "s", {}, first.offset(), first.sequence());
  ASSERT_TRUE(second.next(record));
  EXPECT_EQ(record.sequence, 5u);
  SpoolReader beyond(folder / "s", {}, 100000, 5);
  EXPECT_FALSE(beyond.next(record));
  EXPECT_NE(beyond.problem().find("shorter than what was already read"), std::string::npos);
}

TEST(Spool, RefusesAnotherAttemptAnotherFileAndASecondWriter) {
  TemporaryFolder folder;
  {
    SpoolWriter spool(folder / "s", 1);
    EXPECT_NE(message_of<Error>([&] {
                SpoolWriter again(folder / "s", 1);
              }).find("another worker writes this spool"),
              std::string::npos);
  }
  EXPECT_NE(message_of<Error>([&] {
              SpoolWriter spool(folder / "s", 2);
            }).find("spool of attempt 1, not of attempt 2"),
            std::string::npos);
  write_bytes(folder / "letter", "Dear reader, this is a letter.");
  EXPECT_NE(message_of<Error>([&] { SpoolWriter spool(folder / "letter", 1); }).find("not a spool"),
            std::string::npos);
  EXPECT_EQ(read_bytes(folder / "letter"), "Dear reader, this is a letter.");
  EXPECT_NE(message_of<Error>([&] { SpoolWriter spool(folder / "none/s", 1); }).find("cannot write"),
            std::string::npos);
}

const std::string one_run = "0123456789", other_run = "fedcba9876";

TEST(Spool, AnotherRunsIsRefusedWithBothIds) {
  TemporaryFolder folder;
  { SpoolWriter spool(folder / "s", 1, one_run); }
  const std::string refusal = "this is the spool of run " + one_run + ", not of run " + other_run;
  SpoolReader reader(folder / "s", {other_run, 1});
  SpoolRecord record;
  EXPECT_FALSE(reader.next(record));
  EXPECT_EQ(reader.end(), SpoolEnd::refused);
  EXPECT_NE(reader.problem().find(refusal), std::string::npos) << reader.problem();
  EXPECT_FALSE(reader.skip_damage()) << "it is valid, but belongs to another run";
  const std::string message = message_of<Error>([&] { SpoolWriter spool(folder / "s", 1, other_run); });
  EXPECT_NE(message.find(refusal), std::string::npos) << message;
  SpoolWriter again(folder / "s", 1, one_run);
  again.event(Logged{.text = ""});
  EXPECT_EQ(read_all(folder / "s").size(), 1u);
}

/// Returns the spool as format 1 has it: a head of 16 bytes, without run id and checksum.
std::string in_old_format(std::string bytes) {
  bytes.erase(16, spool_head_bytes - 16);
  bytes[8] = 1;
  return bytes;
}

TEST(Spool, TheOldFormatIsReadAndContinued) {
  TemporaryFolder folder;
  write_sample(folder / "s");
  write_bytes(folder / "s", in_old_format(read_bytes(folder / "s")));
  SpoolReader reader(folder / "s", {one_run, 1});
  SpoolRecord record;
  std::size_t count = 0;
  while (reader.next(record)) ++count;
  EXPECT_EQ(count, 9u) << reader.problem();
  {
    SpoolWriter spool(folder / "s", 1, one_run);
    spool.event(Logged{.text = ""});
  }
  EXPECT_EQ(read_bytes(folder / "s")[8], 1) << "in the format that the file has";
  SpoolEnd end = SpoolEnd::torn;
  EXPECT_EQ(read_all(folder / "s", &end).size(), 10u);
  EXPECT_EQ(end, SpoolEnd::clean);
}

TEST(Spool, ANewerFormatIsRefused) {
  TemporaryFolder folder;
  write_sample(folder / "s");
  std::string bytes = read_bytes(folder / "s");
  bytes[8] = 4;
  write_bytes(folder / "s", bytes);
  SpoolReader reader(folder / "s");
  SpoolRecord record;
  EXPECT_FALSE(reader.next(record));
  EXPECT_EQ(reader.end(), SpoolEnd::refused);
  EXPECT_NE(reader.problem().find("format 4 is not known to this program"), std::string::npos);
}

const std::vector<encore::Measure> sample_measures = {
    {.name = "f1", .title = "F1", .fraction = true},
    {.name = "f1/{label}", .title = "F1", .help = "of one label", .fraction = true},
    {.name = "speed", .unit = "tokens/s", .better = Better::neither},
    {.name = "taken", .reducer = Reducer::matrix, .columns = {"taken"}}};

/// Returns name, unit and meaning of the metrics of a spool.
std::vector<std::string> metrics_in(const std::filesystem::path& path) {
  std::vector<std::string> metrics;
  for (const SpoolRecord& record : read_all(path))
    if (record.kind == SpoolKind::metric)
      metrics.push_back(record.name + "|" + record.unit + "|" + record.meaning);
  return metrics;
}

void write_measures(const std::filesystem::path& path) {
  SpoolWriter spool(path, 1);
  define_measures(spool, std::vector<std::string>{"dev"}, sample_measures);
  spool.point("dev/f1/PER", 1, 0.5);
  spool.point("dev/f1", 1, 0.5);
  spool.point("dev/speed", 1, 0.5);
  spool.point("dev/other", 1, 0.5);
  spool.point("dev/f1/PER", 2, 0.5);
}

TEST(Spool, AMetricCarriesItsMeaningAndIsDefinedAtItsFirstPoint) {
  TemporaryFolder folder;
  write_measures(folder / "s");
  const std::vector<std::string> expected = {
      R"(dev/taken||{"better":"higher","columns":["taken"],"name":"taken","reducer":"matrix"})",
      R"(dev/f1/PER||{"better":"higher","fraction":true,"name":"f1/{label}","reducer":"opaque","title":"F1"})",
      R"(dev/f1||{"better":"higher","fraction":true,"name":"f1","reducer":"opaque","title":"F1"})",
      R"(dev/speed|tokens/s|{"name":"speed","reducer":"opaque"})", "dev/other||"};
  EXPECT_EQ(metrics_in(folder / "s"), expected);
  write_measures(folder / "s");  // as a resumed worker does
  EXPECT_EQ(metrics_in(folder / "s"), expected) << "no metric is defined twice";
}

TEST(Spool, ASpoolOfFormat2IsContinuedWithoutMeanings) {
  TemporaryFolder folder;
  { SpoolWriter spool(folder / "s", 1); }
  std::string bytes = read_bytes(folder / "s");
  bytes[8] = 2;
  const std::uint32_t checksum =
      crc32({reinterpret_cast<const std::byte*>(bytes.data()), spool_head_bytes - 4});
  bytes.replace(spool_head_bytes - 4, 4, reinterpret_cast<const char*>(&checksum), 4);
  write_bytes(folder / "s", bytes);
  write_measures(folder / "s");
  bytes = read_bytes(folder / "s");
  EXPECT_EQ(bytes[8], 2) << "in the format that the file has";
  EXPECT_EQ(bytes.find("reducer"), std::string::npos);
  EXPECT_EQ(metrics_in(folder / "s"), (std::vector<std::string>{"dev/taken||", "dev/f1/PER||", "dev/f1||",
                                                                "dev/speed|tokens/s|", "dev/other||"}));
}

/// Returns the sequence numbers of all intact records, also of those after damage.
std::vector<std::uint64_t> sequences_left(const std::filesystem::path& path, std::vector<SpoolGap>& gaps) {
  SpoolReader reader(path, {"", 1});
  SpoolRecord record;
  std::vector<std::uint64_t> left;
  for (;;) {
    while (reader.next(record)) left.push_back(record.sequence);
    const std::optional<SpoolGap> gap = reader.skip_damage();
    if (!gap) return left;
    gaps.push_back(*gap);
  }
}

TEST(Spool, ADamagedByteCostsTheRecordInWhichItLies) {
  TemporaryFolder folder;
  write_sample(folder / "whole");
  const std::string whole = read_bytes(folder / "whole");
  std::vector<std::uint64_t> ends = {spool_head_bytes};
  {
    SpoolReader reader(folder / "whole");
    for (SpoolRecord record; reader.next(record);) ends.push_back(reader.offset());
  }
  for (std::size_t at = 0; at < ends[ends.size() - 2]; ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    write_bytes(folder / "bad", bytes);
    std::size_t hit = 0;  // record; 0: the head
    while (ends[hit] <= at) ++hit;
    std::vector<SpoolGap> gaps;
    const std::vector<std::uint64_t> left = sequences_left(folder / "bad", gaps);
    if (gaps.empty()) {
      EXPECT_TRUE(at >= 8 && at < 12) << at << ": only an unknown format is refused as a whole";
      continue;
    }
    ASSERT_EQ(gaps.size(), 1u) << at;
    EXPECT_EQ(left.size(), hit == 0 ? 9u : 8u) << at;
    EXPECT_EQ(gaps[0].first_byte, hit == 0 ? 0 : ends[hit - 1]) << at;
    EXPECT_EQ(gaps[0].end_byte, ends[hit]) << at;
    EXPECT_EQ(gaps[0].first_record, std::max<std::size_t>(hit, 1)) << at;
    EXPECT_EQ(gaps[0].last_record, hit) << at;
  }
}

TEST(Spool, ACutTailHasNoRecordToContinueAt) {
  TemporaryFolder folder;
  write_sample(folder / "s");
  const std::string whole = read_bytes(folder / "s");
  for (std::size_t cut = 1; cut < 60; ++cut) {
    write_bytes(folder / "s", whole.substr(0, whole.size() - cut));
    std::vector<SpoolGap> gaps;
    EXPECT_GE(sequences_left(folder / "s", gaps).size(), 7u);
    EXPECT_TRUE(gaps.empty()) << cut;
  }
}

/// Returns the number of bytes that a reader hashes while it searches the next intact record after damage of
/// `bytes` bytes, which repeats `pattern`. `found` becomes true if it finds the record after the damage.
std::uint64_t work_of_search(const std::string& pattern, std::size_t bytes, bool& found) {
  TemporaryFolder folder;
  write_sample(folder / "s");
  const std::string whole = read_bytes(folder / "s");
  std::uint64_t last = 0;  // byte at which the last record begins
  {
    SpoolReader reader(folder / "s");
    for (SpoolRecord record; reader.next(record) && record.sequence < 8;) last = reader.offset();
  }
  std::string damage(bytes, '\0');
  for (std::size_t at = 0; at < bytes; ++at) damage[at] = pattern[at % pattern.size()];
  write_bytes(folder / "s", whole.substr(0, spool_head_bytes) + damage + whole.substr(last));
  SpoolReader reader(folder / "s", {"", 1});
  SpoolRecord record;
  EXPECT_FALSE(reader.next(record));
  const std::uint64_t before = reader.searched_bytes();  // of the frame that seemed whole
  found = reader.skip_damage().has_value();
  return reader.searched_bytes() - before;
}

TEST(Spool, TheSearchAfterDamageIsLinearForAnyBytes) {
  const std::size_t sizes[] = {1 << 20, 4 << 20,
                               17 << 20};  // a frame of 0x01010101 bytes fits into the last one
  for (const std::size_t bytes : sizes) {
    bool found = false;
    EXPECT_LT(work_of_search("\x01", bytes, found), 4096u) << bytes << " bytes of 1: not a record's number";
    EXPECT_TRUE(found) << bytes;
  }
  // Every 17 bytes comes a possible head of a frame of 64 KiB: length, checksum, number, kind.
  using namespace std::string_literals;
  const std::string head = "\0\0\1\0"s + "\0\0\0\0"s + "\2\0\0\0\0\0\0\0"s + "\3"s;
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{4} << 20}) {
    bool found = false;
    EXPECT_LE(work_of_search(head, bytes, found), 8 * (bytes + 4096)) << bytes;
  }
}

TEST(Spool, ATextThatIsNotUtf8DoesNotStopTheRun) {
  TemporaryFolder folder;
  {
    SpoolWriter spool(folder / "s", 1);
    spool.event(Logged{.text = "bad \xff byte"});
  }
  EXPECT_EQ(read_all(folder / "s").at(0).event().event, Event(Logged{.text = "bad \xEF\xBF\xBD byte"}));
}

TEST(Spool, AFullDiskIsAnErrorAndLosesNothing) {
  TemporaryFolder folder;
  // A limit on the file's size simulates the full disk: write() first writes less than asked, then fails.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  std::size_t expected = 0;
  {
    SpoolWriter spool(folder / "s", 1);
    rlimit tight = before;
    tight.rlim_cur = 1001;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
    for (int step = 0; step < 100; ++step) spool.point("train/loss", step, step);
    const std::string message = message_of<Error>([&] { spool.sync(); });
    EXPECT_NE(message.find("cannot write"), std::string::npos) << message;
    EXPECT_EQ(message_of<Error>([&] { spool.event(Logged{.text = ""}); }), message);
    SpoolEnd end = SpoolEnd::clean;
    EXPECT_GT(read_all(folder / "s", &end).size(), 10u);
    EXPECT_EQ(end, SpoolEnd::torn);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    spool.sync();
    expected = spool.sequence();
  }
  signal(SIGXFSZ, old_handler);
  SpoolEnd end = SpoolEnd::torn;
  EXPECT_EQ(read_all(folder / "s", &end).size(), expected);
  EXPECT_EQ(end, SpoolEnd::clean);
  EXPECT_EQ(expected, 102u);
}

TEST(Spool, AnEventThatNestsTooDeepIsUnreadableWithTheReason) {
  SpoolRecord record;
  record.text = R"({"type":"started","host":)" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_EQ(record.event().type, "unreadable");
  EXPECT_EQ(record.event().problem, "line 1, column 125: nested more than 100 levels deep");
  record.text = "[]";
  EXPECT_EQ(record.event().problem, "no object with a type");
}

TEST(Spool, DoesNotWaitForAPipeInItsPlace) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "s").c_str(), 0600), 0);
  EXPECT_NE(message_of<Error>([&] { read_all(folder / "s"); }).find("it is a pipe"), std::string::npos);
}

TEST(Spool, NameOfAnAttempt) {
  EXPECT_EQ(spool_name(1), "attempt-0001.spool");
  EXPECT_EQ(spool_name(12345), "attempt-12345.spool");
}

}  // namespace
}  // namespace encore::record
