// Races in which kernels have more configs than they propose: what the search
// finds, what it costs, and that whoever declines, fails or lies among them
// changes nothing for the others.

#include "tuner_fixture.h"

#include <cmath>

namespace tunedops {
namespace {

Config at(std::int64_t x) { return Config().with("x", x); }

/// x = 0, 1, ... `count` - 1.
std::vector<Config> line(std::int64_t count) {
  std::vector<Config> configs;
  for (std::int64_t x = 0; x < count; ++x) {
    configs.push_back(at(x));
  }
  return configs;
}

using PointOf = std::function<std::optional<ConfigPoint>(const Config&)>;
using Curve = std::function<double(double)>;

/// Points in a row. At a step of 1 neighbours have little in common, at a step
/// of 100 nothing.
PointOf in_a_row(float step, Curve predicted_ms = [](double) { return 1.0; }) {
  return [=](const Config& config) {
    ConfigPoint point;
    const auto x = static_cast<double>(config.at("x"));
    point.predicted_ms = static_cast<float>(predicted_ms(x));
    point.at[0] = step * static_cast<float>(x);
    return std::optional(point);
  };
}

std::function<double(const Config&)> takes(Curve ms) {
  return [ms = std::move(ms)](const Config& config) {
    return ms(static_cast<double>(config.at("x")));
  };
}

std::function<Fault(const Config&)>
faulty(Fault fault, std::function<bool(std::int64_t)> is_so) {
  return [=](const Config& config) {
    return is_so(config.at("x")) ? fault : Fault::kNone;
  };
}

class TunerSearchTest : public TunerTest {
 protected:
  TunerSearchTest() { limits_.search = Search::kGuided; }

  /// What the winner's x is; -1 if it is Default.
  static std::int64_t winner(const TuneOutcome& outcome) {
    const std::size_t place = outcome.solution.find("_x_");
    return place == std::string::npos
               ? -1
               : std::stoll(outcome.solution.substr(place + 3));
  }
};

// --- What it finds ----------------------------------------------------------

TEST_F(TunerSearchTest, FindsWhatNoKernelProposed) {
  add({.name = "Default", .ms = 1.0});
  FakeKernel& kernel = add(
      {.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return 0.5 + std::abs(x - 700) / 1e3; }),
       .space = line(1000),
       .point_of = in_a_row(0.05F)});
  const TuneOutcome outcome = race();
  ASSERT_TRUE(outcome.status.is_ok());
  EXPECT_NEAR(static_cast<double>(winner(outcome)), 700, 15);
  EXPECT_NEAR(outcome.time_ms, 0.5, 0.015);
  EXPECT_LT(outcome.searched, 200);
  EXPECT_EQ(kernel.tried(), static_cast<std::size_t>(outcome.searched) + 1)
      << "and the one that it proposed";
}

TEST_F(TunerSearchTest, AGoodModelIsBelieved) {
  const Curve curve = [](double x) { return 0.5 + std::abs(x - 700) / 1e3; };
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes(curve),
       .space = line(1000),
       .point_of = in_a_row(100, [&](double x) { return 50 * curve(x); })});
  EXPECT_EQ(winner(race()), 700);
}

TEST_F(TunerSearchTest, OnlyDefaultMayBeProposed) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {},
       .ms_of = takes([](double x) { return x == 17 ? 0.5 : 0.9; }),
       .space = line(40),
       .point_of = in_a_row(100)});
  EXPECT_EQ(winner(race()), 17);
}

TEST_F(TunerSearchTest, ProposalsAreTriedOnceAndWinTies) {
  limits_.search = Search::kExhaustive;
  add({.name = "Default", .ms = 1.0});
  FakeKernel& kernel =
      add({.name = "Rich",
           .configs = {at(5), at(9)},
           .ms_of = takes([](double x) { return x < 10 ? 0.5 : 2.0; }),
           .space = line(20),
           .point_of = in_a_row(100)});
  const TuneOutcome outcome = race();
  EXPECT_EQ(winner(outcome), 5);
  EXPECT_EQ(outcome.searched, 18);
  EXPECT_EQ(kernel.tried(), 20U);
  int entries = 0;
  for (const Measurement& m : outcome.measurements) {
    entries += m.solution == "Rich_x_5" ? 1 : 0;
  }
  EXPECT_EQ(entries, 1);
}

