# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# The shared LIBRARY exports its public functions and none of its internals.
execute_process(COMMAND ${NM} --dynamic --defined-only --demangle "${LIBRARY}"
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
foreach(wanted IN ITEMS "stepwell::version()" "stepwell::describe_machine()"
    "stepwell::cholesky(" "stepwell::syrk(" "stepwell::trsm(" "stepwell::parse_map("
    "stepwell::solve(" "stepwell::Solver::factor()" "stepwell::lstsq(" "stepwell::batch_solve("
    "stepwell::als_step(" "typeinfo for stepwell::Error" " stepwell_solve" " stepwell_batch_solve")
  string(FIND "${symbols}" "${wanted}" at)
  if(at LESS 0)
    message(SEND_ERROR "${wanted} is not exported")
  endif()
endforeach()
string(REGEX MATCHALL
  "[^\n]* [A-Za-z] stepwell::(core|kernels|tiles|engine|factor|refine|driver|batched|gallery|io|c)::[^\n]*"
  inside "${symbols}")
foreach(symbol IN LISTS inside)
  message(SEND_ERROR "exported, but it is not public: ${symbol}")
endforeach()
string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
foreach(symbol IN LISTS lines)
  if(NOT symbol MATCHES "^[0-9a-f]+ [A-Za-z] (stepwell::|stepwell_|(typeinfo|typeinfo name|vtable) for stepwell::)")
    message(SEND_ERROR "exported, but it is not ours: ${symbol}")
  endif()
endforeach()
