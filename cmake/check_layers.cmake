# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Checks the rules of the source tree on the text of the sources:
#
#   cmake [-DROOT=<tree>] -P cmake/check_layers.cmake
#
#   layer    a file includes only its own layer and the layers below it
#   room     the kernel families do not include one another; all may include the reference kernels
#   engine   starpu*.h and mpi.h are included in src/engine only
#   public   a public header includes only "stepwell/..." and standard headers; those in
#            stepwell/adapt, which no other public header includes, may include <Eigen/Core>
#   namespace  the namespace of a file is that of its layer (stepwell::factor for src/factor), or
#            stepwell itself for public names; a nested one is named after a folder
#   codelet  codelets are in files called *codelets.cpp, which know no tile matrix. Their headers
#            have no views of memory, and pointers only to *Rules and *Results, which are declared
#            there, to a RungMap and to a BlockSource: tasks get their data from the engine
#   spdx     a C++ file starts with the two SPDX lines
#   home     a C++ file under src/ belongs to a layer
#   folder   a folder has at most 25 C++ files
#
# Prints file:line: rule: what is wrong, for every problem, and fails if there is one.
cmake_minimum_required(VERSION 3.25)

if(NOT ROOT)
  cmake_path(SET ROOT NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/..")
endif()
cmake_path(ABSOLUTE_PATH ROOT NORMALIZE)

# From the lowest layer to the highest; layers on one line do not include each other.
set(layers
  "include/stepwell"
  "src/core"
  "src/kernels"
  "src/tiles"
  "src/engine"
  "src/factor"
  "src/refine"
  "src/solvers"
  "src/batched"
  "src/gallery src/io"
  "bindings"
  "tools"
  "bench"
  "tests examples")
set(kernel_rooms amx avx512 blas portable reference)
set(c_headers assert complex ctype errno fenv float inttypes limits locale math setjmp signal stdarg
  stdbool stddef stdint stdio stdlib string time wchar)
string(CONCAT spdx "// SPDX-FileCopyrightText: 2026 The Stepwell authors\n"
  "// SPDX-License-Identifier: BSD-3-Clause\n")

set(rank 0)
foreach(row IN LISTS layers)
  string(REPLACE " " ";" row "${row}")
  foreach(layer IN LISTS row)
    set(rank_of_${layer} ${rank})
    list(APPEND all_layers ${layer})
  endforeach()
  math(EXPR rank "${rank} + 1")
endforeach()

set(problems 0)
function(problem where rule text)
  message("${where}: ${rule}: ${text}")
  math(EXPR problems "${problems} + 1")
  set(problems ${problems} PARENT_SCOPE)
endfunction()

# The layer of a path relative to ROOT, or an empty string.
function(layer_of path result)
  set(${result} "" PARENT_SCOPE)
  foreach(layer IN LISTS all_layers)
    string(FIND "${path}" "${layer}/" at)
    if(at EQUAL 0)
      set(${result} ${layer} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# The path, relative to ROOT, of the header 'name' that 'file' includes; 'name' itself if it is not
# part of this tree. The directory of the file is searched first, then the include directories.
function(resolve file name result)
  cmake_path(GET file PARENT_PATH folder)
  foreach(root IN ITEMS "${folder}/" "include/" "src/" "tools/stepwell/" "")
    cmake_path(SET candidate NORMALIZE "${root}${name}")
    if(EXISTS "${ROOT}/${candidate}")
      set(${result} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  foreach(root IN ITEMS "include/" "src/")
    layer_of("${root}${name}" layer)
    if(layer)
      set(${result} "${root}${name}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "${name}" PARENT_SCOPE)
endfunction()

# The kernel family of a path, or an empty string.
function(room_of path result)
  set(${result} "" PARENT_SCOPE)
  if(path MATCHES "^src/kernels/([^/]+)/" AND CMAKE_MATCH_1 IN_LIST kernel_rooms)
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  endif()
endfunction()

# The namespace of the code in a folder, or an empty string where there is no rule.
function(namespace_of path result)
  set(${result} "" PARENT_SCOPE)
  if(path MATCHES "^(src|bindings)/([^/]+)/")
    set(${result} ${CMAKE_MATCH_2} PARENT_SCOPE)
  elseif(path MATCHES "^tools/stepwell/")
    set(${result} tool PARENT_SCOPE)
  elseif(path MATCHES "^bench/")
    set(${result} bench PARENT_SCOPE)
  endif()
endfunction()

# 'names': what follows "namespace", with or without "stepwell::" in front.
macro(check_namespace file where names)
  namespace_of("${file}" expected)
  string(REPLACE "::" ";" parts "${names}")
  list(REMOVE_ITEM parts stepwell)
  if(expected AND parts)
    list(POP_FRONT parts first)
    cmake_path(GET file PARENT_PATH folders)
    string(REPLACE "/" ";" folders "${folders}")
    # A nested namespace that is opened by itself is a folder's, too.
    if(NOT first STREQUAL expected AND ("${names}" MATCHES "^stepwell::" OR NOT first IN_LIST folders))
      problem("${where}" namespace "this is stepwell::${expected}, not stepwell::${first}")
    endif()
    foreach(part IN LISTS parts)
      if(NOT part IN_LIST folders)
        problem("${where}" namespace "there is no folder for the namespace ${part}")
      endif()
    endforeach()
  endif()
endmacro()

macro(check_include file where name quote)
  resolve("${file}" "${name}" target)
  layer_of("${file}" from)
  layer_of("${target}" to)
  if(from AND to AND NOT from STREQUAL to AND NOT rank_of_${to} LESS rank_of_${from})
    problem("${where}" layer "${from} must not include ${to} (${name})")
  endif()

  room_of("${file}" from_room)
  room_of("${target}" to_room)
  if(from_room AND to_room AND NOT to_room STREQUAL from_room AND NOT to_room STREQUAL "reference")
    problem("${where}" room "kernels/${from_room} must not include kernels/${to_room} (${name})")
  endif()

  if("${name}" MATCHES "(^|/)(starpu[a-z_0-9]*|mpi)\\.h$" AND NOT "${from}" STREQUAL "src/engine")
    problem("${where}" engine "only src/engine may include ${name}")
  endif()

  if("${from}" STREQUAL "include/stepwell")
    set(allowed FALSE)
    if("${name}" MATCHES "^stepwell/" OR ("${quote}" STREQUAL "<" AND "${name}" MATCHES "^[a-z_]+$"))
      set(allowed TRUE)
    elseif("${quote}" STREQUAL "<" AND "${name}" MATCHES "^([a-z]+)\\.h$")
      if(CMAKE_MATCH_1 IN_LIST c_headers)
        set(allowed TRUE)
      endif()
    endif()
    if("${file}" MATCHES "^include/stepwell/adapt/")
      if("${name}" STREQUAL "Eigen/Core")
        set(allowed TRUE)
      endif()
    elseif("${name}" MATCHES "^stepwell/adapt/")
      set(allowed FALSE)
    endif()
    if(NOT allowed)
      problem("${where}" public "a public header includes only stepwell/ and standard headers (${name})")
    endif()
  endif()
endmacro()

# 'line': a line of a file called *codelets.hpp or *codelets.cpp.
macro(check_codelet file where line)
  string(REGEX REPLACE "//.*" "" code "${line}")
  if("${code}" MATCHES "(TileMatrix|tile_matrix)")
    problem("${where}" codelet "a codelet must not use a tile matrix, but task.data()")
  endif()
  if("${file}" MATCHES "\\.hpp$")
    string(REGEX MATCHALL "MatrixView|span<|[A-Za-z_0-9>]+( const)?[*&]" found "${code}")
    list(FILTER found EXCLUDE REGEX
      "^(RungMap|BlockSource|[A-Z][A-Za-z]*(Rules|Results))[*&]$|^(Codelet|Grid)&$")
    if(found)
      problem("${where}" codelet "a task must not have its data as ${found}, but as task.data()")
    endif()
  endif()
endmacro()

set(patterns "")
foreach(folder IN ITEMS include src bindings tools tests bench examples)
  foreach(extension IN ITEMS c cc cpp cu h hpp hpp.in)
    list(APPEND patterns "${ROOT}/${folder}/*.${extension}")
  endforeach()
endforeach()
file(GLOB_RECURSE files RELATIVE "${ROOT}" ${patterns})

foreach(file IN LISTS files)
  file(READ "${ROOT}/${file}" text)
  string(FIND "${text}" "${spdx}" at)
  if(NOT at EQUAL 0)
    problem("${file}:1" spdx "the file must start with the two SPDX lines")
  endif()
  layer_of("${file}" layer)
  if(NOT layer)
    problem("${file}:1" home "the file is in no layer")
  endif()
  set(codelets FALSE)
  if("${file}" MATCHES "^src/.*codelets\\.[ch]pp$")
    set(codelets TRUE)
  elseif("${file}" MATCHES "^src/" AND "${text}" MATCHES "new (engine::)?Codelet\\(")
    problem("${file}:1" codelet "codelets belong in a file called *codelets.cpp")
  endif()

  # Converts the text to a list of lines, without the characters that are special in CMake lists.
  string(REGEX REPLACE "[][;\\\\]" "" text "${text}")
  string(REPLACE "\n" ";" text "${text}")
  set(line_number 0)
  foreach(line IN LISTS text)
    math(EXPR line_number "${line_number} + 1")
    if("${line}" MATCHES "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]")
      check_include("${file}" "${file}:${line_number}" "${CMAKE_MATCH_2}" "${CMAKE_MATCH_1}")
    elseif("${line}" MATCHES "^namespace ([a-z_:0-9]+) {")
      check_namespace("${file}" "${file}:${line_number}" "${CMAKE_MATCH_1}")
    endif()
    if(codelets)
      check_codelet("${file}" "${file}:${line_number}" "${line}")
    endif()
  endforeach()
endforeach()

set(most_files 25)
set(folders "")
foreach(file IN LISTS files)
  cmake_path(GET file PARENT_PATH folder)
  list(APPEND folders "${folder}")
  math(EXPR files_in_${folder} "0${files_in_${folder}} + 1")
endforeach()
list(REMOVE_DUPLICATES folders)
foreach(folder IN LISTS folders)
  if(files_in_${folder} GREATER most_files)
    problem("${folder}:1" folder "${files_in_${folder}} files; at most ${most_files}: divide it")
  endif()
endforeach()

list(LENGTH files count)
if(problems GREATER 0)
  message(FATAL_ERROR "check_layers: ${problems} problem(s) in ${count} files")
endif()
message(STATUS "check_layers: ${count} files, no problem")
