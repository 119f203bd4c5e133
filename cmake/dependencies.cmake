# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Finds the dependencies of Stepwell. All missing ones are reported together, with their Debian
# packages. docs/dependencies.md explains why each one is needed.

set(missing_packages "")
set(missing_text "")
macro(stepwell_need found what debian_package)
  if(NOT ${found})
    string(APPEND missing_text "  ${what} (Debian: ${debian_package})\n")
    list(APPEND missing_packages ${debian_package})
  endif()
endmacro()

find_package(PkgConfig QUIET)
stepwell_need(PkgConfig_FOUND "pkg-config" pkg-config)

# CBLAS and LAPACK: any implementation that CMake finds; BLA_VENDOR selects one. GLOBAL, because a
# project that uses Stepwell as a static subdirectory links them itself.
find_package(BLAS GLOBAL QUIET)
find_package(LAPACK GLOBAL QUIET)
find_path(STEPWELL_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas)
mark_as_advanced(STEPWELL_CBLAS_INCLUDE_DIR)
stepwell_need(BLAS_FOUND "BLAS" libopenblas-dev)
stepwell_need(LAPACK_FOUND "LAPACK" libopenblas-dev)
stepwell_need(STEPWELL_CBLAS_INCLUDE_DIR "cblas.h" libopenblas-dev)
if(BLAS_FOUND)
  include(CheckFunctionExists)
  set(CMAKE_REQUIRED_LIBRARIES BLAS::BLAS)
  set(CMAKE_REQUIRED_QUIET ON)
  check_function_exists(cblas_dgemm STEPWELL_BLAS_HAS_CBLAS)
  unset(CMAKE_REQUIRED_QUIET)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT STEPWELL_BLAS_HAS_CBLAS)
    find_library(STEPWELL_CBLAS_LIBRARY cblas)
    mark_as_advanced(STEPWELL_CBLAS_LIBRARY)
    stepwell_need(STEPWELL_CBLAS_LIBRARY "a BLAS with the CBLAS interface" libopenblas-dev)
  endif()
endif()

find_package(HWY CONFIG QUIET NAMES hwy HWY)
stepwell_need(HWY_FOUND "Google Highway" libhwy-dev)

find_path(STEPWELL_XXHASH_INCLUDE_DIR xxhash.h)
mark_as_advanced(STEPWELL_XXHASH_INCLUDE_DIR)
stepwell_need(STEPWELL_XXHASH_INCLUDE_DIR "xxhash.h" libxxhash-dev)

include(cmake/starpu.cmake)
stepwell_need(STARPU_FOUND "StarPU 1.3" libstarpu-dev)
# Optional, unless it is asked for: with MPI, libstepwell_mpi is built.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
option(STEPWELL_BUILD_MPI "Build libstepwell_mpi, for solves over MPI" ${MPI_CXX_FOUND})
if(STEPWELL_BUILD_MPI)
  stepwell_need(MPI_CXX_FOUND "MPI" libopenmpi-dev)
endif()

if(STEPWELL_BUILD_TOOLS)
  find_package(fmt CONFIG QUIET)
  stepwell_need(fmt_FOUND "fmt" libfmt-dev)
  find_package(nlohmann_json CONFIG QUIET)
  stepwell_need(nlohmann_json_FOUND "nlohmann-json" nlohmann-json3-dev)
  find_package(CLI11 CONFIG QUIET)
  stepwell_need(CLI11_FOUND "CLI11" libcli11-dev)
  find_package(dnnl CONFIG QUIET)  # optional (libdnnl-dev): one more baseline to compare with
endif()

if(STEPWELL_BUILD_TESTS)
  find_package(GTest CONFIG QUIET)
  stepwell_need(GTest_FOUND "GoogleTest" libgtest-dev)
  find_package(rapidcheck CONFIG QUIET)
  stepwell_need(rapidcheck_FOUND "RapidCheck" librapidcheck-dev)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  stepwell_need(Python3_Interpreter_FOUND "Python 3" python3)
endif()

if(missing_packages)
  list(REMOVE_DUPLICATES missing_packages)
  list(JOIN missing_packages " " missing_packages)
  message(FATAL_ERROR "Stepwell needs these packages, which were not found:\n${missing_text}"
    "On Debian or Ubuntu: apt install ${missing_packages}")
endif()
