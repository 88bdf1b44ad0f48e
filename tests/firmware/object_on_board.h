// SPDX-License-Identifier: Apache-2.0
// Runs the functions of an object on a board in QEMU, inside of a test.
#ifndef KILN_TESTS_FIRMWARE_OBJECT_ON_BOARD_H_
#define KILN_TESTS_FIRMWARE_OBJECT_ON_BOARD_H_

#include <string>

#include "tools/firmware/board.h"

namespace kiln {

// True if there are a cross compiler and an emulator for Arm.
bool HasBoard();

std::string InTemporaryFolder(const std::string& name);

// Runs a command, which must exit with 0. Returns its standard output and errors.
std::string OutputOf(const std::string& command);

// Returns the flags of a compiler for the board.
std::string FlagsOf(const tools::Board& board);

// Links the file `object` with the C program `main`, and runs it on the board. It must end with
// status 0. Returns its output.
std::string RunOnBoard(const tools::Board& board, const std::string& object,
                       const std::string& main);

}  // namespace kiln

#endif  // KILN_TESTS_FIRMWARE_OBJECT_ON_BOARD_H_
