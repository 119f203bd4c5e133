# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Configures SOURCE with OPTIONS in a fresh BUILD, builds it and runs its program 'downstream'.
file(REMOVE_RECURSE "${BUILD}")
execute_process(COMMAND ${CMAKE_COMMAND} -S "${SOURCE}" -B "${BUILD}" -G "${GENERATOR}"
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${COMPILER}
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" ${OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build "${BUILD}" --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${BUILD}/downstream" COMMAND_ERROR_IS_FATAL ANY)
