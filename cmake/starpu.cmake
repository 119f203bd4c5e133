# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# StarPU: the system's, or a private one inside libstepwell. StarPU has room for as many workers as
# its build machine had cores, four in Debian's, unless it is configured otherwise.
#
# Defines STARPU_FOUND, STEPWELL_STARPU_BUNDLED, STEPWELL_STARPU_TARGET (to be linked) and, if it is
# bundled, STEPWELL_STARPU_ARCHIVE and STEPWELL_STARPU_NEEDS (what the archive is linked with).
set(STEPWELL_STARPU "" CACHE STRING
  "StarPU: system, bundled, or empty: the system's if it has room for 256 workers, else bundled")
set_property(CACHE STEPWELL_STARPU PROPERTY STRINGS "" system bundled)
set(STEPWELL_STARPU_SOURCE "" CACHE STRING
  "Source of a bundled StarPU 1.3: its directory, its tarball, or a URL")
set(STEPWELL_STARPU_HASH "" CACHE STRING
  "Hash of that tarball, SHA256=...; a URL must have one")
set(STEPWELL_STARPU_PREFIX ${PROJECT_BINARY_DIR}/starpu CACHE PATH
  "Where a bundled StarPU is built and installed; several build directories may share it")
mark_as_advanced(STEPWELL_STARPU_HASH STEPWELL_STARPU_PREFIX)

set(starpu_enough 256)    # workers
set(starpu_workers 512)   # of a bundled StarPU
set(starpu_numa_nodes 16)

set(STARPU_FOUND FALSE)
if(PkgConfig_FOUND)
  # GLOBAL, because a project that uses Stepwell as a static subdirectory links it itself.
  pkg_check_modules(STARPU QUIET IMPORTED_TARGET GLOBAL starpu-1.3)
endif()

# Sets 'result' to the number of CPU workers that the system's StarPU has room for.
function(stepwell_system_starpu_workers result)
  set(${result} 0 PARENT_SCOPE)
  find_file(config starpu_config.h PATHS ${STARPU_INCLUDE_DIRS}
    NO_DEFAULT_PATH NO_CACHE)
  if(config)
    file(STRINGS ${config} line REGEX "^#define STARPU_MAXCPUS [0-9]+")
    if(line MATCHES "([0-9]+)")
      set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endif()
endfunction()

set(starpu_choice "${STEPWELL_STARPU}")
if(starpu_choice STREQUAL "")
  stepwell_system_starpu_workers(system_workers)
  if(system_workers LESS starpu_enough AND STEPWELL_STARPU_SOURCE)
    set(starpu_choice bundled)
  else()
    set(starpu_choice system)
    if(STARPU_FOUND AND system_workers LESS starpu_enough)
      message(WARNING "The system's StarPU has room for ${system_workers} workers: over MPI, a rank "
        "will use at most ${system_workers} cores. For more, set STEPWELL_STARPU_SOURCE to a source "
        "of StarPU 1.3 (docs/dependencies.md).")
    endif()
  endif()
endif()
if(NOT starpu_choice MATCHES "^(system|bundled)$")
  message(FATAL_ERROR "STEPWELL_STARPU is '${starpu_choice}'; it must be system, bundled or empty")
endif()

if(starpu_choice STREQUAL "system")
  set(STEPWELL_STARPU_BUNDLED OFF)
  set(STEPWELL_STARPU_TARGET PkgConfig::STARPU)
  return()
endif()

set(STEPWELL_STARPU_BUNDLED ON)
set(STEPWELL_STARPU_TARGET stepwell_starpu)
set(STARPU_FOUND TRUE)
pkg_check_modules(STEPWELL_HWLOC REQUIRED IMPORTED_TARGET GLOBAL hwloc)
find_package(OpenCL QUIET)
set(STEPWELL_STARPU_NEEDS PkgConfig::STEPWELL_HWLOC ${CMAKE_DL_LIBS} m pthread rt)
set(starpu_opencl --disable-opencl)
if(OpenCL_FOUND)
  set(starpu_opencl --enable-opencl)
  set_target_properties(OpenCL::OpenCL PROPERTIES IMPORTED_GLOBAL TRUE)
  list(APPEND STEPWELL_STARPU_NEEDS OpenCL::OpenCL)
