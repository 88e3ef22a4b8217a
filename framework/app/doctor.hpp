// doctor: what a machine has and lacks for building, training and sharing, each with what to do.
// `exp doctor` prints them. Nothing here starts a worker's training or changes anything but a file of a
// moment in the database's folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/backend.hpp"

namespace encore {

enum class Health : std::uint8_t {
  good,     ///< there, and as it should be
  absent,   ///< something that not everybody needs
  warning,  ///< works, but somebody will be surprised
  problem,  ///< what everybody needs is missing
};
/// "ok", "absent", "warning", "problem"
const char* health_name(Health health);

struct DoctorFinding {
  std::string group;  ///< "build", "run", "cluster", "storage", "limits", "clock"
  std::string what;
  Health health = Health::good;
  std::string found;   ///< what there is
  std::string advice;  ///< what to do; empty where nothing is to be done
};

struct DoctorRequest {
  bool json = false, csv = false;
  std::optional<std::string> backend;
};

Form<DoctorRequest> doctor_form();

/// All of them, in the order in which people need them.
std::vector<DoctorFinding> examine(const DoctorRequest& request, const App& app);

/// "ext4", "NFS"; "an unknown kind (0x1234)" for what has no name here.
std::string file_system_name(unsigned long magic);

}  // namespace encore
