# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# cmake -DARCHIVE=libstepwell.a -DSTARPU=libstarpu-1.3.a -DAR=.. -DNM=.. -DOBJCOPY=.. -P <this>
#
# Adds StarPU to the archive, and puts stepwell_private_ before each name that StarPU defines, where
# it is defined and where it is used. A program may then link another StarPU, too. (Local names would
# need all objects to be linked into one.)
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(merged ${ARCHIVE}.merged.a)
set(renames ${ARCHIVE}.renames)
execute_process(COMMAND ${NM} --defined-only --extern-only --format=posix ${STARPU}
  OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+ [A-Z] [^\n]*" names "${names}")
list(TRANSFORM names REPLACE "^([^ ]+) .*" "\\1 stepwell_private_\\1")
list(REMOVE_DUPLICATES names)
list(JOIN names "\n" text)
file(WRITE ${renames} "${text}\n")
file(WRITE ${ARCHIVE}.script
  "CREATE ${merged}\nADDLIB ${ARCHIVE}\nADDLIB ${STARPU}\nSAVE\nEND\n")
execute_process(COMMAND ${AR} -M INPUT_FILE ${ARCHIVE}.script COMMAND_ERROR_IS_FATAL ANY)
run(${OBJCOPY} --redefine-syms=${renames} ${merged} ${ARCHIVE})
file(REMOVE ${merged} ${renames} ${ARCHIVE}.script)
