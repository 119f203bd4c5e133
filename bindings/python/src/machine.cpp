// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/machine.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "module.hpp"
#include "stepwell/context.hpp"

namespace stepwell::python {
namespace {

namespace nb = nanobind;

nb::dict describe() {
  const MachineReport r = describe_machine();
  nb::dict d;
  d["version"] = r.version;
  d["cpu_vendor"] = r.cpu_vendor;
  d["cpu_model"] = r.cpu_model;
  d["cpu_features"] = nb::tuple(nb::cast(r.cpu_features));
  d["isa"] = r.isa;
  d["isa_cap"] = r.isa_cap;
  d["isa_cap_problem"] = r.isa_cap_problem;
  nb::dict refused;
  for (const IsaState& isa : r.isas) {
    if (!isa.usable) refused[nb::cast(isa.name)] = isa.reason;
  }
  d["isas_refused"] = refused;
  nb::dict kernels;
  for (const KernelChoice& k : r.kernels) kernels[nb::cast(k.operation)] = k.kernel;
  d["kernels"] = kernels;
  d["blas"] = r.blas.library;
  d["blas_version"] = r.blas.version;
  d["blas_core_name"] = r.blas.core_name;
  d["blas_threads"] = r.blas.threads;
  d["blas_warning"] = r.blas.warning;
  d["cpus_online"] = r.cpus_online;
  d["cpus_by_affinity"] = r.cpus_by_affinity;
  d["cpus_by_quota"] = r.cpus_by_quota;
  d["threads"] = r.threads;
  d["threads_reason"] = r.threads_reason;
  d["threads_problem"] = r.threads_problem;
  d["starpu_version"] = r.starpu.version;
  d["starpu_bundled"] = r.starpu.bundled;
  d["starpu_warning"] = r.starpu.warning;
  d["worker_limit"] = r.worker_limit;
  d["memory_total"] = r.memory_total;
  d["memory_available"] = r.memory_available;
  d["huge_pages"] = r.huge_pages;
  return d;
}

}  // namespace

void bind_machine(nb::module_& m) {
  m.def("describe", &describe, "Returns the fields of stepwell.Machine as a dict.");
  m.def("num_threads", &num_threads, "The number of threads of a call without threads=.");
  m.def("set_num_threads", &set_num_threads, nb::arg("threads"), "Sets that number.");
  m.def("set_memory_cache", &set_memory_cache, nb::arg("bytes"), "Sets how much memory is kept.");
  m.def("release_memory", &release_memory, "Gives back the memory that is kept.");
}

}  // namespace stepwell::python
