// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes the record of sent alerts. A lock on the file alerts.lock keeps two calls of `exp monitor`
// from sending an alert twice. Read sent_alerts.hpp first.
#include "monitor/sent_alerts.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "world/atomic_file.hpp"

namespace encore::monitor {

struct SentRecord {
  int version = 1;
  std::vector<SentAlert> sent = {};
};

static void list(auto& field, A<SentAlert> auto& alert) {
  field("alert", alert.alert);
  field("group", alert.group);
  field("raised", alert.raised);
}

static void list(auto& field, A<SentRecord> auto& record) {
  field("version", record.version);
  field("sent", record.sent);
}

namespace {

constexpr unsigned private_mode = 0600;

world::FileDescriptor locked_file(const std::filesystem::path& path) {
  world::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, private_mode));
  if (!file) throw Error(world::system_message("open", path, errno));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error("another exp monitor sends alerts of this run (" + path.string() +
                " is locked); wait until it ends");
  return file;
}

}  // namespace

SentAlerts::SentAlerts(const std::filesystem::path& folder)
    : path_(folder / "alerts.json"), lock_(locked_file(folder / "alerts.lock")) {
  try {
    auto record = from_json_object<SentRecord>(parse_json(read_file(path_)));
    if (record.version != 1) throw Error("it is of version " + std::to_string(record.version));
    sent_ = std::move(record.sent);
  } catch (const UnreadableFile& error) {
    if (!error.missing()) throw;
  } catch (const Error& error) {
    throw Error("damaged " + path_.string() + ": " + error.what() + "; remove it to send all alerts again");
  }
}

bool SentAlerts::contains(const AlertRule& rule, const Alert& alert) const {
  // The alert before this one ended at least `hold` after it was raised, so it is not taken for this one.
  return std::ranges::any_of(sent_, [&](const SentAlert& sent) {
    return sent.alert == rule.name && sent.group == alert.group && sent.raised >= alert.raised - rule.hold &&
           (!alert.ended || sent.raised < *alert.ended);
  });
}

void SentAlerts::add(const AlertRule& rule, const Alert& alert) {
  sent_.push_back({.alert = rule.name, .group = alert.group, .raised = alert.raised});
  world::save_file(path_, to_json_object<nlohmann::ordered_json>(SentRecord{.sent = sent_}).dump(1) + "\n");
}

}  // namespace encore::monitor
