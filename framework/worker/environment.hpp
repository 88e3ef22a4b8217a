// What the bits of a run depend on, beside its specification (the numeric environment), and where it ran
// (host, build). Place in the flow: the worker's `started` event and `version` verb -> store, verify, report.
#pragma once

#include <span>
#include <string>

#include <encore/layer.hpp>
#include <nlohmann/json_fwd.hpp>

#include "plugin_host/registry.hpp"

namespace encore {

/// backend, device (CPU or GPU model), instruction_set, precision, compiler, the versions of Kokkos and the
/// gemm library, and the SHA-256 of the files that compute: kernels (libencore_kernels.so), worker (in which
/// model, memory and inference are linked), libkokkoscore, libm, libgomp, and each of the plugins. Equal
/// values promise equal bits. Kokkos must be initialised. What older versions have stored lacks worker and
/// lib..., and so differs from what this one stores.
nlohmann::json numeric_environment(const Device& device, const std::string& precision,
                                   std::span<const LoadedPlugin> plugins);

/// Host name, kernel, CPU model and count, memory.
nlohmann::json host_description();

/// Which matrix products the tiles of AMX compute here: {"bfloat16": false, "bytes": false, "reason": "..."};
/// the reason is empty where they are used, and where the processor has none.
nlohmann::json tiles_description();

/// How this program was built: compiler, flags that matter, backend, Encore's version and, where the build
/// recorded it, its source. The record stands beside the programs (record/source_record.hpp); it counts only
/// where this program, the kernels' library and those of `plugins` that belong to the build are the files
/// that it was written for. Else "source_problem" says which one is another.
nlohmann::json build_description(std::span<const LoadedPlugin> plugins = {});

/// "up to 2 threads, as OMP_PLACES={0},{1} says", for the log. Without "up to" the number is fixed
/// (record/thread_adaptation.hpp).
std::string pinning_of(int threads);

/// name, version, sha256, fingerprint, file of each.
nlohmann::json describe_plugins(std::span<const LoadedPlugin> plugins);

}  // namespace encore
