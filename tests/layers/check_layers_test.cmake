# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Proves that check_layers.cmake detects each kind of violation: writes small trees under WORK and
# runs the check on them.
#   cmake -DSCRIPT=<check_layers.cmake> -DWORK=<folder> -P check_layers_test.cmake
cmake_minimum_required(VERSION 3.25)

string(CONCAT spdx "// SPDX-FileCopyrightText: 2026 The Stepwell authors\n"
  "// SPDX-License-Identifier: BSD-3-Clause\n")
set(failures 0)

# Runs the check on a tree of one file, 'file', whose text is 'text'. 'expected' is a pattern that
# the output must match; empty if the tree is good.
function(expect name file text expected)
  file(REMOVE_RECURSE "${WORK}/${name}")
  file(WRITE "${WORK}/${name}/${file}" "${text}")
  # A target for relative includes.
  file(WRITE "${WORK}/${name}/src/factor/cholesky.hpp" "${spdx}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${WORK}/${name} -P ${SCRIPT}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(expected STREQUAL "")
    if(NOT code EQUAL 0)
      set(why "refused a good tree")
    endif()
  elseif(code EQUAL 0)
    set(why "accepted a bad tree")
  elseif(NOT output MATCHES "${expected}")
    set(why "did not say '${expected}'")
  endif()
  if(why)
    message("${name}: the check ${why}:\n${output}")
    math(EXPR failures "${failures} + 1")
    set(failures ${failures} PARENT_SCOPE)
  endif()
endfunction()

expect(core_includes_kernels src/core/a.cpp "${spdx}#include \"kernels/table.hpp\"\n"
  "src/core/a.cpp:3: layer: src/core must not include src/kernels")
expect(public_includes_core include/stepwell/a.hpp "${spdx}#pragma once\n#include \"core/machine/isa.hpp\"\n"
  "include/stepwell/a.hpp:4: layer: include/stepwell must not include src/core")
expect(kernels_include_engine src/kernels/amx/a.cpp "${spdx}\n\n#include <engine/context.hpp>\n"
  "src/kernels/amx/a.cpp:5: layer: src/kernels must not include src/engine")
expect(relative_include src/refine/a.cpp "${spdx}#include \"../factor/cholesky.hpp\"\n" "")
expect(relative_trespass src/core/a.cpp "${spdx}#include \"../factor/cholesky.hpp\"\n"
  "src/core/a.cpp:3: layer: src/core must not include src/factor")
expect(same_level src/io/a.cpp "${spdx}#include \"gallery/kinds.hpp\"\n"
  "src/io/a.cpp:3: layer: src/io must not include src/gallery")
expect(after_odd_text src/core/a.cpp
  "${spdx}int a[2]; // [;\n#define B \\\n  1\n  #  include \"tiles/tile.hpp\" // why\n"
  "src/core/a.cpp:6: layer: src/core must not include src/tiles")
expect(layers_below tools/stepwell/a.cpp
  "${spdx}#include <vector>\n#include \"stepwell/rung.hpp\"\n#include \"kernels/table.hpp\"\n" "")
expect(tools_include_bench tools/stepwell/commands/a.cpp
  "${spdx}#include \"bench/harness/harness.hpp\"\n"
  "tools/stepwell/commands/a.cpp:3: layer: tools must not include bench")
expect(bench_includes_tests bench/harness/a.cpp "${spdx}#include \"tests/directory.hpp\"\n"
  "bench/harness/a.cpp:3: layer: bench must not include tests")

expect(adaptor_includes_eigen include/stepwell/adapt/a.hpp
  "${spdx}#include <Eigen/Core>\n#include \"stepwell/view.hpp\"\n" "")
expect(public_includes_eigen include/stepwell/a.hpp "${spdx}#include <Eigen/Core>\n"
  "include/stepwell/a.hpp:3: public: .*Eigen/Core")
expect(public_includes_adaptor include/stepwell/a.hpp
  "${spdx}#include \"stepwell/adapt/span.hpp\"\n" "include/stepwell/a.hpp:3: public: .*adapt/span")

expect(own_namespace src/refine/operators/a.cpp
  "${spdx}namespace stepwell::refine {\nnamespace operators {\n}\n}\nnamespace stepwell {\n}\n" "")
expect(other_namespace src/refine/a.cpp "${spdx}namespace stepwell::driver {\n"
  "src/refine/a.cpp:3: namespace: this is stepwell::refine, not stepwell::driver")
expect(namespace_inside src/refine/a.cpp "${spdx}namespace stepwell {\nnamespace driver {\n"
  "src/refine/a.cpp:4: namespace: this is stepwell::refine, not stepwell::driver")
expect(namespace_without_folder src/refine/a.cpp "${spdx}namespace stepwell::refine::cg {\n"
  "src/refine/a.cpp:3: namespace: there is no folder for the namespace cg")
expect(bench_namespace bench/scaling/a.cpp
  "${spdx}namespace stepwell::bench {\n}\nnamespace stepwell::bench::scaling {\n}\n" "")
expect(bench_is_not_the_tool bench/harness/a.cpp "${spdx}namespace stepwell::tool {\n"
  "bench/harness/a.cpp:3: namespace: this is stepwell::bench, not stepwell::tool")

expect(rooms src/kernels/portable/a.cpp "${spdx}#include \"kernels/amx/amx.hpp\"\n"
  "src/kernels/portable/a.cpp:3: room: kernels/portable must not include kernels/amx")
expect(reference_is_plain src/kernels/reference/a.cpp "${spdx}#include \"kernels/blas/blas.hpp\"\n"
  "src/kernels/reference/a.cpp:3: room: kernels/reference must not include kernels/blas")
expect(fall_back src/kernels/blas/a.cpp "${spdx}#include \"kernels/reference/reference.hpp\"\n" "")
expect(room_from_table src/kernels/a.cpp "${spdx}#include \"kernels/amx/amx.hpp\"\n" "")

expect(starpu_in_factor src/factor/a.cpp "${spdx}#include <starpu.h>\n"
  "src/factor/a.cpp:3: engine: only src/engine may include starpu.h")
expect(starpu_mpi_in_solve src/solvers/a.cpp "${spdx}#include <starpu_mpi.h>\n"
  "src/solvers/a.cpp:3: engine: only src/engine may include starpu_mpi.h")
expect(mpi_in_tests tests/core/a.cpp "${spdx}#include <mpi.h>\n"
  "tests/core/a.cpp:3: engine: only src/engine may include mpi.h")
expect(engine src/engine/a.cpp "${spdx}#include <starpu.h>\n#include <mpi.h>\n" "")

expect(codelet_with_view src/factor/a_codelets.hpp
  "${spdx}struct ATask {\n  MatrixView<const double> a;\n};\n"
  "src/factor/a_codelets.hpp:4: codelet: .*MatrixView")
expect(codelet_with_pointer src/factor/codelets.hpp "${spdx}struct ATask { const double* a; };\n"
  "src/factor/codelets.hpp:3: codelet: .*double\\*,")
expect(codelet_with_state src/factor/codelets.hpp "${spdx}struct ATask { LuState* state; };\n"
  "src/factor/codelets.hpp:3: codelet: .*LuState\\*,")
expect(codelet_with_vector src/factor/codelets.hpp
  "${spdx}struct ATask { const std::vector<double>* scale; };\n"
  "src/factor/codelets.hpp:3: codelet: .*double>\\*,")
expect(codelet_with_tiles src/factor/codelets.hpp "${spdx}struct ATask { const TileMatrix* l; };\n"
  "src/factor/codelets.hpp:3: codelet: .*tile matrix")
expect(codelet_reads_tiles src/factor/codelets.cpp "${spdx}#include \"tiles/tile_matrix.hpp\"\n"
  "src/factor/codelets.cpp:3: codelet: .*tile matrix")
expect(codelet_elsewhere src/factor/a.cpp "${spdx}static auto* const c = new engine::Codelet(run);\n"
  "src/factor/a.cpp:1: codelet: codelets belong")
expect(codelet_good src/factor/codelets.hpp
  "${spdx}/// Data: a MatrixView.\nstruct ATask { const LuRules* rules; double x; };  // no double*\n" "")
expect(codelet_body src/factor/codelets.cpp
  "${spdx}const MatrixView<double> a = task.matrix<double>(0);\nnew Codelet(run);\n" "")

expect(public_foreign include/stepwell/a.hpp "${spdx}#include <cblas.h>\n"
  "include/stepwell/a.hpp:3: public: .*cblas.h")
expect(public_relative include/stepwell/a.hpp "${spdx}#include \"view.hpp\"\n"
  "include/stepwell/a.hpp:3: public: .*view.hpp")
expect(public_template include/stepwell/a.hpp.in "${spdx}#include <fmt/format.h>\n"
  "include/stepwell/a.hpp.in:3: public: .*fmt/format.h")
expect(public_good include/stepwell/a.h
  "${spdx}#include <stdint.h>\n#include <string_view>\n#include \"stepwell/view.hpp\"\n" "")

expect(no_spdx src/core/a.hpp "#pragma once\n" "src/core/a.hpp:1: spdx:")
expect(one_spdx_line src/core/a.hpp "// SPDX-License-Identifier: BSD-3-Clause\n" "a.hpp:1: spdx:")
expect(no_home src/misc/a.cpp "${spdx}" "src/misc/a.cpp:1: home:")

foreach(number RANGE 1 25)
  file(WRITE "${WORK}/few/src/core/a${number}.hpp" "${spdx}")
endforeach()
file(COPY "${WORK}/few/src" DESTINATION "${WORK}/many")
function(expect_folder name file expected)
  file(WRITE "${WORK}/${name}/${file}" "${spdx}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${WORK}/${name} -P ${SCRIPT}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT output MATCHES "${expected}")
    message("${name}: the check did not say '${expected}':\n${output}")
    math(EXPR failures "${failures} + 1")
    set(failures ${failures} PARENT_SCOPE)
  endif()
endfunction()
expect_folder(few src/core/machine/b.hpp "26 files, no problem")
expect_folder(many src/core/b.hpp "src/core:1: folder: 26 files; at most 25")

if(failures GREATER 0)
  message(FATAL_ERROR "${failures} case(s) failed")
endif()