// Coordinates need not tell all configs apart.
TEST_F(TunerSearchTest, AConfigAtTheSamePlaceIsAnotherConfig) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return x == 3 ? 0.5 : 0.8; }),
       .space = line(6),
       .point_of = in_a_row(0)});
  EXPECT_EQ(winner(race()), 3);
}

TEST_F(TunerSearchTest, ProposalsAloneDoNotSearch) {
  limits_.search = Search::kProposals;
  add({.name = "Default", .ms = 1.0});
  FakeKernel& kernel =
      add({.name = "Rich",
           .configs = {at(0), at(1)},
           .ms_of = takes([](double x) { return 0.9 - 0.01 * x; }),
           .space = line(50),
           .point_of = in_a_row(1)});
  const TuneOutcome outcome = race();
  EXPECT_EQ(winner(outcome), 1);
  EXPECT_EQ(outcome.searched, 0);
  EXPECT_EQ(kernel.tried(), 2U);
}

TEST_F(TunerSearchTest, AllMeansAllOnceEach) {
  limits_.search = Search::kExhaustive;
  for (const double budget_ms : {1e9, HUGE_VAL}) {
    clear();
    limits_.budget_ms = budget_ms;
    add({.name = "Default", .ms = 1.0});
    // Nothing leads to it.
    FakeKernel& kernel =
        add({.name = "Rich",
             .configs = {at(0)},
             .ms_of = takes([](double x) { return x == 613 ? 0.5 : 2 + x; }),
             .space = line(800),
             .point_of = in_a_row(0.01F, [](double x) { return 1 + x; })});
    const TuneOutcome outcome = race();
    EXPECT_EQ(winner(outcome), 613);
    EXPECT_EQ(outcome.searched, 799);
    for (const Config& config : line(800)) {
      if (config.at("x") != 613) {
        EXPECT_GE(kernel.runs(config), 2) << "a first run and a reading";
        EXPECT_LE(kernel.runs(config), 3) << "or two";
      }
    }
  }
}

// --- What it costs ----------------------------------------------------------

TEST_F(TunerSearchTest, KeepsToItsShareOfTheBudget) {
  double last_new = 0;
  std::int64_t last_x = -1;
  for (const Search search : {Search::kGuided, Search::kExhaustive}) {
    clear();
    limits_.search = search;
    const double begin = device_.clock.now_ms();
    add({.name = "Default", .ms = 1.0});
    add({.name = "Rich",
         .configs = {at(0)},
         .ms_of = takes([&](double x) {
           // Slowly better and better, so that it never seems to be over.
           if (static_cast<std::int64_t>(x) > last_x) {
             last_x = static_cast<std::int64_t>(x);
             last_new = device_.clock.now_ms() - begin;
           }
           return 0.9 - x / 1e4;
         }),
         .space = line(2000),
         .point_of = in_a_row(100, [](double x) { return 1 + x / 1e4; })});
    const TuneOutcome outcome = race();
    EXPECT_GT(outcome.searched, 70) << "each is checked, since it gains";
    EXPECT_LE(last_new, 0.65 * limits_.budget_ms + 1);
    EXPECT_GT(last_new, 0.5 * limits_.budget_ms);
    EXPECT_GE(samples(outcome, outcome.solution), 12);
    EXPECT_LE(outcome.elapsed_ms, limits_.budget_ms + 4);
    last_x = -1;
  }
}

TEST_F(TunerSearchTest, LongCallsLeaveTimeToDecide) {
  for (const double ms : {5.0, 10.0, 15.0, 20.0}) {
    clear();
    add({.name = "Default", .ms = ms});
    add({.name = "Rich",
         .configs = {at(0), at(1), at(2), at(3)},
         .ms_of = takes([&](double x) { return ms * (0.9 - x / 1e3); }),
         .space = line(300),
         .point_of = in_a_row(1)});
    const TuneOutcome outcome = race();
    EXPECT_NE(outcome.solution, "Default") << ms;
    EXPECT_GE(samples(outcome, outcome.solution), 3) << ms;
    // Of Default and three others.
    EXPECT_LE(outcome.elapsed_ms, limits_.budget_ms + 4 * ms) << ms;
  }
}

