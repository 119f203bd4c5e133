# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause

# The compiler options of all Stepwell targets. There is no -march: the library runs on any x86-64,
# and the kernels are selected at run time.
function(stepwell_compile target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # false for std::string: GCC PR 105651
    if(STEPWELL_PCH)  # the same, of these warnings only when the header is precompiled
      target_compile_options(${target} PRIVATE
        -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
  endif()
  # Without contraction a product and a sum are always rounded separately: same bits everywhere.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
endfunction()

# Compiles the files of a target together, several at a time, if STEPWELL_UNITY is on: their headers
# take most of the time. ARGN: files that share names with others and are compiled by themselves.
function(stepwell_unity target)
  if(STEPWELL_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# target_precompile_headers(), unless STEPWELL_PCH is off: compiles these headers once for all files
# of the target, or of all targets that reuse them and have the same options.
function(stepwell_precompile target)
  if(STEPWELL_PCH)
    target_precompile_headers(${target} ${ARGN})
  endif()
endfunction()
