// SPDX-License-Identifier: BSD-3-Clause
// Tests find_garbage() and remove_garbage() (store/garbage.hpp), which `exp gc` calls: the files that it
// removes and those that it must leave, and runs that are hidden, restored and deleted (`exp rm`). No file
// outside of the store's own folders may ever be removed, also not through links.
#include "store/garbage.hpp"

#include "record/checkpoint.hpp"
#include "unit/store/store_fixture.hpp"
#include "world/atomic_file.hpp"

namespace encore::store {
namespace {

using testing::message_of;
using testing::StoreTest;

class GarbageTest : public StoreTest {
 protected:
  /// Writes a checkpoint of this step and reports it in the spool.
  void save(const Lease& lease, record::SpoolWriter& spool, std::int64_t step, record::CheckpointKind kind) {
    const float value = 0.0f;
    const record::SavedFile saved = record::save_checkpoint(
        store().run_folder(lease.run_id), step,
        {{"parameter/x", DType::float32, {1}, std::as_bytes(std::span(&value, 1))}}, {});
    spool.event(record::Saved{.step = step,
                              .kind = kind,
                              .path = record::checkpoint_path(step),
                              .bytes = static_cast<std::int64_t>(saved.bytes),
                              .sha256 = saved.sha256});
  }
  /// Trains a run with checkpoints of steps 1 (best), 2 (last), 3 (best), 4 (last) and 5 (last).
  Lease trained(char letter, const std::string& name) {
    const Lease lease = store().begin_attempt(add(letter, name)).value();
    record::SpoolWriter spool(spool_of(lease), lease.ordinal);
    save(lease, spool, 1, record::CheckpointKind::best);
    save(lease, spool, 2, record::CheckpointKind::last);
    save(lease, spool, 3, record::CheckpointKind::best);
    save(lease, spool, 4, record::CheckpointKind::last);
    save(lease, spool, 5, record::CheckpointKind::last);
    return lease;
  }
  std::filesystem::path file(const Lease& lease, std::int64_t step) {
    return store().run_folder(lease.run_id) / record::checkpoint_path(step);
  }
  std::string steps(const Lease& lease) {
    std::string text;
    for (const record::CheckpointFile& found : record::list_checkpoints(store().run_folder(lease.run_id)))
      text += std::to_string(found.step) + " ";
    return text;
  }
  static void age(const std::filesystem::path& path) {
    const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      std::filesystem::last_write_time(entry.path(), old);
    std::filesystem::last_write_time(path, old);
  }
};

TEST_F(GarbageTest, KeepsTheBestAndTheLast) {
  const Lease lease = trained('a', "test");
  store().finish_attempt(lease, RunState::interrupted);
  testing::write_bytes(file(lease, 6).string() + ".part", "12345");
  const std::vector<Garbage> found = find_garbage(store());
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].kind, GarbageKind::leftover);
  EXPECT_EQ(found[0].bytes, 5u);
  EXPECT_EQ(found[1].path, file(lease, 1));
  EXPECT_EQ(found[1].bytes, std::filesystem::file_size(file(lease, 1)));
  EXPECT_EQ(found[1].run, "test");
  EXPECT_EQ(steps(lease), "1 2 3 4 5 ") << "looking removes nothing";
  EXPECT_EQ(remove_garbage(store(), true).size(), 4u);
  EXPECT_EQ(steps(lease), "3 5 ");
  EXPECT_TRUE(find_garbage(store()).empty());
}

TEST_F(GarbageTest, KeepsTheCheckpointThatAResumeFallsBackTo) {
  const Lease lease = trained('a', "test");
  store().finish_attempt(lease, RunState::interrupted);
  testing::write_bytes(file(lease, 5), "damaged");
  remove_garbage(store(), true);
  EXPECT_EQ(steps(lease), "3 4 5 ") << "4 is the last that is whole";
}

TEST_F(GarbageTest, NeverTouchesWhatARunningAttemptNeeds) {
  const Lease lease = trained('a', "test");
  store().merge(lease);
  testing::write_bytes(file(lease, 6).string() + ".part", "being written");
  EXPECT_TRUE(find_garbage(store()).empty());
  EXPECT_TRUE(remove_garbage(store(), true).empty());
  EXPECT_EQ(steps(lease), "1 2 3 4 5 ");
  EXPECT_TRUE(std::filesystem::exists(file(lease, 6).string() + ".part"));
}