// A space far slower than Default: one call that began in time is finished.
TEST_F(TunerSearchTest, ALongTrialIsTheLast) {
  for (const double ms : {50.0, 150.0, 1000.0}) {
    clear();
    add({.name = "Default", .ms = 1.0});
    add({.name = "Good", .ms = 0.6});
    FakeKernel& slow = add({.name = "Slow",
                            .configs = {},
                            .ms_of = takes([&](double) { return ms; }),
                            .space = line(300),
                            .point_of = in_a_row(1)});
    const TuneOutcome outcome = race();
    EXPECT_EQ(outcome.solution, "Good") << ms;
    EXPECT_LE(outcome.elapsed_ms, std::max(limits_.budget_ms, ms + 30) + ms);
    EXPECT_LE(slow.runs(), 0.65 * limits_.budget_ms / ms + 1) << ms;
  }
}

TEST_F(TunerSearchTest, EndsWhenItGainsNothing) {
  limits_.budget_ms = 500;
  add({.name = "Default", .ms = 1.0});
  FakeKernel& kernel = add({.name = "Rich",
                            .configs = {at(0)},
                            .ms_of = takes([](double) { return 1.2; }),
                            .space = line(3000),
                            .point_of = in_a_row(1)});
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution, "Default");
  EXPECT_GE(outcome.searched, 60);
  EXPECT_LE(outcome.searched, 70);
  EXPECT_LE(kernel.tried(), 71U);

  // Who has more time is more patient.
  limits_.budget_ms = 10000;
  const int patient = race().searched;
  EXPECT_GE(patient, 0.8 * 2000 / 2.4);
  EXPECT_LE(patient, 2000 / 2.4 + 10);
}

TEST_F(TunerSearchTest, LateGainsMakeItPatient) {
  limits_.budget_ms = 900;
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return x < 50 ? 0.99 - x / 100 : 0.9; }),
       .space = line(3000),
       .point_of = in_a_row(100, [](double x) { return 1 + x / 1e4; })});
  const int searched = race().searched;
  EXPECT_GE(searched, 2 * 49 + 60) << "half of all, and 64 more";
  EXPECT_LE(searched, 2 * 49 + 70);
}

// None of them is worth waiting for, all together are.
TEST_F(TunerSearchTest, ManySmallGainsAreAGain) {
  limits_.budget_ms = 1e6;
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return 0.95 * std::pow(0.997, x); }),
       .space = line(200),
       .point_of = in_a_row(100, [](double x) { return 1 + x / 1e4; })});
  EXPECT_EQ(race().searched, 199);
}

// What a space has to find out about itself is found out once; the first
// problem that asks must not be decided in a hurry for that.
TEST_F(TunerSearchTest, ASpaceThatTakesLongTakesNoTimeFromTheRest) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return x == 0 ? 0.9 : 0.8; }),
       .space = line(100),
       .point_of = in_a_row(1),
       .space_ms = 2000});
  const TuneOutcome outcome = race();
  EXPECT_GT(winner(outcome), 0);
  EXPECT_GT(outcome.searched, 50);
  EXPECT_GE(samples(outcome, outcome.solution), 12);
  EXPECT_GE(outcome.elapsed_ms, 2000);
  EXPECT_LE(outcome.elapsed_ms, 2000 + limits_.budget_ms);
}

TEST_F(TunerSearchTest, TheSpacesWorkspaceIsThere) {
  device_.memory_bytes = 200000;
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return x == 0 ? 0.9 : 0.5; }),
       .workspace = 100,
       .space = line(10),
       .point_of = in_a_row(1),
       .space_workspace = 70000});
  EXPECT_GT(winner(race()), 0);
  EXPECT_GE(device_.most_allocated.load(), 70000U);
  EXPECT_LE(device_.most_allocated.load(), 200000U);
  EXPECT_EQ(device_.allocated.load(), 0U);
}

// --- Who is in the way ------------------------------------------------------

