// Which configs a program's products measure, and which somebody who tunes
// does: a search goes on where kernels propose no more, but no program stops
// for all that there is.

#include "context_fixture.h"

namespace tunedops {
namespace {

constexpr std::int64_t kConfigs = 2000;
constexpr std::int64_t kBest = 1500;

Config at(std::int64_t x) { return Config().with("x", x); }

class ContextSearchTest : public ContextTest {
 protected:
  /// A kernel that proposes one config and has another that is much better.
  /// Nothing leads there if the model says nothing of it.
  FakeKernel& add_rich(bool has_model) {
    Behaviour rich{.name = "Gemm_Rich", .configs = {at(0)}};
    for (std::int64_t x = 0; x < kConfigs; ++x) {
      rich.space.push_back(at(x));
    }
    rich.ms_of = [](const Config& config) {
      const std::int64_t x = config.at("x");
      return x == kBest ? 0.4 : x == 0 ? 0.9 : 1.1;
    };
    rich.point_of = [has_model](const Config& config) {
      ConfigPoint point;
      point.predicted_ms = has_model && config.at("x") == kBest ? 0.5F : 1.0F;
      point.at[0] = 100 * static_cast<float>(config.at("x"));
      return std::optional(point);
    };
    return add(std::move(rich));
  }
};

TEST_F(ContextSearchTest, AProductFindsAndTakesWhatNoKernelProposed) {
  add_rich(true);
  EXPECT_EQ(choice(gemm()), "Gemm_Rich_x_1500");
  EXPECT_EQ(rows_of_csv(),
            std::vector<std::string>{row(8, "Gemm_Rich_x_1500")});
  restart();
  FakeKernel& kernel = add_rich(true);
  EXPECT_EQ(choice(gemm()), "Gemm_Rich_x_1500") << "from the file";
  EXPECT_EQ(kernel.runs(), 0);
  EXPECT_TRUE(warnings().empty());
}

TEST_F(ContextSearchTest, SearchesAlsoIfOnlyDefaultIsProposed) {
  Behaviour shy{.name = "Gemm_Shy", .configs = {}};
  shy.space = {at(1), at(2)};
  shy.ms_of = [](const Config& config) {
    return 1.0 / static_cast<double>(config.at("x") + 1);
  };
  add(std::move(shy));
  EXPECT_EQ(choice(gemm()), "Gemm_Shy_x_2");
}

TEST_F(ContextSearchTest, ProposalsMayBeAll) {
  restart({{"SEARCH", "proposals"}});
  FakeKernel& kernel = add_rich(true);
  EXPECT_EQ(choice(gemm()), "Gemm_Rich_x_0");
  EXPECT_EQ(context().tune(gemm(9), {}, false).searched, 0);
  EXPECT_EQ(kernel.tried(), 1U);
}

TEST_F(ContextSearchTest, WhoTunesMayHaveAllOfIt) {
  restart({{"SEARCH", "exhaustive"}, {"MAX_TUNING_BUDGET_MS", "50"}});
  FakeKernel& kernel = add_rich(false);
  const TuneOutcome outcome = context().tune(gemm(), {}, false);
  EXPECT_EQ(outcome.solution, "Gemm_Rich_x_1500");
  EXPECT_EQ(outcome.searched, kConfigs - 1);
  EXPECT_EQ(kernel.tried(), static_cast<std::size_t>(kConfigs));
}

TEST_F(ContextSearchTest, WhoMeasuresSaysHowMuchOfIt) {
  FakeKernel& kernel = add_rich(false);
  EXPECT_EQ(
      context().measure(gemm(9), {}, {.search = Search::kProposals}).searched,
      0);
  EXPECT_EQ(kernel.tried(), 1U);
  EXPECT_EQ(
      context().measure(gemm(9), {}, {.search = Search::kExhaustive}).searched,
      kConfigs - 1);
  EXPECT_LT(context()
                .measure(gemm(9), {},
                         {.search = Search::kExhaustive, .budget_ms = 20})
                .searched,
            kConfigs - 1)
      << "a budget that is asked for holds";
}

TEST_F(ContextSearchTest, NoProductWaitsForAllOfIt) {
  restart({{"SEARCH", "exhaustive"}, {"MAX_TUNING_BUDGET_MS", "100"}});
  FakeKernel& kernel = add_rich(false);
  EXPECT_EQ(choice(gemm()), "Gemm_Rich_x_0");
  EXPECT_LE(device_.clock.now_ms(), 105);
  EXPECT_GT(kernel.tried(), 10U) << "it searches all the same";
  EXPECT_LT(kernel.tried(), 100U);
  EXPECT_EQ(rows_of_csv(), std::vector<std::string>{row(8, "Gemm_Rich_x_0")});
}

TEST_F(ContextSearchTest, NeitherDoAllProductsTogether) {
  restart({{"SEARCH", "exhaustive"}, {"TOTAL_BUDGET_S", "1"}});
  add_rich(false);
  for (std::int64_t n = 1; n <= 100; ++n) {
    choice(to_key(gemm_problem(n, n + 1, n + 2)));
  }
  EXPECT_LE(device_.clock.now_ms(), 1005);
}

TEST_F(ContextSearchTest, WhoMayNotCompeteIsNotSearched) {
  restart({{"KERNELS", "Gemm_Fast"}});
  FakeKernel& kernel = add_rich(true);
  add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_EQ(choice(gemm()), "Gemm_Fast");
  EXPECT_EQ(kernel.runs(), 0);
}

}  // namespace
}  // namespace tunedops
