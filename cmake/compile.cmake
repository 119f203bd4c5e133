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

# target_precompile_headers(), unless STEPWELL_PCH is off: compiles these headers once for all files
# of the target, or of all targets that reuse them and have the same options.
function(stepwell_precompile target)
  if(STEPWELL_PCH)
    target_precompile_headers(${target} ${ARGN})
  endif()
endfunction()