// The model prefers them and there are enough to use up any patience.
TEST_F(TunerSearchTest, DeclinedConfigsCostNothing) {
  for (const Search search : {Search::kGuided, Search::kExhaustive}) {
    clear();
    limits_.search = search;
    add({.name = "Default", .ms = 1.0});
    FakeKernel& kernel =
        add({.name = "Rich",
             .configs = {at(999)},
             .ms_of = takes([](double x) { return x == 950 ? 0.5 : 0.9; }),
             .space = line(1000),
             .point_of = in_a_row(100, [](double x) { return 1 + x / 1e4; }),
             .fault_of = faulty(Fault::kDeclines,
                                [](std::int64_t x) { return x < 900; })});
    const TuneOutcome outcome = race();
    EXPECT_EQ(winner(outcome), 950);
    EXPECT_EQ(outcome.searched, 99) << "what was declined is not counted";
    EXPECT_EQ(kernel.tried(), 100U);
  }
}

/// A model prefers the first half of a space, which is twice as fast as the
/// other and of no use.
Behaviour half_is(Fault fault) {
  return {.name = "Rich",
          .configs = {at(199)},
          .ms_of = takes([](double x) {
            return x < 100 ? 0.3 + x / 1e4 : 0.6 + std::abs(x - 150) / 1e3;
          }),
          .space = line(200),
          .point_of = in_a_row(0.05F, [](double x) { return x < 100 ? 1 : 2; }),
          .fault_of = faulty(fault, [](std::int64_t x) { return x < 100; })};
}

TEST_F(TunerSearchTest, WhoFailsOrIsWrongDoesNotCrowdOutTheRight) {
  for (const Fault fault :
       {Fault::kFails, Fault::kWrong, Fault::kWrongCorner, Fault::kNan,
        Fault::kUnwritten, Fault::kWritesBehind}) {
    for (const Search search : {Search::kGuided, Search::kExhaustive}) {
      clear();
      limits_.search = search;
      limits_.budget_ms = search == Search::kExhaustive ? HUGE_VAL : 400;
      add({.name = "Default", .ms = 1.0});
      add(half_is(fault));
      const TuneOutcome outcome = race();
      EXPECT_NEAR(static_cast<double>(winner(outcome)), 150, 10)
          << static_cast<int>(fault);
      EXPECT_GT(outcome.searched, 20);
    }
  }
}

TEST_F(TunerSearchTest, OneThatIsWrongIsNotTheBest) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {at(0)},
       // Right ones are far slower than the wrong one, but not than Default.
       .ms_of = takes([](double x) { return x == 1 ? 0.01 : 0.9 - x / 100; }),
       .space = line(30),
       .point_of = in_a_row(100, [](double x) { return 1 + x; }),
       .fault_of =
           faulty(Fault::kWrong, [](std::int64_t x) { return x == 1; })});
  const TuneOutcome outcome = race();
  EXPECT_EQ(winner(outcome), 29);
  EXPECT_EQ(outcome.searched, 29);
  EXPECT_EQ(refused(outcome, "Rich_x_1"), "was not in the race");
}

// A proposal that is wrong was fast, and its neighbours are no better.
TEST_F(TunerSearchTest, AWrongProposalLeadsNobodyThere) {
  add({.name = "Default", .ms = 1.0});
  FakeKernel& kernel = add(
      {.name = "Rich",
       .configs = {at(10), at(90)},
       .ms_of = takes([](double x) { return x < 50 ? 0.1 : 0.7 - x / 1e3; }),
       .space = line(300),
       .point_of = in_a_row(0.1F),
       .fault_of =
           faulty(Fault::kWrong, [](std::int64_t x) { return x < 50; })});
  EXPECT_GE(winner(race()), 290);
  std::size_t wrong = 0;
  for (const Config& config : line(50)) {
    wrong += kernel.runs(config) > 0 ? 1 : 0;
  }
  EXPECT_LE(wrong, 30U);
}

TEST_F(TunerSearchTest, TheCheckIsThereIfOnlyTheSearchFindsAny) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {},
       .ms_of = takes([](double) { return 0.5; }),
       .space = line(10),
       .point_of = in_a_row(100),
       .fault_of =
           faulty(Fault::kWrong, [](std::int64_t x) { return x != 7; })});
  EXPECT_EQ(winner(race()), 7);
}

