// A results file is used only in the environment that it was made in; what
// differs is said in words that name the key and both values.

#include "tuning/validators.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace tunedops {
namespace {

Validators make(const std::map<std::string, std::string>& entries) {
  Validators validators;
  for (const auto& [key, value] : entries) {
    validators.add(key, value);
  }
  return validators;
}

TEST(Validators, EqualSetsMatch) {
  const Validators here = make({{"A", "1"}, {"B", "2"}});
  EXPECT_EQ(here.mismatch(make({{"B", "2"}, {"A", "1"}})), std::nullopt);
  EXPECT_EQ(make({}).mismatch(make({})), std::nullopt);
}

TEST(Validators, NamesKeyAndBothValues) {
  const Validators here = make({{"A", "1"}, {"DEVICE", "NVIDIA H200"}});
  EXPECT_EQ(here.mismatch(make({{"A", "1"}, {"DEVICE", "NVIDIA H100"}})),
            "validator DEVICE is 'NVIDIA H100' in the file and 'NVIDIA H200' "
            "here");
}

TEST(Validators, NamesAKeyThatIsMissing) {
  const Validators here = make({{"A", "1"}, {"B", "2"}});
  EXPECT_EQ(here.mismatch(make({{"A", "1"}})),
            "validator B is missing in the file, it is '2' here");
  EXPECT_EQ(here.mismatch(make({})),
            "validator A is missing in the file, it is '1' here");
}

TEST(Validators, NamesAKeyThatIsUnknown) {
  const Validators here = make({{"A", "1"}});
  EXPECT_EQ(here.mismatch(make({{"A", "1"}, {"ROCM", "6"}})),
            "validator ROCM ('6' in the file) is unknown here");
}

TEST(Validators, RefusesTextThatCouldForgeARow) {
  Validators validators;
  for (const std::string& bad :
       {std::string(), std::string("a,b"), std::string("a\nb"),
        std::string("a\rb"), std::string("#a"), std::string(" a"),
        std::string("a "), std::string("a\x1b[2J"), std::string("a\0b", 3),
        std::string(513, 'a')}) {
    EXPECT_THROW(validators.add("KEY", bad), std::invalid_argument) << bad;
    EXPECT_THROW(validators.add(bad, "value"), std::invalid_argument) << bad;
  }
  EXPECT_TRUE(validators.entries().empty());
}

TEST(Validators, ALaterValueReplacesAnEarlierOne) {
  Validators validators = make({{"A", "1"}});
  validators.add("A", "2");
  EXPECT_EQ(validators.entries().at("A"), "2");
}

TEST(Validators, TheDigestIsStableAndTellsEnvironmentsApart) {
  const Validators here = make({{"A", "1"}, {"B", "2"}});
  // Names of files that exist depend on it, so it may never change.
  EXPECT_EQ(make({}).digest(), "811c9dc5");
  EXPECT_EQ(here.digest(), make({{"B", "2"}, {"A", "1"}}).digest());
  EXPECT_EQ(here.digest().size(), 8U);
  EXPECT_EQ(here.digest().find_first_not_of("0123456789abcdef"),
            std::string::npos);
  for (const auto& other :
       {make({{"A", "1"}}), make({{"A", "2"}, {"B", "2"}}),
        make({{"A", "1"}, {"C", "2"}}), make({{"A", "12"}, {"B", "2"}})}) {
    EXPECT_NE(here.digest(), other.digest());
  }
  // Where one text ends and the next begins counts.
  EXPECT_NE(make({{"AB", "C"}}).digest(), make({{"A", "BC"}}).digest());
}

}  // namespace
}  // namespace tunedops
