// Names in files must lead to one kernel and one only, whatever is registered
// beside it.

#include "tuning/kernel_registry.h"

#include <stdexcept>

#include "fake_kernel.h"

namespace tunedops {
namespace {

class KernelRegistryTest : public testing::Test {
 protected:
  void add(const std::string& name, const FakeOp& op = gemm_op(),
           DeviceType type = DeviceType::kCpu) {
    registry_.register_kernel<FakeKernel>(op.id, device_, op,
                                          Behaviour{.name = name}, type);
  }

  // The name of the kernel and the text of the config, with a bar between.
  std::string parse(const std::string& text) const {
    const auto solution = registry_.parse(kGemmOp, DeviceType::kCpu, text);
    return solution ? std::string(solution->kernel->name()) + '|' +
                          solution->config.to_text()
                    : "nothing";
  }

  FakeDevice device_;
  KernelRegistry registry_;
};

TEST_F(KernelRegistryTest, ListsInOrderPerOpAndDevice) {
  add("Default");
  add("Second");
  add("Third", scale_op());
  add("Fourth", gemm_op(), DeviceType::kCuda);
  add("Fifth");

  std::vector<std::string> names;
  for (const Kernel* kernel : registry_.kernels(kGemmOp, DeviceType::kCpu)) {
    names.emplace_back(kernel->name());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"Default", "Second", "Fifth"}));
  ASSERT_EQ(registry_.kernels(kScaleOp, DeviceType::kCpu).size(), 1U);
  EXPECT_EQ(registry_.kernels(kScaleOp, DeviceType::kCpu)[0]->name(), "Third");
  ASSERT_EQ(registry_.kernels(kGemmOp, DeviceType::kCuda).size(), 1U);
  EXPECT_TRUE(registry_.kernels(kScaleOp, DeviceType::kCuda).empty());
}

TEST_F(KernelRegistryTest, RefusesDuplicates) {
  add("Gemm_A");
  try {
    add("Gemm_A");
    FAIL() << "a second Gemm_A was registered";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "register_kernel: 'Gemm_A' is registered already");
  }
  EXPECT_EQ(registry_.kernels(kGemmOp, DeviceType::kCpu).size(), 1U);
  // Elsewhere the name is free.
  add("Gemm_A", scale_op());
  add("Gemm_A", gemm_op(), DeviceType::kCuda);
}

TEST_F(KernelRegistryTest, RefusesNamesThatCouldForgeARow) {
  for (const std::string& name :
       {std::string(), std::string("a,b"), std::string("a b"),
        std::string("a\nb"), std::string("#a"), std::string("a-b"),
        std::string("\xc3\xa4"), std::string("a\0b", 3),
        std::string(65, 'a')}) {
    EXPECT_THROW(add(name), std::invalid_argument) << name;
  }
  add(std::string(64, 'a'));
  add("Gemm_9");
}

TEST_F(KernelRegistryTest, ParsesANameWithItsConfig) {
  add("Gemm_A");
  EXPECT_EQ(parse("Gemm_A"), "Gemm_A|");
  EXPECT_EQ(parse("Gemm_A_tile_64x32"), "Gemm_A|_tile_64x32");
}

TEST_F(KernelRegistryTest, TheLongestNameCounts) {
  add("Gemm_A");
  add("Gemm_A_Long");
  EXPECT_EQ(parse("Gemm_A_Long"), "Gemm_A_Long|");
  EXPECT_EQ(parse("Gemm_A_Long_tile_1"), "Gemm_A_Long|_tile_1");
  EXPECT_EQ(parse("Gemm_A_tile_1"), "Gemm_A|_tile_1");
}

TEST_F(KernelRegistryTest, TheOrderOfRegistrationDoesNotMatterForNames) {
  add("Gemm_A_Long");
  add("Gemm_A");
  EXPECT_EQ(parse("Gemm_A_Long_tile_1"), "Gemm_A_Long|_tile_1");
  EXPECT_EQ(parse("Gemm_A_tile_1"), "Gemm_A|_tile_1");
}

TEST_F(KernelRegistryTest, ParsesNothingElse) {
  add("Gemm_A");
  add("Elsewhere", scale_op());
  for (const char* text :
       {"", "_", "Gemm", "Gemm_", "Gemm_B", "gemm_A", "Gemm_AB", "Gemm_A_",
        "Gemm_A_tile", "Gemm_A_tile_", "Gemm_A_tile_x", " Gemm_A", "Gemm_A ",
        "Elsewhere"}) {
    EXPECT_EQ(parse(text), "nothing") << text;
  }
}

TEST_F(KernelRegistryTest, SolutionsKnowTheirTextAndDefault) {
  add("Default");
  add("Gemm_A");
  const auto text = [this](const std::string& solution) {
    return registry_.parse(kGemmOp, DeviceType::kCpu, solution)->to_text();
  };
  EXPECT_EQ(text("Gemm_A_tile_64x32_stages_2"), "Gemm_A_tile_64x32_stages_2");
  EXPECT_TRUE(
      registry_.parse(kGemmOp, DeviceType::kCpu, "Default")->is_default());
  EXPECT_FALSE(
      registry_.parse(kGemmOp, DeviceType::kCpu, "Gemm_A")->is_default());
}

TEST_F(KernelRegistryTest, AKernelAcceptsTheConfigsThatItOffers) {
  registry_.register_kernel<FakeKernel>(
      kGemmOp, device_, gemm_op(),
      Behaviour{.name = "Gemm_A", .configs = {Config().with("tile", 1)}});
  const Kernel& kernel = *registry_.kernels(kGemmOp, DeviceType::kCpu)[0];
  const ProblemKey problem = to_key(gemm_problem(1, 1, 1));
  EXPECT_TRUE(kernel.check(problem, Config().with("tile", 1)).is_ok());
  const Status refused = kernel.check(problem, Config().with("tile", 2));
  EXPECT_EQ(refused.code(), Status::Code::kUnsupported);
  EXPECT_EQ(refused.reason(), "is not a config of this kernel");
}

}  // namespace
}  // namespace tunedops
