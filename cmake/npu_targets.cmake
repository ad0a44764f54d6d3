# SPDX-License-Identifier: Apache-2.0
# Common settings and the two functions every folder uses. Sources are globbed: a new file needs no
# edit here (CONFIGURE_DEPENDS re-runs CMake when a file appears).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(NPU_GENERATED_DIR "${CMAKE_BINARY_DIR}/generated")
# "gen/version.h": npu::kVersion.
configure_file("${CMAKE_CURRENT_LIST_DIR}/version.h.in" "${NPU_GENERATED_DIR}/gen/version.h" @ONLY)

find_program(NPU_CCACHE ccache)
if(NPU_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${NPU_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${NPU_CCACHE}")
endif()

add_library(npu_options INTERFACE)
target_compile_options(npu_options INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(NPU_WERROR)
  target_compile_options(npu_options INTERFACE -Werror)
endif()
target_include_directories(npu_options INTERFACE
  "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/include" "${NPU_GENERATED_DIR}")
if(NPU_SANITIZE)
  target_compile_options(npu_options INTERFACE -fsanitize=${NPU_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(npu_options INTERFACE -fsanitize=${NPU_SANITIZE})
endif()

# npu_library(<folder name> DEPS <library>...): a static library npu_<name> of the folder's *.cc.
function(npu_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  list(APPEND sources ${ARG_SOURCES})
  if(sources)
    add_library(npu_${name} STATIC ${sources})
    target_link_libraries(npu_${name} PUBLIC npu_options ${ARG_DEPS})
  else()
    add_library(npu_${name} INTERFACE)
    target_link_libraries(npu_${name} INTERFACE npu_options ${ARG_DEPS})
  endif()
endfunction()

# npu_test(<name> DEPS <library>... [LABELS <label>...]): one GoogleTest program of the folder's
# *_test.cc and helpers. tools/run_tests runs them through ctest and counts their cases.
function(npu_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "DEPS;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE npu_options ${ARG_DEPS} GTest::gtest GTest::gmock
    GTest::gtest_main)
  set(timeout 300)
  if(ARG_TIMEOUT)
    set(timeout ${ARG_TIMEOUT})
  endif()
  # From the repository root, so that "tests/golden" and the default "../shared" are found there.
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABELS}")
endfunction()
