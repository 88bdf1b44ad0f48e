# SPDX-License-Identifier: Apache-2.0
#
#   find_package(kiln @version@ REQUIRED)
#   target_link_libraries(service PRIVATE kiln::runtime)
#
# kiln::runtime_shared  the runtime as a shared library, for C (kiln/runtime.h), C++17 (kiln/runtime.hpp), plugins, and programs with an
#                 Abseil of their own
# kiln::runtime   the C++ runtime: loads and runs models. It goes whole into a program, since compiled models look functions up by name,
#                 and brings Abseil, whose types its headers have
# kiln::crt       the C runtime: a program pays for the parts that it calls
# kiln::crt_host  the platform of the C runtime on an operating system
# kiln::kiln      the command, for add_custom_command, if it is installed
get_filename_component(_kiln_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(CMAKE_VERSION VERSION_LESS 3.18)
  set(kiln_FOUND FALSE)
  set(kiln_NOT_FOUND_MESSAGE "found CMake ${CMAKE_VERSION}, wanted 3.18 or later")
  unset(_kiln_prefix)
  return()
endif()
foreach(_kiln_file IN ITEMS include/kiln/kiln/runtime.h lib/libkiln_abseil.a lib/libkiln_crt.a lib/libkiln_crt_host.a lib/libkiln_runtime.a
                            lib/libkiln_runtime.so.0)
  if(NOT EXISTS "${_kiln_prefix}/${_kiln_file}")
    set(kiln_FOUND FALSE)
    set(kiln_NOT_FOUND_MESSAGE
        "${_kiln_prefix}/${_kiln_file} is missing: unpack the archive of the release again, or install the packages libkiln-dev and libkiln-runtime0")
    unset(_kiln_file)
    unset(_kiln_prefix)
    return()
  endif()
endforeach()
unset(_kiln_file)

include(CMakeFindDependencyMacro)
find_dependency(Threads)

if(NOT TARGET kiln::runtime)
  foreach(_kiln_library IN ITEMS abseil crt crt_host runtime)
    add_library(kiln::${_kiln_library}_archive STATIC IMPORTED)
    set_target_properties(kiln::${_kiln_library}_archive PROPERTIES IMPORTED_LOCATION "${_kiln_prefix}/lib/libkiln_${_kiln_library}.a")
  endforeach()

  add_library(kiln::runtime INTERFACE IMPORTED)
  target_include_directories(kiln::runtime SYSTEM INTERFACE "${_kiln_prefix}/include/kiln")
  target_compile_features(kiln::runtime INTERFACE cxx_std_17)
  target_link_options(kiln::runtime INTERFACE @export_flags@)
  target_link_libraries(kiln::runtime INTERFACE
                        -Wl,--whole-archive kiln::runtime_archive -Wl,--no-whole-archive
                        kiln::abseil_archive Threads::Threads ${CMAKE_DL_LIBS} stdc++ m)

  add_library(kiln::runtime_shared SHARED IMPORTED)
  set_target_properties(kiln::runtime_shared PROPERTIES
                        IMPORTED_LOCATION "${_kiln_prefix}/lib/libkiln_runtime.so.0"
                        IMPORTED_SONAME libkiln_runtime.so.0)
  target_include_directories(kiln::runtime_shared SYSTEM INTERFACE "${_kiln_prefix}/include/kiln")

  foreach(_kiln_library IN ITEMS crt crt_host)
    add_library(kiln::${_kiln_library} INTERFACE IMPORTED)
    target_include_directories(kiln::${_kiln_library} SYSTEM INTERFACE "${_kiln_prefix}/include/kiln")
    target_link_libraries(kiln::${_kiln_library} INTERFACE kiln::${_kiln_library}_archive)
  endforeach()

  # The compiler has a Debian package of its own.
  if(EXISTS "${_kiln_prefix}/bin/kiln")
    add_executable(kiln::kiln IMPORTED)
    set_target_properties(kiln::kiln PROPERTIES IMPORTED_LOCATION "${_kiln_prefix}/bin/kiln")
  endif()
endif()

unset(_kiln_library)
unset(_kiln_prefix)