endif()
# Without GLPK, which is under the GPL.
set(starpu_options
  --enable-maxcpus=${starpu_workers} --enable-maxnumanodes=${starpu_numa_nodes} ${starpu_opencl}
  --disable-cuda --disable-mpi --disable-glpk --disable-openmp --disable-fortran
  --disable-starpufft --disable-socl --disable-valgrind --disable-build-doc --disable-build-tests
  --disable-build-examples --disable-export-dynamic --disable-fstack-protector-all --without-x
  --disable-full-gdb-information --enable-static --disable-shared --with-pic)

set(STEPWELL_STARPU_ARCHIVE ${STEPWELL_STARPU_PREFIX}/lib/libstarpu-1.3.a)
set(starpu_include ${STEPWELL_STARPU_PREFIX}/include/starpu/1.3)
# A build that another build directory has finished with the same options is used as it is.
set(starpu_stamp ${STEPWELL_STARPU_PREFIX}/built_with.txt)
string(JOIN "\n" starpu_wanted "${STEPWELL_STARPU_SOURCE}" "${STEPWELL_STARPU_HASH}"
  ${starpu_options})
set(starpu_built "")
if(EXISTS ${starpu_stamp} AND EXISTS ${STEPWELL_STARPU_ARCHIVE})
  file(READ ${starpu_stamp} starpu_built)
endif()

add_library(stepwell_starpu STATIC IMPORTED GLOBAL)
if(NOT starpu_built STREQUAL starpu_wanted)
  if(NOT STEPWELL_STARPU_SOURCE)
    message(FATAL_ERROR "STEPWELL_STARPU=bundled needs STEPWELL_STARPU_SOURCE: the directory, the "
      "tarball or the URL of StarPU 1.3 (on Debian: apt-get source starpu)")
  elseif(STEPWELL_STARPU_SOURCE MATCHES "^[a-z]+://" AND NOT STEPWELL_STARPU_HASH)
    message(FATAL_ERROR "STEPWELL_STARPU_SOURCE is a URL; set STEPWELL_STARPU_HASH to "
      "SHA256=<its hash>, too")
  endif()
  set(starpu_from URL ${STEPWELL_STARPU_SOURCE} DOWNLOAD_EXTRACT_TIMESTAMP ON)
  if(IS_DIRECTORY "${STEPWELL_STARPU_SOURCE}")
    set(starpu_from SOURCE_DIR ${STEPWELL_STARPU_SOURCE})
  elseif(STEPWELL_STARPU_HASH)
    list(APPEND starpu_from URL_HASH ${STEPWELL_STARPU_HASH})
  endif()
  cmake_host_system_information(RESULT starpu_jobs QUERY NUMBER_OF_LOGICAL_CORES)
  file(WRITE ${PROJECT_BINARY_DIR}/starpu_wanted.txt "${starpu_wanted}")
  include(ExternalProject)
  ExternalProject_Add(starpu_build
    ${starpu_from}
    PREFIX ${STEPWELL_STARPU_PREFIX}/build
    CONFIGURE_COMMAND ${CMAKE_COMMAND} -E env "CFLAGS=-O2 -fPIC" <SOURCE_DIR>/configure --quiet
      --prefix=${STEPWELL_STARPU_PREFIX} --libdir=${STEPWELL_STARPU_PREFIX}/lib ${starpu_options}
    BUILD_COMMAND make --silent -j${starpu_jobs}
    INSTALL_COMMAND make --silent install
    COMMAND ${CMAKE_COMMAND} -E copy <SOURCE_DIR>/COPYING.LGPL ${STEPWELL_STARPU_PREFIX}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_BINARY_DIR}/starpu_wanted.txt ${starpu_stamp}
    LOG_CONFIGURE ON LOG_BUILD ON LOG_INSTALL ON LOG_OUTPUT_ON_FAILURE ON
    BUILD_BYPRODUCTS ${STEPWELL_STARPU_ARCHIVE})
  add_dependencies(stepwell_starpu starpu_build)
  file(MAKE_DIRECTORY ${starpu_include})
endif()
set_target_properties(stepwell_starpu PROPERTIES
  IMPORTED_LOCATION ${STEPWELL_STARPU_ARCHIVE}
  INTERFACE_INCLUDE_DIRECTORIES ${starpu_include}
  INTERFACE_LINK_LIBRARIES "${STEPWELL_STARPU_NEEDS}")
