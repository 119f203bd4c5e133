# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Fails if PROGRAM, a GoogleTest program, has a suite that is not in SUITES (separated by commas):
# ctest would not run it.   cmake -DPROGRAM=<program> -DSUITES=<names> -P check_suites.cmake
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE output
  COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "," ";" SUITES "${SUITES}")
string(REGEX REPLACE "[][;]" "" output "${output}")
string(REPLACE "\n" ";" lines "${output}")
set(missing "")
foreach(line IN LISTS lines)
  # "Suite.", "Instance/Suite." or, of a typed suite, "Suite/0.  # TypeParam = double".
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.")
    string(REGEX REPLACE "/[0-9]+$" "" suite "${CMAKE_MATCH_1}")
    string(REGEX REPLACE "^.*/" "" suite "${suite}")
    if(NOT suite IN_LIST SUITES)
      list(APPEND missing ${suite})
    endif()
  endif()
endforeach()
if(missing)
  list(REMOVE_DUPLICATES missing)
  message(FATAL_ERROR "ctest does not run these suites of ${PROGRAM}: ${missing}")
endif()
