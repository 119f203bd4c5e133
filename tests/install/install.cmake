# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs BUILD, then moves the result to PREFIX: installed files must not depend on their
# location.
file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}.first")
execute_process(COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${PREFIX}.first"
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${PREFIX}.first" "${PREFIX}")

# The command finds its benchmarks, and they find oneDNN's module, without help from variables.
if(EXISTS "${PREFIX}/bin/stepwell")
  set(bench ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH "${PREFIX}/bin/stepwell"
    bench kernel --op update --rung bf16 --n 64 --pairs 1 --json)
  execute_process(COMMAND ${bench} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE module "${PREFIX}/*/stepwell_onednn.so")
  if(module)
    execute_process(COMMAND ${bench} --against onednn OUTPUT_VARIABLE out ERROR_VARIABLE text)
    # oneDNN computes this product on some machines only.
    if(NOT out MATCHES "\"oneDNN\"" AND NOT text MATCHES "oneDNN can't compute this product")
      message(SEND_ERROR "--against onednn: ${text}")
    endif()
  endif()
  file(READ "${PREFIX}/share/man/man1/stepwell.1" page)
  if(NOT page MATCHES "\n.SS bench kernel\n")
    message(SEND_ERROR "the manual page lacks the verbs of stepwell-bench")
  endif()
endif()