TEST_F(GarbageTest, RemovesFoldersOfUnknownRunsOnlyOnRequestAndWhenUnused) {
  store();
  const std::filesystem::path folder = store().run_folder("00000000aa");
  std::filesystem::create_directories(folder / "checkpoints");
  testing::write_bytes(folder / "attempt-0001.spool", "1234567");
  std::filesystem::create_directories(store().runs_folder() / "my notes");
  EXPECT_TRUE(find_garbage(store()).empty()) << "a worker may still write there";
  age(folder);
  age(store().runs_folder() / "my notes");
  const std::vector<Garbage> found = find_garbage(store());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, GarbageKind::folder);
  EXPECT_EQ(found[0].bytes, 7u);
  EXPECT_TRUE(remove_garbage(store(), false).empty());
  EXPECT_TRUE(std::filesystem::exists(folder));
  EXPECT_EQ(remove_garbage(store(), true).size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_TRUE(std::filesystem::exists(store().runs_folder() / "my notes")) << "not named like a run";
}

TEST_F(GarbageTest, RemovesWhatAKilledVerificationLeftAndNothingThatWasKept) {
  store();
  const auto make = [&](const std::string& name) {
    const std::filesystem::path folder = store().runs_folder() / name;
    std::filesystem::create_directories(folder / "checkpoints");
    testing::write_bytes(folder / "attempt-0001.spool", "1234567");
    return folder;
  };
  const auto killed = make("verify-0123456789-aaaaaa"), kept = make("verify-0123456789-bbbbbb"),
             at_work = make("verify-0123456789-cccccc");
  testing::write_bytes(kept / kept_mark, "");
  age(killed);
  age(kept);
  const std::vector<Garbage> found = find_garbage(store());
  ASSERT_EQ(found.size(), 1u) << "the third one may be in use";
  EXPECT_EQ(found[0].kind, GarbageKind::verification);
  EXPECT_STREQ(name_of(found[0].kind), "verification");
  EXPECT_EQ(found[0].path, killed);
  EXPECT_EQ(found[0].bytes, 7u);
  EXPECT_EQ(remove_garbage(store(), false).size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(killed));
  EXPECT_TRUE(std::filesystem::exists(kept) && std::filesystem::exists(at_work));
}

TEST_F(GarbageTest, RemovesTheCopyThatAKilledUpgradeHasBegun) {
  store();
  const std::string backup = path().string() + ".version-9.backup";
  const std::filesystem::path begun = world::aside_name(backup), at_work = world::aside_name(backup);
  for (const std::filesystem::path& file : {std::filesystem::path(backup), begun, at_work})
    testing::write_bytes(file, "1234567");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  std::filesystem::last_write_time(begun, old);
  std::filesystem::last_write_time(backup, old);
  const std::vector<Garbage> found = find_garbage(store());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, GarbageKind::leftover);
  EXPECT_EQ(found[0].path, begun);
  EXPECT_EQ(remove_garbage(store(), false).size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(begun));
  EXPECT_TRUE(std::filesystem::exists(backup) && std::filesystem::exists(at_work));
}

/// Makes a folder that belongs to no run, with files that look like garbage of a run.
std::filesystem::path make_victim(const std::filesystem::path& path) {
  std::filesystem::create_directories(path / "checkpoints");
  for (const char* name : {"notes.part", "checkpoints/step-00000001.safetensors",
                           "checkpoints/step-00000002.safetensors", "checkpoints/step-00000003.safetensors"})
    testing::write_bytes(path / name, "precious");
  return path;
}

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) ++count;
  return count;
}

TEST_F(GarbageTest, TargetsOfSymbolicLinksStay) {
  const std::filesystem::path victim = make_victim(folder_ / "victim");
  const Lease whole = trained('a', "a link"), inner = trained('b', "links within"),
              folder = trained('c', "checkpoints elsewhere");
  for (const Lease& lease : {whole, inner, folder}) store().finish_attempt(lease, RunState::interrupted);
  const auto replace_by_link = [&](const std::filesystem::path& path, const std::filesystem::path& target) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory_symlink(target, path);
  };
  replace_by_link(store().run_folder(whole.run_id), victim);
  replace_by_link(store().run_folder(folder.run_id) / "checkpoints", victim / "checkpoints");
  std::filesystem::create_directory_symlink(victim, store().run_folder(inner.run_id) / "elsewhere");
  std::filesystem::create_symlink(victim / "notes.part", store().run_folder(inner.run_id) / "mine.part");
  std::filesystem::create_directory_symlink(victim, store().run_folder("00000000aa"));
  std::filesystem::create_directory_symlink(victim, store().runs_folder() / "verify-0123456789-aaaaaa");
  age(victim);
  for (const Garbage& garbage : find_garbage(store()))
    EXPECT_EQ(garbage.run, "links within") << garbage.path << ": only its own old checkpoints";
  remove_garbage(store(), true);
  EXPECT_EQ(steps(inner), "3 5 ");
  EXPECT_EQ(files_in(victim), 4u);
  EXPECT_TRUE(std::filesystem::is_symlink(store().run_folder("00000000aa")));
}

