# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs the library, the headers (with CMake package and pkg-config file), the command and its
# benchmarks, each as a component. The installation is relocatable. The build directory is a CMake
# package, too: stepwell_DIR may point to it.
include(CMakePackageConfigHelpers)

install(TARGETS stepwell EXPORT stepwellTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT headers
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT headers
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(STEPWELL_BUILD_MPI)
  install(TARGETS stepwell_mpi EXPORT stepwellTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi NAMELINK_COMPONENT headers
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT headers
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(STEPWELL_STARPU_BUNDLED)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/starpu_notice.txt ${STEPWELL_STARPU_PREFIX}/COPYING.LGPL
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libstepwell${STEPWELL_SOVERSION} COMPONENT library)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/stepwell ${PROJECT_BINARY_DIR}/include/stepwell
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
if(STEPWELL_BUILD_TOOLS)
  install(TARGETS stepwell_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  if(STEPWELL_BUILD_BENCH)
    install(TARGETS stepwell_bench_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bench)
  endif()
  if(TARGET stepwell_pages)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}
      COMPONENT tool)
  endif()
  if(TARGET stepwell_onednn)
    install(TARGETS stepwell_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/stepwell
      COMPONENT baselines)
  endif()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stepwell)
install(EXPORT stepwellTargets NAMESPACE stepwell:: DESTINATION ${package_dir} COMPONENT headers)
export(EXPORT stepwellTargets NAMESPACE stepwell::)
configure_package_config_file(cmake/stepwellConfig.cmake.in stepwellConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(stepwellConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stepwellConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/stepwellConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT headers)

file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
file(RELATIVE_PATH pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
# A static library does not record its dependencies, so the pkg-config file lists them.
set(pc_libs_private "")
set(pc_requires_private "")
if(NOT BUILD_SHARED_LIBS)
  set(pc_requires_private starpu-1.3)
  set(pc_starpu "")
  if(STEPWELL_STARPU_BUNDLED)
    set(pc_requires_private hwloc)
    set(pc_starpu "-ldl -lpthread -lrt")
    if(OpenCL_FOUND)
      string(APPEND pc_starpu " -lOpenCL")
    endif()
  endif()
  list(JOIN LAPACK_LIBRARIES " " pc_lapack)
  list(JOIN BLAS_LIBRARIES " " pc_blas)
  set(pc_libs_private "${pc_lapack} ${pc_blas} ${STEPWELL_CBLAS_LIBRARY} ${pc_starpu} -lstdc++ -lm")
endif()
configure_file(cmake/stepwell.pc.in stepwell.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stepwell.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT headers)
