// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/list_option.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kiln::tools {

CLI::Option* AddListOption(CLI::App& command, const std::string& name,
                           std::vector<std::string>& list, const std::string& description) {
  const std::string shown = name.substr(0, name.find(','));
  const auto split = [shown, &list](const std::vector<std::string>& values) {
    list.clear();
    for (const std::string& value : values) {
      const std::vector<std::string> names = absl::StrSplit(value, ',');
      for (const std::string& item : names) {
        // CheckValues refuses an option with an empty value, so this one is skipped here.
        if (item.empty() && names.size() > 1) {
          throw CLI::ValidationError(shown,
                                     absl::StrCat("found an empty name in '", value,
                                                  "', wanted names separated by one comma each"));
        }
        list.push_back(item);
      }
    }
  };
  return command.add_option_function<std::vector<std::string>>(name, split, description);
}

}  // namespace kiln::tools