TEST_F(GarbageTest, PurgingFollowsNoSymbolicLink) {
  const std::filesystem::path victim = make_victim(folder_ / "victim");
  const Lease whole = trained('a', "a link"), inner = trained('b', "links within");
  for (const Lease& lease : {whole, inner}) store().finish_attempt(lease, RunState::interrupted);
  std::filesystem::remove_all(store().run_folder(whole.run_id));
  std::filesystem::create_directory_symlink(victim, store().run_folder(whole.run_id));
  std::filesystem::create_directory_symlink(victim, store().run_folder(inner.run_id) / "elsewhere");
  store().purge_run(whole.run);
  store().purge_run(inner.run);
  EXPECT_EQ(files_in(victim), 4u);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(store().run_folder(whole.run_id))));
  EXPECT_FALSE(std::filesystem::exists(store().run_folder(inner.run_id)));
}

TEST_F(GarbageTest, AnInvalidIdStopsItBeforeAnythingIsRemoved) {
  const Lease lease = trained('a', "test");
  store().finish_attempt(lease, RunState::interrupted);
  const std::int64_t changed = add('b', "changed");
  store().database().execute("UPDATE run SET id = '..' WHERE number = " + std::to_string(changed));
  const std::string refusal = "holds a run with the id \"..\"";
  EXPECT_NE(message_of<Error>([&] { find_garbage(store()); }).find(refusal), std::string::npos);
  EXPECT_NE(message_of<Error>([&] { remove_garbage(store(), true); }).find(refusal), std::string::npos);
  EXPECT_NE(message_of<Error>([&] { store().purge_run(changed); }).find(refusal), std::string::npos);
  EXPECT_EQ(steps(lease), "1 2 3 4 5 ");
  EXPECT_EQ(store().list_runs().size(), 2u);
}

TEST_F(StoreTest, ARemovedRunIsHiddenUntilItIsRestored) {
  const std::int64_t run = add();
  store().set_removed({run}, true);
  EXPECT_TRUE(store().list_runs().empty());
  EXPECT_EQ(store().list_runs({.sight = Sight::removed}).size(), 1u);
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM run_status"), 0);
  EXPECT_EQ(message_of<UnknownRun>([&] { store().find_run("test"); }),
            "run test was removed; exp undelete test restores it");
  EXPECT_FALSE(store().find_question(testing::question('a'), "openmp"));
  EXPECT_FALSE(store().begin_attempt(run)) << "a process that planned it earlier does not get it";
  record::Specification again = testing::specification_of();
  const AddedRun added = store().add_run(again);
  EXPECT_TRUE(added.created);
  EXPECT_EQ(added.run.repeat, 2);
  EXPECT_EQ(added.run.name, "test-2") << "the name of a run that can come back stays taken";
  store().set_removed({run}, false);
  EXPECT_EQ(store().find_run("test").number, run);
  EXPECT_EQ(store().find_question(testing::question('a'), "openmp")->number, added.run.number);
  EXPECT_EQ(message_of<UnknownRun>([&] { store().find_run("test", Sight::removed); }),
            "run test is not removed");
}

TEST_F(StoreTest, ARunningRunIsNeitherRemovedNorPurgedAndTheOthersStay) {
  const std::int64_t idle = add('a', "idle");
  const std::int64_t busy = add('b', "busy");
  const auto lease = store().begin_attempt(busy);
  for (const std::string& message : {message_of<Error>([&] {
                                       store().set_removed({idle, busy}, true);
                                     }),
                                     message_of<Error>([&] { store().purge_run(busy); })})
    EXPECT_NE(message.find("run busy is running in process " + std::to_string(world::this_process().pid)),
              std::string::npos)
        << message;
  EXPECT_EQ(store().list_runs().size(), 2u) << "all or none";
  EXPECT_TRUE(std::filesystem::exists(store().run_folder(lease->run_id)));
}

TEST_F(StoreTest, APurgedRunLeavesNoRowAndNoFolder) {
  const std::int64_t run = add();
  const Lease lease = store().begin_attempt(run).value();
  {
    record::SpoolWriter spool(spool_of(lease), 1);
    for (int step = 1; step < 4; ++step) spool.point("train/loss", step, 1.0);
    spool.event(record::Digested{.step = 3, .scope = "parameters", .sha256 = "00ff"});
  }
  store().finish_attempt(lease, RunState::failed, "why");
  store().purge_run(run);
  for (const char* table :
       {"run", "attempt", "point", "param", "digest", "event", "spool_metric", "run_dataset"})
    EXPECT_EQ(store().database().integer("SELECT count(*) FROM " + std::string(table)), 0) << table;
  EXPECT_FALSE(std::filesystem::exists(store().run_folder(lease.run_id)));
  add();
  EXPECT_EQ(store().find_run("test").repeat, 1) << "name and question are free again";
}

TEST_F(StoreTest, ANoteIsReplaced) {
  const std::int64_t run = add();
  store().set_note(run, "first");
  store().set_note(run, "second: \"quoted\"");
  EXPECT_EQ(store().read_run(run).note, "second: \"quoted\"");
}

}  // namespace
}  // namespace encore::store
