// SPDX-License-Identifier: BSD-3-Clause
// Tests small parts of record/ and world/: the specification of a run (record/specification.hpp), files that
// are replaced as a whole (world/atomic_file.hpp), the control pipe (record/control_pipe.hpp), the identity
// of processes (world/process.hpp) and crc32 (base/crc32.hpp). Specifications are stored, so a member is
// never renamed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/crc32.hpp"
#include "record/control_pipe.hpp"
#include "record/specification.hpp"
#include "unit/record/temporary_folder.hpp"
#include "world/atomic_file.hpp"
#include "world/process.hpp"

namespace encore::record {
namespace {

using testing::message_of;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

Specification sample() {
  Specification specification;
  specification.run = "0123456789";
  specification.name = "wnut17";
  specification.seed = 18446744073709551615u;
  specification.question = std::string(64, 'a');
  specification.group = std::string(64, 'b');
  specification.backend = "openmp";
  specification.config = {{"model", {{"width", 384}, {"dropout", 0.1}}}};
  specification.origin["model.width"] = {config::Source::file, {"wnut17.toml", 14, 3}};
  specification.data["train"] = {"/data/train.conll", std::string(64, 'c')};
  specification.plugin_folders = {"/plugins"};
  return specification;
}

std::string refusal(const nlohmann::json& json) {
  return message_of<Error>([&] { Specification::from_json(json, "s.json"); });
}

TEST(Specification, ReturnsWhatWasSaved) {
  TemporaryFolder folder;
  sample().save(folder / "runs/one");
  const Specification loaded = Specification::load(folder / "runs/one");
  EXPECT_EQ(loaded.to_json(), sample().to_json());
  EXPECT_EQ(loaded.seed, 18446744073709551615u);
  EXPECT_EQ(loaded.origin.at("model.width").place.line, 14);
  EXPECT_EQ(loaded.data.at("train").path, "/data/train.conll");
}

TEST(Specification, NamesWhatIsWrong) {
  nlohmann::json json = sample().to_json();
  json.erase("question");
  EXPECT_EQ(refusal(json), "s.json: member \"question\" is missing");
  json = sample().to_json();
  json["seed"] = -1;
  EXPECT_EQ(refusal(json), "s.json: member \"seed\" must not be negative");
  json["seed"] = "one";
  EXPECT_EQ(refusal(json), "s.json: member \"seed\" must be a number");
  json = sample().to_json();
  json["format"] = 2;
  EXPECT_EQ(refusal(json).find("s.json: format 2 is not known"), 0u);
  json = sample().to_json();
  json["data"]["train"].erase("sha256");
  EXPECT_EQ(refusal(json), "s.json: data.train: member \"sha256\" is missing");
  json = sample().to_json();
  json["origin"]["model.width"] = {{"source", "nowhere"}};
  EXPECT_EQ(refusal(json), "s.json: the origin of \"model.width\" has no known \"source\"");
  json = sample().to_json();
  json["config"] = 1;
  EXPECT_EQ(refusal(json), "s.json: member \"config\" must be an object");
  json["config"] = {{"train", {"epochs"}}};
  EXPECT_EQ(refusal(json), "s.json: member \"config.train\" must be an object");
  EXPECT_EQ(refusal(nlohmann::json::array()), "s.json: a JSON object is expected");
  TemporaryFolder folder;
  EXPECT_NE(
      message_of<Error>([&] { Specification::load(folder.path()); }).find("a run folder holds this file"),
      std::string::npos);
  write_bytes(folder / "specification.json", "{\"format\": 1,");
  const std::string damaged =
      ": the file is damaged: invalid JSON from here on; run the experiment file again to rewrite it";
  const std::string file = (folder / "specification.json").string();
  EXPECT_EQ(message_of<Error>([&] { Specification::load(folder.path()); }), file + ":1" + damaged);
  write_bytes(folder / "specification.json", "{\"format\": 1,\n\"run\": \"a\",\n\"na~me\" \"b\"\n}\n");
  EXPECT_EQ(message_of<Error>([&] { Specification::load(folder.path()); }), file + ":3" + damaged);
  write_bytes(folder / "specification.json", "");
  EXPECT_EQ(message_of<Error>([&] { Specification::load(folder.path()); }), file + ":1" + damaged);
}

TEST(AtomicFile, IsThereCompleteOrNotAtAll) {
  TemporaryFolder folder;
  world::save_file(folder / "f", "old");
  {
    world::AtomicFile file(folder / "f");
    file.write("half of the n");
  }
  EXPECT_EQ(read_bytes(folder / "f"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing is left";
  world::save_file(folder / "f", "new");
  EXPECT_EQ(read_bytes(folder / "f"), "new");
  EXPECT_NE(message_of<Error>([&] { world::save_file(folder / "none/f", ""); }).find("cannot write"),
            std::string::npos);
}

TEST(AtomicFile, FollowsNoLinkOfSomebodyElse) {
  TemporaryFolder folder;
  world::save_file(folder / "victim", "theirs");
  std::filesystem::create_symlink(folder / "victim", folder / "f.part");
  std::filesystem::create_symlink(folder / "victim", folder / "f");
  world::save_file(folder / "f", "ours");
  EXPECT_EQ(read_bytes(folder / "victim"), "theirs");
  EXPECT_EQ(read_bytes(folder / "f"), "ours");
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "f"));
}

TEST(AtomicFile, TwoWritersOfOneFileDoNotInterfere) {
  TemporaryFolder folder;
  world::AtomicFile first(folder / "f"), second(folder / "f");
  first.write("of the first");
  second.write("of the second");
  first.commit();
  EXPECT_EQ(read_bytes(folder / "f"), "of the first");
  second.commit();
  EXPECT_EQ(read_bytes(folder / "f"), "of the second");
}

TEST(AtomicFile, NamesAsideDifferAndSayWhatTheyAre) {
  const std::filesystem::path one = world::aside_name("/a/f"), other = world::aside_name("/a/f");
  EXPECT_NE(one, other);
  EXPECT_EQ(one.parent_path(), "/a");
  EXPECT_TRUE(one.filename().string().starts_with("f."));
  EXPECT_TRUE(one.string().ends_with(world::aside_suffix));
}

TEST(AtomicFile, AFullDeviceIsAnError) {
  const world::FileDescriptor full = world::open_file("/dev/full", O_WRONLY);
  const std::byte byte{};
  EXPECT_EQ(message_of<Error>([&] {
              world::write_all(full.get(), {&byte, 1}, "/dev/full");
            }),
            "cannot write /dev/full: No space left on device (free some space; what is on disk so far stays "
            "usable)");
}

TEST(ControlPipe, CarriesCommandsAndReportsALostParent) {
  ControlPipe pipe = make_control_pipe();
  ControlReader reader(::dup(pipe.reading.get()));
  pipe.reading.close();
  EXPECT_FALSE(reader.poll());
  EXPECT_FALSE(reader.parent_gone());
  ASSERT_EQ(::write(pipe.writing.get(), "checkp", 6), 6);
  EXPECT_FALSE(reader.poll());
  ASSERT_EQ(::write(pipe.writing.get(), "oint\nsing a song\nstop\n", 22), 22);
  EXPECT_EQ(reader.poll(), ControlCommand::checkpoint);
  pipe.writing.close();
  EXPECT_FALSE(reader.parent_gone());
  EXPECT_EQ(reader.poll(), ControlCommand::stop);
  EXPECT_FALSE(reader.poll());
  EXPECT_TRUE(reader.parent_gone());
}

TEST(ControlPipe, AWorkerThatHasEndedCausesNoSignal) {
  ControlPipe pipe = make_control_pipe();
  ControlWriter writer(::dup(pipe.writing.get()));
  EXPECT_TRUE(writer.send(ControlCommand::prune));
  char line[16] = {};
  EXPECT_EQ(::read(pipe.reading.get(), line, sizeof line), 6);
  EXPECT_STREQ(line, "prune\n");
  pipe.reading.close();
  EXPECT_FALSE(writer.send(ControlCommand::stop));
  EXPECT_FALSE(ControlWriter().send(ControlCommand::stop));
  EXPECT_NE(message_of<Error>([] { ControlReader reader(9999); }).find("--control-fd"), std::string::npos);
}

TEST(Process, KnowsItselfAndItsChildren) {
  const world::ProcessIdentity here = world::this_process();
  EXPECT_EQ(here.pid, ::getpid());
  EXPECT_GT(here.start_time, 0);
  EXPECT_EQ(world::liveness_of(here), world::Liveness::alive);

  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto process = world::process_with(child);
  ASSERT_TRUE(process);
  EXPECT_EQ(world::liveness_of(*process), world::Liveness::alive);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(world::liveness_of(*process), world::Liveness::gone) << "a zombie does not work";
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(world::liveness_of(*process), world::Liveness::gone);
}

TEST(Process, IsNotMistakenForAnother) {
  world::ProcessIdentity reused = world::this_process();
  reused.start_time -= 1;
  EXPECT_EQ(world::liveness_of(reused), world::Liveness::gone) << "the same id, another process";
  world::ProcessIdentity rebooted = world::this_process();
  rebooted.boot_id = "another";
  EXPECT_EQ(world::liveness_of(rebooted), world::Liveness::gone) << "the host was started again";
  world::ProcessIdentity elsewhere = world::this_process();
  elsewhere.host += "-not";
  EXPECT_EQ(world::liveness_of(elsewhere), world::Liveness::unknown);
}

TEST(Crc32, IsTheWellKnownOne) {
  const auto of = [](std::string_view text) {
    return crc32(std::as_bytes(std::span(text.data(), text.size())));
  };
  EXPECT_EQ(of("123456789"), 0xCBF43926u);
  EXPECT_EQ(of(""), 0u);
  EXPECT_EQ(of("The quick brown fox jumps over the lazy dog"), 0x414FA339u);
}

}  // namespace
}  // namespace encore::record