TEST_F(TunerSearchTest, WhoFailsLaterIsOut) {
  add({.name = "Default", .ms = 1.0});
  add({.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return 0.9 - x / 1e2; }),
       .space = line(30),
       .point_of = in_a_row(100),
       .fault_of =
           faulty(Fault::kFailsLater, [](std::int64_t x) { return x > 20; })});
  EXPECT_EQ(winner(race()), 20);
}

TEST_F(TunerSearchTest, AStickyFailureStopsEverything) {
  for (const Search search : {Search::kGuided, Search::kExhaustive}) {
    clear();
    limits_.search = search;
    add({.name = "Default", .ms = 1.0});
    FakeKernel& kernel =
        add({.name = "Rich",
             .reason = "illegal memory access",
             .configs = {at(0)},
             .ms_of = takes([](double) { return 0.5; }),
             .space = line(30),
             .point_of = in_a_row(100, [](double x) { return 1 + x; }),
             .fault_of = faulty(Fault::kSticky,
                                [](std::int64_t x) { return x == 5; })});
    const TuneOutcome outcome = race();
    EXPECT_TRUE(outcome.status.is_sticky());
    EXPECT_EQ(outcome.status.reason(), "illegal memory access");
    EXPECT_EQ(outcome.solution, "");
    EXPECT_EQ(outcome.searched, 5);
    EXPECT_EQ(kernel.runs(at(5)), 1);
    EXPECT_EQ(kernel.runs(at(6)), 0);
    EXPECT_EQ(device_.open_scopes, 0);
    EXPECT_EQ(device_.allocated.load(), 0U);
  }
}

TEST_F(TunerSearchTest, PredictionsThatCannotBeDoNotStopIt) {
  for (const double none : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    clear();
    add({.name = "Default", .ms = 1.0});
    add({.name = "Rich",
         .configs = {at(0)},
         .ms_of = takes([](double x) { return x == 40 ? 0.5 : 0.9; }),
         .space = line(60),
         .point_of = in_a_row(100, [&](double x) {
           return static_cast<int>(x) % 2 == 0 ? none : 1.0;
         })});
    EXPECT_EQ(winner(race()), 40) << none;
  }
}

// --- Several kernels --------------------------------------------------------

TEST_F(TunerSearchTest, TrialsGoWhereTheyPay) {
  add({.name = "Default", .ms = 1.0});
  const auto add_rich = [this](const char* name, double ms, double unit) {
    const Curve curve = [=](double x) { return ms + std::abs(x - 300) / 1e3; };
    return &add({.name = name,
                 .configs = {at(0)},
                 .ms_of = takes(curve),
                 .space = line(500),
                 .point_of = in_a_row(
                     0.2F, [=](double x) { return unit * curve(x); })});
  };
  // Their models have different units.
  FakeKernel* const poor = add_rich("Poor", 0.9, 1e-3);
  FakeKernel* const good = add_rich("Good", 0.5, 1e3);
  const TuneOutcome outcome = race();
  EXPECT_EQ(outcome.solution.substr(0, 4), "Good");
  EXPECT_NEAR(static_cast<double>(winner(outcome)), 300, 5);
  EXPECT_GT(good->tried(), 5 * poor->tried());
}

// Of a kernel without a proposal nobody knows in which unit its model thinks.
TEST_F(TunerSearchTest, AKernelWithoutProposalsGetsAChance) {
  for (const double unit : {1e-3, 1.0, 1e3}) {
    for (const bool is_first : {false, true}) {
      clear();
      add({.name = "Default", .ms = 1.0});
      const auto add_known = [this] {
        add({.name = "Known",
             .configs = {at(0)},
             .ms_of = takes([](double x) { return 0.9 - x / 1e5; }),
             .space = line(1000),
             .point_of = in_a_row(100)});
      };
      const auto add_unknown = [this, unit] {
        return &add({.name = "Unknown",
                     .configs = {},
                     .ms_of = takes([](double x) { return 0.5 + x / 1e3; }),
                     .space = line(100),
                     .point_of = in_a_row(1, [=](double) { return unit; })});
      };
      if (!is_first) {
        add_known();
      }
      const FakeKernel* const unknown = add_unknown();
      if (is_first) {
        add_known();
      }
      EXPECT_EQ(race().solution, "Unknown_x_0") << unit;
      EXPECT_GT(unknown->tried(), 20U) << unit;
    }
  }
}

