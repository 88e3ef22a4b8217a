// What the bits of a run depend on, beside its specification (the numeric environment), and where it ran
// (host, build). Place in the flow: the worker's `started` event and `version` verb -> store, verify, report.
#pragma once

#include <span>
#include <string>

#include <encore/layer.hpp>
#include <nlohmann/json_fwd.hpp>

#include "plugin_host/registry.hpp"

namespace encore {

/// backend, device (CPU or GPU model), instruction_set, precision, compiler, and the versions of Kokkos
/// and the gemm library, and the SHA-256 of the kernels' library and of each plugin. Equal
/// values promise equal bits.
/// Kokkos must be initialised.
nlohmann::json numeric_environment(const Device& device, const std::string& precision,
                                   std::span<const LoadedPlugin> plugins);

/// Host name, kernel, CPU model and count, memory.
nlohmann::json host_description();

/// Which matrix products the tiles of AMX compute here: {"bfloat16": false, "bytes": false, "reason": "..."};
/// the reason is empty where they are used, and where the processor has none.
nlohmann::json tiles_description();

/// How this binary was built: compiler, flags that matter, backend, Encore's version and commit.
nlohmann::json build_description();

/// "up to 2 threads, as OMP_PLACES={0},{1} says", for the log. Without "up to" the number is fixed
/// (record/thread_adaptation.hpp).
std::string pinning_of(int threads);

/// name, version, sha256, fingerprint, file of each.
nlohmann::json describe_plugins(std::span<const LoadedPlugin> plugins);

}  // namespace encore
