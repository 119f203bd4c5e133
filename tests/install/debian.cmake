# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes the Debian packages of BUILD in FOLDER, unpacks them and checks them: each has its own files
# and the right dependencies, and the command runs from there. tests/install/chroot.sh really
# installs them, in a separate system.
file(REMOVE_RECURSE "${FOLDER}")
execute_process(COMMAND ${CPACK} -G DEB -B "${FOLDER}" WORKING_DIRECTORY "${BUILD}"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# The package 'name' contains files that match 'holds', and its dependencies match 'needs'.
function(check_package name holds needs)
  file(GLOB package "${FOLDER}/${name}_*.deb")
  if(NOT package)
    message(FATAL_ERROR "there is no package ${name}")
  endif()
  execute_process(COMMAND dpkg-deb -c ${package} OUTPUT_VARIABLE files COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND dpkg-deb -f ${package} Depends OUTPUT_VARIABLE depends
    COMMAND_ERROR_IS_FATAL ANY)
  foreach(pattern IN LISTS holds ITEMS "/usr/share/doc/${name}/copyright")
    if(NOT files MATCHES "${pattern}")
      message(SEND_ERROR "${name} has no ${pattern}:\n${files}")
    endif()
  endforeach()
  foreach(pattern IN LISTS needs)
    if(NOT depends MATCHES "${pattern}")
      message(SEND_ERROR "${name} does not depend on ${pattern}: ${depends}")
    endif()
  endforeach()
  execute_process(COMMAND dpkg-deb -x ${package} "${FOLDER}/root" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(BUNDLED)
  check_package(libstepwell${SOVERSION} "starpu_notice.txt" "libhwloc;libopenblas|lapack")
else()
  check_package(libstepwell${SOVERSION} "libstepwell.so.${SOVERSION} -> " "libstarpu;libopenblas|lapack")
endif()
check_package(libstepwell-dev "stepwell/stepwell.hpp;stepwell/stepwell.h\n;stepwellConfig.cmake;stepwell.pc"
  "libstepwell${SOVERSION}")
check_package(libstepwell-mpi${SOVERSION} "libstepwell_mpi.so.${SOVERSION} -> "
  "libstepwell${SOVERSION};libopenmpi")
check_package(stepwell "/usr/bin/stepwell\n;man1/stepwell.1" "libstepwell${SOVERSION}")
check_package(stepwell-bench "/usr/bin/stepwell-bench\n" "stepwell")

file(GLOB_RECURSE library "${FOLDER}/root/*/libstepwell.so.${SOVERSION}")
cmake_path(GET library PARENT_PATH folder)
set(ENV{LD_LIBRARY_PATH} "${folder}")
set(command "${FOLDER}/root/usr/bin/stepwell")
execute_process(COMMAND "${command}" gen arithmetic --n 400 -o A.npy --rhs b.npy
  WORKING_DIRECTORY "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${command}" solve A.npy b.npy -o x.npy
  WORKING_DIRECTORY "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${command}" bench kernel --op update --n 64 --pairs 1 --json
  WORKING_DIRECTORY "${FOLDER}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# Without the benchmarks the command says what is missing.
file(REMOVE "${FOLDER}/root/usr/bin/stepwell-bench")
execute_process(COMMAND "${command}" bench kernel --op update RESULT_VARIABLE code
  ERROR_VARIABLE text)
if(NOT code EQUAL 14 OR NOT text MATCHES "^stepwell: error: [^\n]*package stepwell-bench[^\n]*\n$")
  message(SEND_ERROR "without stepwell-bench: exit code ${code}, '${text}'")
endif()