TEST_F(TunerSearchTest, AKernelThatAlwaysFailsTakesFewTrials) {
  for (const double unit : {1e-3, 1.0, 1e3}) {
    clear();
    add({.name = "Default", .ms = 1.0});
    FakeKernel& broken =
        add({.name = "Broken",
             .fault = Fault::kFails,
             .configs = {},
             .ms_of = takes([](double) { return 0.1; }),
             .space = line(1000),
             .point_of = in_a_row(1, [=](double) { return unit; })});
    add({.name = "Good",
         .configs = {at(0)},
         .ms_of = takes([](double x) { return 0.9 - x / 1e3; }),
         .space = line(100),
         .point_of = in_a_row(1)});
    EXPECT_GE(winner(race()), 95) << unit;
    EXPECT_LE(broken.tried(), 40U) << unit;
  }
}

TEST_F(TunerSearchTest, AllOfAllKernels) {
  limits_.search = Search::kExhaustive;
  limits_.budget_ms = HUGE_VAL;
  add({.name = "Default", .ms = 1.0});
  for (const char* name : {"One", "Two"}) {
    add({.name = name,
         .configs = {at(0)},
         .ms_of = takes([](double) { return 0.7; }),
         .space = line(100),
         .point_of = in_a_row(1)});
  }
  EXPECT_EQ(race().searched, 198);
}

// --- Noise ------------------------------------------------------------------

TEST_F(TunerSearchTest, FindsAGoodOneOnANoisyMachine) {
  device_.noise = 0.05;
  device_.disturbed = 20;
  int good = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    clear();
    device_.seed = 2654435761 * seed;
    add({.name = "Default", .ms = 1.0});
    add({.name = "Rich",
         .configs = {at(0)},
         .ms_of = takes([](double x) { return 0.6 + std::abs(x - 300) / 1e3; }),
         .space = line(500),
         .point_of = in_a_row(0.05F)});
    good += race().time_ms < 0.66 ? 1 : 0;
  }
  EXPECT_GE(good, 95);
}

// Default's own readings may be the disturbed ones, and all others are told
// relative to those.
TEST_F(TunerSearchTest, ADisturbedReadingDoesNotEndIt) {
  device_.noise = 0.01;
  device_.disturbed = 20;
  for (const double disturbance : {1.5, 5.0, 50.0}) {
    device_.disturbance = disturbance;
    int good = 0;
    for (unsigned seed = 1; seed <= 100; ++seed) {
      clear();
      device_.seed = 2654435761 * seed;
      add({.name = "Default", .ms = 1.0});
      add({.name = "Rich",
           .configs = {at(0), at(1), at(2)},
           .ms_of =
               takes([](double x) { return 0.6 + std::abs(x - 300) / 1e3; }),
           .space = line(500),
           .point_of = in_a_row(0.05F)});
      good += race().time_ms < 0.63 ? 1 : 0;
    }
    EXPECT_GE(good, 90) << disturbance;
  }
}

TEST_F(TunerSearchTest, AFirstReadingThatIsDisturbedDoesNotEndIt) {
  add({.name = "Default", .ms_of = [runs = 0](const Config&) mutable {
         return ++runs <= 2 ? 5.0 : 1.0;
       }});
  add({.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return x == 50 ? 0.5 : 0.84; }),
       .space = line(60),
       .point_of = in_a_row(100)});
  const TuneOutcome outcome = race();
  EXPECT_EQ(winner(outcome), 50);
  EXPECT_EQ(outcome.searched, 59);
}

// Of a proposal too: it gets another look beside what was found since.
TEST_F(TunerSearchTest, AFastOneThatWasDisturbedAtFirstWinsAllTheSame) {
  for (const int others : {0, 5, 20}) {
    clear();
    add({.name = "Default", .ms = 1.0});
    add({.name = "Fast", .ms_of = [runs = 0](const Config&) mutable {
           return ++runs == 2 ? 1.3 : 0.4;  // the second is its first reading
         }});
    for (int other = 0; other < others; ++other) {
      add({.name = "Other" + std::to_string(other), .ms = 0.95});
    }
    EXPECT_EQ(race().solution, "Fast") << others;
  }
}

