# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian packages by CPack, one per component: cpack -G DEB in the build directory. dpkg-shlibdeps
# determines the dependencies of the libraries. docs/packages.md lists the contents of the packages.
set(CPACK_PACKAGE_NAME stepwell)
set(CPACK_PACKAGE_VENDOR "The Stepwell authors")
set(CPACK_PACKAGE_CONTACT "The Stepwell authors <maintainers@stepwell.invalid>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY =)

# Arguments: component, package, section, description, and the components that it depends on.
function(stepwell_package component package section description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION ${description} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DEPENDS ${ARGN} PARENT_SCOPE)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
endfunction()

stepwell_package(library libstepwell${STEPWELL_SOVERSION} libs "The shared library.")
stepwell_package(headers libstepwell-dev libdevel
  "Headers for C++ and C, the CMake package and the pkg-config file." library)
if(STEPWELL_BUILD_MPI)
  stepwell_package(mpi libstepwell-mpi${STEPWELL_SOVERSION} libs
    "Distributed solves over MPI." library)
endif()
if(STEPWELL_BUILD_TOOLS)
  stepwell_package(tool stepwell math "The command: solve, plan, tune." library)
endif()
if(STEPWELL_BUILD_BENCH)
  set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS stepwell-bench)
  stepwell_package(bench stepwell-bench math "The verbs stepwell bench and stepwell tune batch." tool)
endif()
if(TARGET stepwell_onednn)
  stepwell_package(baselines stepwell-baselines math
    "Baselines for stepwell bench: oneDNN's products." bench)
endif()
if(TARGET stepwell_lapack)
  stepwell_package(lapack libstepwell-lapack libs
    "LAPACK routines on top of Stepwell, to be preloaded or linked before LAPACK." library)
endif()
include(CPack)
