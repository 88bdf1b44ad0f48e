// SPDX-License-Identifier: Apache-2.0
// Writes the definition of a function of runtime_files.h: embed OUTPUT.cc FUNCTION FOLDER FILE…
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

// Writes string literals, one line per kBytesPerLine bytes. Bytes are octal escapes of three
// digits, which cannot absorb a following digit.
void WriteLiteral(const std::string& bytes, std::ofstream& out) {
  constexpr size_t kBytesPerLine = 32;
  out << "std::string(\n";
  for (size_t i = 0; i < bytes.size() || i == 0; i += kBytesPerLine) {
    out << "          \"";
    for (const char c : bytes.substr(i, kBytesPerLine)) {
      char digits[5];
      std::snprintf(digits, sizeof(digits), "\\%03o", static_cast<unsigned char>(c));
      out << digits;
    }
    out << "\"\n";
  }
  out << "          , " << bytes.size() << ")";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 1;
  const std::string folder = *argv[3] == '\0' ? "" : std::string(argv[3]) + "/";
  std::ofstream out(argv[1]);
  out << "#include \"tools/kiln/runtime_files.h\"\n\nnamespace kiln::tools {\n\n"
      << "const Artifacts& " << argv[2] << "() {\n"
      << "  static const auto& files = *new Artifacts{\n";
  for (int i = 4; i < argc; ++i) {
    const std::string path = argv[i];
    std::ifstream in(path, std::ios::binary);
    const size_t at = folder.empty() ? 0 : path.rfind(folder);
    if (!in || at == std::string::npos) {
      std::fprintf(stderr, "%s: cannot be read, or is not below %s\n", argv[i], folder.c_str());
      return 1;
    }
    std::stringstream text;
    text << in.rdbuf();
    out << "      {\"" << path.substr(at + folder.size()) << "\", ";
    WriteLiteral(text.str(), out);
    out << "},\n";
  }
  out << "  };\n  return files;\n}\n\n}  // namespace kiln::tools\n";
  return out.good() ? 0 : 1;
}
