// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "spool": spools, the files to which workers append their events, are read record by record
// (record/spool_reader.hpp) and then merged into a database with one run, as `exp` does. Most mutations
// change the content of a frame (one record with its length and checksum) and give it a matching checksum:
// otherwise few would be read beyond their first byte. fuzz.cpp calls the target; read target.hpp first.
#include <cstring>

#include <nlohmann/json.hpp>

#include "base/crc32.hpp"
#include "fuzz/runs.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"
#include "record/spool_reader.hpp"
#include "support/raw_event.hpp"

namespace encore::fuzz {

namespace {

constexpr std::size_t frame_head = 8;
constexpr std::size_t payload_head = 9;  ///< bytes of the sequence number and the kind of a record

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// Returns where the frames of a whole spool begin.
std::vector<std::size_t> frames_of(const std::string& spool, std::size_t head) {
  std::vector<std::size_t> frames;
  for (std::size_t at = head; at + frame_head <= spool.size(); at += frame_head + number_at(spool, at))
    frames.push_back(at);
  return frames;
}

void replace_payload(std::string& spool, std::size_t frame, const std::string& payload) {
  spool.replace(frame + frame_head, number_at(spool, frame), payload);
  const auto length = static_cast<std::uint32_t>(payload.size());
  const std::uint32_t sum = crc32(std::as_bytes(std::span(payload)));
  std::memcpy(spool.data() + frame, &length, sizeof length);
  std::memcpy(spool.data() + frame + 4, &sum, sizeof sum);
}

class SpoolTarget final : public Target {
 public:
  std::string name() const override { return "spool"; }

  std::vector<std::string> corpus() override {
    store::Store& store = runs_.store();
    record::Specification specification = testing::specification_of();
    lease_ = *store.begin_attempt(store.add_run(specification).run.number);
    spool_ = store.run_folder(lease_.run_id) / record::spool_name(lease_.ordinal);
    tell();
    leave_one_file(store.database());
    runs_.store_.reset();
    database_ = read_bytes(runs_.path());
    return {read_bytes(spool_)};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    if (random.once_in(4)) return mutate_bytes(input, json_words(), others, random);
    for (std::size_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::vector<std::size_t> frames = frames_of(input, record::spool_head_bytes);
      const std::size_t frame = random.any_of(frames);
      std::string payload = input.substr(frame + frame_head, number_at(input, frame));
      std::string body = payload.size() < payload_head ? "" : payload.substr(payload_head);
      if (body.starts_with('{'))
        mutate_json(body, random);
      else
        mutate_bytes(body, json_words(), others, random);
      if (random.once_in(8) && !payload.empty())
        payload[random.below(payload.size())] ^= 1;  // sequence or kind
      replace_payload(input, frame, payload.substr(0, payload_head) + body);
    }
  }

  void take(const std::string& input) override {
    write_bytes(spool_, input);
    record::SpoolReader reader(spool_, {lease_.run_id, lease_.ordinal});
    for (record::SpoolRecord record; reader.next(record);)
      if (record.kind == record::SpoolKind::event) record.event();
    write_bytes(runs_.path(), database_);
    store::Store store(runs_.path(), store::OpenMode::write);
    store.database().execute("PRAGMA synchronous = OFF");
    store.merge(lease_);
    store.finish_attempt(lease_, store::RunState::completed);
    store.read_attempts(lease_.run);
    store.read_events(lease_.run);
    store.read_digests(lease_.run);
    for (const store::MetricRow& metric : store.read_metrics(lease_.run))
      store.read_curve(lease_.run, metric.name);
  }

 private:
  void tell() {
    record::SpoolWriter spool(spool_, lease_.ordinal, lease_.run_id);
    testing::write_event(
        spool, "started",
        {{"numeric_environment", {{"backend", "openmp"}, {"device", "cpu"}}},
         {"host", {{"name", "here"}, {"cpus", 2}}},
         {"build", {{"version", "1"}, {"fingerprint", "sdk=2;"}}},
         {"parameters", 12},
         {"data", {{"train", {{"examples", 10}}}}},
         {"plugins", {{{"name", "p"}, {"version", "1"}, {"sha256", "ab"}, {"fingerprint", "f"}}}}});
    spool.define("tokens", "1/s");
    spool.point("train/loss", 1, 0.25);
    testing::write_event(spool, "progress",
                         {{"step", 1},
                          {"total_steps", 4},
                          {"epoch", 1},
                          {"loss", 0.25},
                          {"learning_rate", 1e-3},
                          {"tokens_per_second", 100.0},
                          {"eta_seconds", 3.0}});
    testing::write_event(spool, "log", {{"level", "info"}, {"text", "said"}});
    testing::write_event(spool, "digest",
                         {{"step", 1}, {"scope", "parameters"}, {"value", "0123456789abcdef"}});
    testing::write_event(spool, "checkpoint",
                         {{"step", 1},
                          {"path", "checkpoints/step-00000001.safetensors"},
                          {"bytes", 10},
                          {"sha256", std::string(64, 'a')},
                          {"kind", "best"}});
    testing::write_event(
        spool, "artifact",
        {{"name", "predictions"}, {"path", "predictions/test.jsonl"}, {"sha256", std::string(64, 'b')}});
    testing::write_event(spool, "result", {{"best_step", 1}, {"measures", {{"test/f1", 0.5}}}});
    testing::write_event(spool, "finished", {{"state", "completed"}, {"reason", ""}, {"step", 1}});
    spool.flush();
  }

  struct OpenRuns : Runs {
    using Runs::store_;
  };

  OpenRuns runs_;
  store::Lease lease_;
  std::filesystem::path spool_;
  std::string database_;
};

}  // namespace

std::unique_ptr<Target> make_spool_target() {
  return std::make_unique<SpoolTarget>();
}

}  // namespace encore::fuzz
