# SPDX-License-Identifier: Apache-2.0
#
# Stands for Zephyr's: find_package(Zephyr) reads the application's prj.conf and its modules, and makes of the target `app` and
# of the libraries of the modules a program of this machine, zephyr_elf. What Zephyr lets pass but does not mean is an error
# here.

# The symbols that a Kconfig file may set; KCONFIG is the test's kconfig.py.
set(modules "")
foreach(module ${EXTRA_ZEPHYR_MODULES})
  get_filename_component(module "${module}" REALPATH)
  if(NOT EXISTS "${module}/zephyr/module.yml")
    message(FATAL_ERROR "${module} is no module: it has no zephyr/module.yml")
  endif()
  list(APPEND modules "${module}")
endforeach()
execute_process(
  COMMAND python3 "$ENV{KCONFIG}" "${CMAKE_CURRENT_SOURCE_DIR}/prj.conf" "${CMAKE_CURRENT_BINARY_DIR}/zephyr.cmake" ${modules}
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "Kconfig: ${status}")
endif()

function(zephyr_check_library function)
  if(NOT DEFINED ZEPHYR_CURRENT_LIBRARY)
    message(FATAL_ERROR "${function} before zephyr_library or zephyr_library_named")
  endif()
endfunction()

macro(zephyr_library_named name)
  if(NOT "${ARGN}" STREQUAL "")
    message(FATAL_ERROR "zephyr_library_named takes one argument, found also ${ARGN}")
  endif()
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC "")
  set_property(GLOBAL APPEND PROPERTY ZEPHYR_LIBS ${name})
  target_link_libraries(${name} PUBLIC zephyr_interface)
endmacro()

function(zephyr_library_sources source)
  zephyr_check_library(zephyr_library_sources)
  foreach(each ${source} ${ARGN})
    get_filename_component(path "${each}" ABSOLUTE)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "zephyr_library_sources: no file ${path}")
    endif()
    target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE "${path}")
  endforeach()
endfunction()

# Up to version 3.1, a call whose first option is that of an earlier call adds the options of the earlier call instead.
function(zephyr_library_compile_options option)
  zephyr_check_library(zephyr_library_compile_options)
  if(NOT "${ARGN}" STREQUAL "")
    message(FATAL_ERROR "zephyr_library_compile_options: wanted one option per call, found also ${ARGN}")
  endif()
  target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${option})
endfunction()

function(zephyr_include_directories)
  foreach(each ${ARGN})
    get_filename_component(path "${each}" ABSOLUTE)
    if(NOT IS_DIRECTORY "${path}")
      message(FATAL_ERROR "zephyr_include_directories: no folder ${path}")
    endif()
    target_include_directories(zephyr_interface INTERFACE "${path}")
  endforeach()
endfunction()

# What follows when the application's CMakeLists.txt has been read.
function(zephyr_finish)
  get_property(libraries GLOBAL PROPERTY ZEPHYR_LIBS)
  file(WRITE "${CMAKE_BINARY_DIR}/empty.c" "typedef int empty;\n")
  add_executable(zephyr_elf "${CMAKE_BINARY_DIR}/empty.c")
  target_link_libraries(zephyr_elf PRIVATE -Wl,--whole-archive app ${libraries} -Wl,--no-whole-archive)
endfunction()

# Zephyr's own project comes first, as there.
project(Zephyr-Kernel LANGUAGES C)
include("${CMAKE_CURRENT_BINARY_DIR}/zephyr.cmake")
add_library(zephyr_interface INTERFACE)
add_library(app STATIC "")
target_link_libraries(app PUBLIC zephyr_interface)
set(number 0)
foreach(folder ${ZEPHYR_MODULE_CMAKE_DIRS})
  math(EXPR number "${number} + 1")
  add_subdirectory("${folder}" "${CMAKE_CURRENT_BINARY_DIR}/modules/${number}")
endforeach()
cmake_language(DEFER CALL zephyr_finish)
