# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
#   cmake -DNM=<nm> -DLIBRARY=<libstepwell_lapack.so> -P exports.cmake
#
# The library exports LAPACK's names for its routines, and nothing else.
cmake_minimum_required(VERSION 3.25)
set(expected "")
foreach(routine IN ITEMS dsposv dsgesv dposv dpotrf dgesv dgels dpotrs dgetrs dpocon dgecon)
  list(APPEND expected ${routine}_ ${routine}_64_ LAPACKE_${routine} LAPACKE_${routine}_64
    LAPACKE_${routine}_work LAPACKE_${routine}_work_64)
endforeach()
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE text
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" found "${text}")
list(TRANSFORM found STRIP)
set(missing ${expected})
list(REMOVE_ITEM missing ${found})
set(surplus ${found})
list(REMOVE_ITEM surplus ${expected})
if(missing OR surplus)
  message(FATAL_ERROR "missing: ${missing}\nnot LAPACK's: ${surplus}")
endif()
