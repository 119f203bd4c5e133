# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# No run path may have an empty entry: it means the current directory, where anyone may put
# libraries.
#
#   cmake -DBUILD=<build directory> -DREADELF=<program> -P run_paths.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB files "${BUILD}/bin/*" "${BUILD}/lib/*.so*" "${BUILD}/lib/*/*.so*" "${BUILD}/src/*.so*"
  "${BUILD}/bindings/*/*.so*" "${BUILD}/tests/*_test" "${BUILD}/tests/*/*_test")
set(paths 0)
set(problems "")
foreach(file IN LISTS files)
  if(IS_DIRECTORY "${file}")
    continue()
  endif()
  execute_process(COMMAND "${READELF}" -d "${file}" OUTPUT_VARIABLE text ERROR_QUIET)
  if(NOT text MATCHES "\\((RPATH|RUNPATH)\\)[^[]*\\[([^]\n]*)\\]")
    continue()
  endif()
  math(EXPR paths "${paths} + 1")
  set(path "${CMAKE_MATCH_2}")
  if(path STREQUAL "" OR path MATCHES "^:|::|:$")
    string(APPEND problems "  ${file}: '${path}'\n")
  endif()
endforeach()
if(paths EQUAL 0)
  message(FATAL_ERROR "no run path in ${BUILD}: this test sees nothing")
endif()
if(problems)
  message(FATAL_ERROR "run paths with an empty entry, the current directory:\n${problems}")
endif()
message(STATUS "run_paths: ${paths} run paths, none with an empty entry")
