// SPDX-License-Identifier: Apache-2.0
// Writes the definition of RuntimeHeaders(): embed OUTPUT.cc FILE…
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  std::ofstream out(argv[1]);
  out << "#include \"tools/kiln/runtime_headers.h\"\n\nnamespace kiln::tools {\n\n"
      << "const std::map<std::string, std::string>& RuntimeHeaders() {\n"
      << "  static const auto& headers = *new std::map<std::string, std::string>{\n";
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
    std::stringstream text;
    text << in.rdbuf();
    const size_t at = path.rfind("include/");
    const std::string name = at == std::string::npos ? path : path.substr(at + 8);
    out << "      {\"" << name << "\", R\"HEADER(" << text.str() << ")HEADER\"},\n";
  }
  out << "  };\n  return headers;\n}\n\n}  // namespace kiln::tools\n";
  return out.good() ? 0 : 1;
}