// What is tried late is not slower for that.
TEST_F(TunerSearchTest, ADeviceThatGetsWarmMisleadsNobody) {
  for (const double warming : {-0.3, 0.3}) {
    for (const Search search : {Search::kGuided, Search::kExhaustive}) {
      clear();
      limits_.search = search;
      limits_.budget_ms = 1000;
      device_.warming = warming;
      device_.clock.advance(-device_.clock.now_ms());
      const std::int64_t late = search == Search::kGuided ? 59 : 199;
      add({.name = "Default", .ms = 1.0});
      FakeKernel& kernel = add(
          {.name = "Rich",
           .configs = {at(0)},
           .ms_of = takes([late](double x) { return x == late ? 0.8 : 0.84; }),
           .space = line(late + 1),
           .point_of = in_a_row(100, [](double x) { return 1 + x / 1e6; })});
      const TuneOutcome outcome = race();
      // A round of screening two hundred takes long itself.
      if (search == Search::kGuided) {
        EXPECT_EQ(winner(outcome), late) << warming;
      }
      EXPECT_GT(kernel.runs(at(late)), 2) << "its glance was fast enough";
    }
  }
}

// Nor is what is tried while a device is fast for a moment faster for that.
TEST_F(TunerSearchTest, ClocksThatSwingMisleadNobody) {
  device_.swing = 0.15;
  int found = 0;
  for (int phase = 0; phase < 20; ++phase) {
    clear();
    device_.clock.advance(3 * phase);
    add({.name = "Default", .ms = 0.2});
    add({.name = "Rich",
         .configs = {at(0)},
         .ms_of = takes([](double x) { return x == 50 ? 0.16 : 0.175; }),
         .space = line(60),
         .point_of = in_a_row(100),
         .load_ms = 3});
    found += winner(race()) == 50 ? 1 : 0;
  }
  EXPECT_GE(found, 18);
}

// --- What must be loaded first ----------------------------------------------

TEST_F(TunerSearchTest, WhatIsLoadedAlreadyIsTriedAgainAtOnce) {
  add({.name = "Default", .ms = 0.1});
  FakeKernel& kernel = add({.name = "Rich",
                            .configs = {at(0)},
                            .ms_of = takes([](double) { return 0.099; }),
                            .space = line(500),
                            .point_of = in_a_row(100),
                            .load_ms = 5});
  const int first = race().searched;
  const std::size_t loaded = kernel.tried();
  EXPECT_GT(first, 30);
  EXPECT_LT(first, 50);
  const int second = race().searched;
  EXPECT_GT(second, first + 20) << "all of before, and others";
  EXPECT_GT(kernel.tried(), loaded + 20);
}

// Who has looked at all that is loaded in vain still loads something.
TEST_F(TunerSearchTest, WhatIsLoadedDoesNotUseUpThePatience) {
  add({.name = "Default", .ms = 0.1});
  FakeKernel& kernel = add(
      {.name = "Rich",
       .configs = {at(0)},
       .ms_of = takes([](double x) { return x == 299 ? 0.05 : 0.099; }),
       .space = line(300),
       .point_of = in_a_row(100, [](double x) { return x < 299 ? 0.1 : 0.12; }),
       .load_ms = 5});
  limits_.budget_ms = 100000;
  limits_.search = Search::kExhaustive;
  race();
  kernel.forget(at(299));
  limits_.search = Search::kGuided;
  EXPECT_GE(winner(race()), 290);
}

// However many equals there are to be lucky among.
TEST_F(TunerSearchTest, OfManyEqualsNoneWins) {
  device_.noise = 0.05;
  int wrong = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    clear();
    device_.seed = 2654435761 * seed;
    add({.name = "Default", .ms = 1.0});
    add({.name = "Rich",
         .configs = {at(0)},
         .ms_of = takes([](double) { return 1.0; }),
         .space = line(500),
         .point_of = in_a_row(1)});
    wrong += race().solution != "Default" ? 1 : 0;
  }
  EXPECT_LE(wrong, 5);
}

}  // namespace
}  // namespace tunedops
