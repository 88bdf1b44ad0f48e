// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kiln::tools {
namespace {

// SGR parameters of ECMA-48.
const char* CodeOf(Style style) {
  switch (style) {
    case Style::kBold:
      return "1";
    case Style::kGreen:
      return "32";
    case Style::kRed:
      return "31";
    case Style::kYellow:
      return "33";
  }
  return "0";
}

}  // namespace

int TerminalColumns(int descriptor) {
  const char* const wanted = std::getenv("COLUMNS");
  int columns = 0;
  if (wanted != nullptr && absl::SimpleAtoi(wanted, &columns) && columns > 0) return columns;
  winsize size = {};
  if (isatty(descriptor) == 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool ShowsColours(int descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  return isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
         absl::string_view(term) != "dumb";
}

std::string Styled(absl::string_view text, Style style, bool styled) {
  return styled ? absl::StrCat("\033[", CodeOf(style), "m", text, "\033[0m") : std::string(text);
}

}  // namespace kiln::tools
