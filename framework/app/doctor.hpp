// SPDX-License-Identifier: BSD-3-Clause
// examine(): checks for `exp doctor` whether a machine can build Encore, train and share runs, with advice
// for each finding. cli/doctor_verb.cpp prints the findings. The checks start no training; the only write is
// a temporary file in the database's folder. Programs read groups and states as JSON, so "build", "ok" and
// the others keep their names; sentences may change.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/backend.hpp"

namespace encore::app {

enum class Health : std::uint8_t {
  good,     ///< present and working
  absent,   ///< missing, but needed only for some work
  warning,  ///< works, with a limitation
  problem,  ///< missing, and needed for every training
};
/// Returns "ok", "absent", "warning" or "problem".
const char* health_name(Health health);

struct DoctorFinding {
  std::string group;             ///< "build", "run", "cluster", "storage", "limits", "clock"
  std::string what;              ///< subject of the check: "compiler"
  Health health = Health::good;  ///< decides about colour and exit code
  std::string found;             ///< the observed state
  std::string advice;            ///< what to do; empty: nothing
};

struct DoctorRequest {
  bool json = false, csv = false;
  std::optional<std::string> backend;
};

Form<DoctorRequest> doctor_form();

/// Returns all findings, in the order in which users need them.
std::vector<DoctorFinding> examine(const DoctorRequest& request, const App& app);

/// Returns a name such as "ext4" or "NFS", or "an unknown kind (0x1234)".
std::string file_system_name(unsigned long magic);

}  // namespace encore::app
