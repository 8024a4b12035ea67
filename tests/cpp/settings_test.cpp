// Whoever starts a program has the last word: what the environment sets beats
// the API both ways, and what it cannot mean is reported and not guessed.

#include "tuning/settings.h"

#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

namespace tunedops {
namespace {

Settings with(const std::map<std::string, std::string>& variables) {
  return Settings([&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

Settings::Description described(const Settings& settings,
                                const std::string& name) {
  for (const Settings::Description& d : settings.describe()) {
    if (d.name == name) {
      return d;
    }
  }
  return {};
}

TEST(Settings, DefaultsAreTheDocumentedOnes) {
  const std::map<std::string, std::string> expected{
      {"ENABLED", "0"},
      {"TUNING", "1"},
      {"READ_ONLY", "0"},
      {"ON_MISS", "default"},
      {"KERNELS", ""},
      {"FILENAME", "tunedops_results.csv"},
      {"CACHE_DIR", ""},
      {"DATABASE_DIR", ""},
      {"RECORD_UNTUNED", "0"},
      {"UNTUNED_FILENAME", "tunedops_untuned.csv"},
      {"VERBOSE", "0"},
      {"VERBOSE_FILENAME", "err"},
      {"MAX_TUNING_DURATION_MS", "30"},
      {"MAX_TUNING_ITERATIONS", "100"},
      {"SEARCH", "guided"},
      {"MAX_TUNING_BUDGET_MS", "400"},
      {"TOTAL_BUDGET_S", "120"},
      {"MAX_VARIANTS", "32"},
      {"GRAPH_REPLAY", "0"},
      {"NUMERICAL_CHECK", "1"},
  };
  const Settings settings = with({});
  EXPECT_TRUE(settings.complaints().empty());
  for (const auto& [name, value] : expected) {
    EXPECT_EQ(settings.get(name), value) << name;
  }
  EXPECT_EQ(settings.on_miss(), OnMiss::kDefault);
  EXPECT_EQ(settings.search(), Search::kGuided);
  EXPECT_TRUE(settings.numerical_check().enabled);
  EXPECT_EQ(settings.numerical_check().absolute, std::nullopt);
  EXPECT_TRUE(settings.kernels().empty());
}

TEST(Settings, EnvironmentBeatsTheApiBothWays) {
  Settings settings = with({{"TUNEDOPS_ENABLED", "1"},
                            {"TUNEDOPS_TUNING", "0"},
                            {"TUNEDOPS_MAX_TUNING_ITERATIONS", "7"}});
  EXPECT_FALSE(settings.set("ENABLED", "0"));
  EXPECT_FALSE(settings.set("TUNING", "1"));
  EXPECT_FALSE(settings.set("MAX_TUNING_ITERATIONS", "8"));
  EXPECT_TRUE(settings.boolean("ENABLED"));
  EXPECT_FALSE(settings.boolean("TUNING"));
  EXPECT_EQ(settings.integer("MAX_TUNING_ITERATIONS"), 7);
}

TEST(Settings, AnApiThatAgreesWithTheEnvironmentIsNotRefused) {
  Settings settings = with({{"TUNEDOPS_ENABLED", "yes"}});
  EXPECT_TRUE(settings.set("ENABLED", "true"));
  EXPECT_EQ(described(settings, "ENABLED").origin, "environment");
}

TEST(Settings, ApiSetsWhatTheEnvironmentLeaves) {
  Settings settings = with({{"TUNEDOPS_ENABLED", "1"}});
  EXPECT_TRUE(settings.set("VERBOSE", "2"));
  EXPECT_TRUE(settings.set("VERBOSE", "3"));
  EXPECT_EQ(settings.integer("VERBOSE"), 3);
}

TEST(Settings, DescribesWhereEachValueCameFrom) {
  Settings settings =
      with({{"TUNEDOPS_TUNING", "off"}, {"TUNEDOPS_VERBOSE", "loud"}});
  settings.set("MAX_VARIANTS", "5");
  const auto tuning = described(settings, "TUNING");
  EXPECT_EQ(tuning.origin, "environment");
  EXPECT_EQ(tuning.value, "0");
  EXPECT_EQ(tuning.standard, "1");
  EXPECT_FALSE(tuning.meaning.empty());
  EXPECT_EQ(described(settings, "MAX_VARIANTS").origin, "api");
  EXPECT_EQ(described(settings, "MAX_VARIANTS").value, "5");
  EXPECT_EQ(described(settings, "VERBOSE").origin, "default");
  EXPECT_EQ(described(settings, "ENABLED").origin, "default");
  EXPECT_EQ(described(settings, "ENABLED").standard, "0");
}

TEST(Settings, ReportsWhatItCannotParseAndKeepsTheDefault) {
  const Settings settings = with({{"TUNEDOPS_ENABLED", "maybe"},
                                  {"TUNEDOPS_VERBOSE", "-1"},
                                  {"TUNEDOPS_ON_MISS", "crash"}});
  const std::vector<std::string> expected{
      "TUNEDOPS_ENABLED is 'maybe', expected 0 or 1; it stays at 0",
      "TUNEDOPS_ON_MISS is 'crash', expected default, heuristic or error; it "
      "stays at default",
      "TUNEDOPS_VERBOSE is '-1', expected an integer of at least 0; it stays "
      "at 0",
  };
  EXPECT_EQ(settings.complaints(), expected);
  EXPECT_EQ(settings.get("ENABLED"), "0");
  EXPECT_EQ(settings.get("VERBOSE"), "0");
  EXPECT_EQ(settings.on_miss(), OnMiss::kDefault);
}

TEST(Settings, ApiSaysWhatItExpects) {
  Settings settings = with({});
  const auto message = [&settings](const char* name, const char* value) {
    try {
      settings.set(name, value);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message("ENABLED", "2"), "ENABLED must be 0 or 1, got '2'");
  EXPECT_EQ(message("MAX_TUNING_BUDGET_MS", "0"),
            "MAX_TUNING_BUDGET_MS must be an integer of at least 1, got '0'");
  EXPECT_EQ(message("NUMERICAL_CHECK", "1e-3"),
            "NUMERICAL_CHECK must be 0, 1 or two positive tolerances such as "
            "1e-3_1e-3, got '1e-3'");
  EXPECT_EQ(message("NOTHING", "1"), "there is no setting 'NOTHING'");
  EXPECT_EQ(message("enabled", "1"), "there is no setting 'enabled'");
  EXPECT_EQ(settings.get("ENABLED"), "0");
  EXPECT_THROW((void)settings.get("NOTHING"), std::invalid_argument);
}

TEST(Settings, ReadsBooleansInAllSpellings) {
  Settings settings = with({});
  for (const char* yes : {"1", "true", "TRUE", "On", "yes"}) {
    settings.set("ENABLED", "0");
    settings.set("ENABLED", yes);
    EXPECT_TRUE(settings.boolean("ENABLED")) << yes;
    EXPECT_EQ(settings.get("ENABLED"), "1") << yes;
  }
  for (const char* no : {"0", "false", "False", "OFF", "no"}) {
    settings.set("ENABLED", "1");
    settings.set("ENABLED", no);
    EXPECT_FALSE(settings.boolean("ENABLED")) << no;
  }
}

TEST(Settings, ReadsIntegersWhole) {
  Settings settings = with({});
  for (const char* text :
       {"", " 1", "1 ", "1.0", "0x1", "1e3", "+1", "one", "2147483648", "-2"}) {
    EXPECT_THROW(settings.set("ROTATING_BUFFER_SIZE", text),
                 std::invalid_argument)
        << text;
  }
  for (const char* text : {"-1", "0", "256", "2147483647"}) {
    settings.set("ROTATING_BUFFER_SIZE", text);
    EXPECT_EQ(settings.integer("ROTATING_BUFFER_SIZE"), std::stoll(text));
  }
}

TEST(Settings, ReadsThePolicyOfAMiss) {
  Settings settings = with({});
  settings.set("ON_MISS", "Heuristic");
  EXPECT_EQ(settings.on_miss(), OnMiss::kHeuristic);
  settings.set("ON_MISS", "error");
  EXPECT_EQ(settings.on_miss(), OnMiss::kError);
  settings.set("ON_MISS", "default");
  EXPECT_EQ(settings.on_miss(), OnMiss::kDefault);
}

TEST(Settings, ReadsHowToSearch) {
  Settings settings = with({{"TUNEDOPS_SEARCH", "Exhaustive"}});
  EXPECT_EQ(settings.search(), Search::kExhaustive);
  EXPECT_EQ(settings.get("SEARCH"), "exhaustive");
  settings = with({});
  for (const auto& [text, meaning] :
       std::map<std::string, Search>{{"proposals", Search::kProposals},
                                     {"PROPOSALS", Search::kProposals},
                                     {"guided", Search::kGuided},
                                     {"Guided", Search::kGuided},
                                     {"exhaustive", Search::kExhaustive},
                                     {"eXhaustivE", Search::kExhaustive}}) {
    EXPECT_TRUE(settings.set("SEARCH", text)) << text;
    EXPECT_EQ(settings.search(), meaning) << text;
  }
}

// What is read is one of the choices and no other part of their sentence.
TEST(Settings, AChoiceIsOneWholeWord) {
  const std::map<std::string, std::string> choices{
      {"SEARCH", "proposals, guided or exhaustive"},
      {"ON_MISS", "default, heuristic or error"}};
  for (const auto& [name, sentence] : choices) {
    Settings settings = with({});
    const std::string before = settings.get(name);
    for (const std::string& text : {std::string("or"),
                                    std::string(""),
                                    std::string(" "),
                                    std::string(","),
                                    std::string(", "),
                                    std::string("1"),
                                    sentence,
                                    std::string("guided exhaustive"),
                                    std::string("guided,exhaustive"),
                                    std::string("heuristic or"),
                                    std::string("or error"),
                                    std::string("guide"),
                                    std::string("guided "),
                                    std::string(" guided"),
                                    std::string("guided,"),
                                    std::string("default,"),
                                    std::string("err"),
                                    std::string("errors"),
                                    std::string("crash"),
                                    std::string("error\0", 6)}) {
      EXPECT_THROW(settings.set(name, text), std::invalid_argument)
          << name << " '" << text << '\'';
      // A variable ends with its first zero.
      if (text.find('\0') == std::string::npos) {
        const Settings from = with({{"TUNEDOPS_" + name, text}});
        EXPECT_EQ(from.get(name), before) << name << " '" << text << '\'';
        EXPECT_EQ(from.complaints().size(), 1U) << name << " '" << text << '\'';
      }
    }
    EXPECT_EQ(settings.get(name), before);
  }
  EXPECT_THROW(with({}).set("ON_MISS", "guided"), std::invalid_argument);
  EXPECT_THROW(with({}).set("SEARCH", "default"), std::invalid_argument);
}

TEST(Settings, SaysWhichChoicesThereAre) {
  const Settings settings = with({{"TUNEDOPS_SEARCH", "all"}});
  EXPECT_EQ(settings.complaints(),
            std::vector<std::string>{
                "TUNEDOPS_SEARCH is 'all', expected proposals, guided or "
                "exhaustive; it stays at guided"});
}

TEST(Settings, ReadsTheNumericalCheck) {
  Settings settings = with({{"TUNEDOPS_NUMERICAL_CHECK", "1e-3_2E-2"}});
  EXPECT_TRUE(settings.numerical_check().enabled);
  EXPECT_EQ(settings.numerical_check().absolute, 1e-3);
  EXPECT_EQ(settings.numerical_check().relative, 2e-2);

  settings = with({{"TUNEDOPS_NUMERICAL_CHECK", "off"}});
  EXPECT_FALSE(settings.numerical_check().enabled);
  EXPECT_EQ(settings.get("NUMERICAL_CHECK"), "0");

  settings = with({});
  for (const char* text : {"1e-3", "_", "1e-3_", "_1e-3", "0_1e-3", "-1_1",
                           "1e-3_inf", "nan_nan", "1_2_3", "1e-3,1e-3"}) {
    EXPECT_THROW(settings.set("NUMERICAL_CHECK", text), std::invalid_argument)
        << text;
  }
}

TEST(Settings, ReadsTheNamesOfKernels) {
  Settings settings = with({});
  settings.set("KERNELS", " Gemm_A, ,Gemm_B ,");
  EXPECT_EQ(settings.kernels(), (std::vector<std::string>{"Gemm_A", "Gemm_B"}));
  settings.set("KERNELS", "");
  EXPECT_TRUE(settings.kernels().empty());
}

TEST(Settings, TheCacheLiesWhereXdgSaysItDoes) {
  EXPECT_EQ(with({{"HOME", "/home/me"}}).get("CACHE_DIR"),
            "/home/me/.cache/tunedops");
  EXPECT_EQ(with({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "/fast"}})
                .get("CACHE_DIR"),
            "/fast/tunedops");
  EXPECT_EQ(with({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "relative"}})
                .get("CACHE_DIR"),
            "/home/me/.cache/tunedops");
  EXPECT_EQ(
      with({{"HOME", "/home/me"}, {"TUNEDOPS_CACHE_DIR", ""}}).get("CACHE_DIR"),
      "");
}

TEST(Settings, ADefaultCanBecomeKnownLater) {
  Settings settings = with({});
  settings.set_standard("DATABASE_DIR", "/package");
  EXPECT_EQ(settings.get("DATABASE_DIR"), "/package");
  EXPECT_EQ(described(settings, "DATABASE_DIR").standard, "/package");
  EXPECT_EQ(described(settings, "DATABASE_DIR").origin, "default");
  Settings set = with({{"TUNEDOPS_DATABASE_DIR", "/mine"}});
  set.set_standard("DATABASE_DIR", "/package");
  EXPECT_EQ(set.get("DATABASE_DIR"), "/mine");
}

}  // namespace
}  // namespace tunedops
