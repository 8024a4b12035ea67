// Where results come from when the file of the program has none: a person's own
// cache first, then the database that ships with the package, whose rows
// outlive the environment that they were measured in.

#include <filesystem>
#include <stdexcept>

#include "context_fixture.h"

namespace tunedops {
namespace {

class ContextTiersTest : public ContextTest {
 protected:
  ContextTiersTest() { begin(); }

  // A process with both tiers, and a kernel that is not the fastest: so what is
  // tuned differs from what is stored.
  void begin(Variables variables = {}) {
    variables.try_emplace("CACHE_DIR", path("cache"));
    variables.try_emplace("DATABASE_DIR", path("databases"));
    restart(std::move(variables));
    add({.name = "Gemm_Fast", .ms = 0.5});
    add({.name = "Gemm_Slow", .ms = 2.0});
    add({.name = "Gemm_Unable", .fault = Fault::kUnsupported});
  }

  void save(std::int64_t n, const std::string& solution) {
    CsvRow row;
    row.key = gemm_op().definition.to_text(gemm(n));
    row.solution = solution;
    context().save_to_cache({}, {row});
  }

  void write_database(const std::string& text,
                      const std::string& name = "a.csv") {
    std::filesystem::create_directories(path("databases/fake"));
    write_text(path("databases/fake/" + name), text);
  }

  std::string explained(std::int64_t n) {
    const Explanation told = context().explain(gemm(n));
    return told.decided_by + ": " + told.solution +
           (told.note.empty() ? "" : ", " + told.note);
  }
};

TEST_F(ContextTiersTest, TheFileThenTheCacheThenTheDatabase) {
  write_csv(row(1, "Gemm_Slow"));
  save(1, "Default");
  save(2, "Gemm_Slow");
  write_database(kValidators + row(1, "Default") + row(2, "Default") +
                 row(3, "Gemm_Slow"));
  begin();
  for (const std::int64_t n : {1, 2, 3}) {
    EXPECT_EQ(choice(gemm(n)), "Gemm_Slow") << n;
  }
  EXPECT_EQ(standard().runs(), 0) << "nothing is tuned";
  EXPECT_EQ(choice(gemm(4)), "Gemm_Fast") << "as it is where nobody knows";
  EXPECT_TRUE(warnings().empty());
}

TEST_F(ContextTiersTest, WithoutFoldersThereIsNoTier) {
  save(1, "Gemm_Slow");
  write_database(kValidators + row(2, "Gemm_Slow"));
  begin({{"CACHE_DIR", ""}, {"DATABASE_DIR", ""}});
  EXPECT_EQ(choice(gemm(1)), "Gemm_Fast");
  EXPECT_EQ(choice(gemm(2)), "Gemm_Fast");
  EXPECT_THROW(save(1, "Gemm_Slow"), std::runtime_error);
  EXPECT_EQ(context().cache_filename({}), "");
}

TEST_F(ContextTiersTest, WhatIsInThemGoesToNoFile) {
  save(1, "Gemm_Slow");
  begin();
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow");
  EXPECT_TRUE(context().results({}).empty());
  EXPECT_EQ(context().stored(gemm(1)), std::nullopt);
  EXPECT_EQ(context().stored_anywhere(gemm(1))->solution, "Gemm_Slow");
  context().write_file();
  EXPECT_TRUE(rows_of_csv().empty());
}

// --- The personal cache ------------------------------------------------------

TEST_F(ContextTiersTest, SavedAtOnceAndForAll) {
  context().set_setting("TUNING", "0");
  EXPECT_EQ(choice(gemm(1)), "Default");
  save(1, "Gemm_Slow");
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow") << "decided anew";
  save(2, "Gemm_Fast");
  save(1, "Gemm_Fast");
  begin({{"TUNING", "0"}});
  EXPECT_EQ(choice(gemm(1)), "Gemm_Fast") << "the last one counts";
  EXPECT_EQ(choice(gemm(2)), "Gemm_Fast") << "others stay";
  context().clear_cache({});
  EXPECT_EQ(choice(gemm(1)), "Default");
  EXPECT_FALSE(std::filesystem::exists(context().cache_filename({})));
}

TEST_F(ContextTiersTest, TheFolderIsForUsAlone) {
  save(1, "Gemm_Slow");
  const auto mode = std::filesystem::status(path("cache")).permissions();
  EXPECT_EQ(mode & std::filesystem::perms::all,
            std::filesystem::perms::owner_all);
  std::filesystem::permissions(path("cache"),
                               std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THROW(save(2, "Gemm_Slow"), std::runtime_error);
  write_text(path("no_folder"), "");
  begin({{"CACHE_DIR", path("no_folder")}});
  EXPECT_THROW(save(2, "Gemm_Slow"), std::runtime_error);
  begin({{"CACHE_DIR", path("made/of/several")}});
  save(2, "Gemm_Slow");
  EXPECT_TRUE(std::filesystem::exists(context().cache_filename({})));
}

TEST_F(ContextTiersTest, AnotherEnvironmentHasItsOwn) {
  save(1, "Gemm_Slow");
  const std::string ours = context().cache_filename({});
  device_.validators = {};
  device_.validators.add("DEVICE", "fake");
  device_.validators.add("TUNEDOPS_KERNELS", "2");
  begin({{"TUNING", "0"}});
  EXPECT_NE(context().cache_filename({}), ours);
  EXPECT_EQ(choice(gemm(1)), "Default");
  EXPECT_TRUE(warnings().empty());
}

TEST_F(ContextTiersTest, ARowThatCannotBeUsedIsToldAndPassedOver) {
  save(1, "Gemm_Unable");
  write_database(kValidators + row(1, "Gemm_Slow"));
  begin();
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow");
  ASSERT_EQ(warnings().size(), 1);
  EXPECT_NE(warnings()[0].find("Gemm_Unable"), std::string::npos);
  EXPECT_NE(warnings()[0].find("is left out"), std::string::npos);
}

// What cannot be saved is not used either, and what is there is not replaced by
// a file beside it that nobody reads.
TEST_F(ContextTiersTest, AFileThatIsNotOursIsNotSavedBeside) {
  save(1, "Gemm_Slow");
  const std::string file = context().cache_filename({});
  for (const std::string& text :
       {std::string("Validator,DEVICE,another\n"),
        std::string("Validator,DEVICE,fake\nValidator,DEVICE,other\n")}) {
    write_text(file, text);
    begin({{"TUNING", "0"}});
    EXPECT_THROW(save(2, "Gemm_Slow"), std::runtime_error);
    EXPECT_EQ(choice(gemm(2)), "Default");
    EXPECT_EQ(read_text(file), text);
  }
  context().clear_cache({});
  save(2, "Gemm_Slow");
  EXPECT_EQ(choice(gemm(2)), "Gemm_Slow");
  std::filesystem::permissions(file, std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  EXPECT_THROW(save(3, "Gemm_Slow"), std::runtime_error);
  EXPECT_EQ(choice(gemm(3)), "Default");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("cache"))) {
    files += entry.path().extension() == ".csv" ? 1 : 0;
  }
  EXPECT_EQ(files, 1U);
}

// As in containers, whose user is not who HOME is of.
TEST_F(ContextTiersTest, AFolderThatCannotBeLookedIntoIsNoCache) {
  save(1, "Gemm_Slow");
  using std::filesystem::perms;
  std::filesystem::permissions(path("cache"), perms::none);
  begin({{"TUNING", "0"}});
  if (!stamp_of(context().cache_filename({})).exists()) {  // not as root
    EXPECT_EQ(choice(gemm(1)), "Default");
    EXPECT_TRUE(context().cached({}).empty());
  }
  EXPECT_TRUE(warnings().empty());
  std::filesystem::permissions(path("cache"), perms::owner_all);
}

TEST_F(ContextTiersTest, AFolderStaysWhereItWasWhenItWasNamed) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(path(""));
  begin({{"CACHE_DIR", "relative"}});
  save(1, "Gemm_Slow");
  std::filesystem::current_path(before);
  EXPECT_TRUE(context().cache_filename({}).starts_with(path("relative")));
  EXPECT_EQ(context().cached({}).size(), 1U);
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow");
}

TEST_F(ContextTiersTest, WhatIsWrongWithFilesIsToldByWhoOpensThem) {
  write_csv("x,y\n");
  context().explain(gemm(1));
  EXPECT_EQ(warnings().size(), 1U);
}

TEST_F(ContextTiersTest, NothingIsSavedWhereNothingMayBe) {
  begin({{"READ_ONLY", "1"}});
  EXPECT_THROW(save(1, "Gemm_Slow"), std::runtime_error);
  EXPECT_THROW(context().clear_cache({}), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(path("cache")));
}

// --- The database ------------------------------------------------------------

TEST_F(ContextTiersTest, ADatabaseOutlivesLibrariesButNotItsKernels) {
  write_database(std::string("Validator,DEVICE,fake\n"
                             "Validator,TUNEDOPS_KERNELS,1\n"
                             "Validator,PT_VERSION,1.0\n") +
                 row(1, "Gemm_Slow"));
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow") << "another torch";
  device_.validators = {};
  device_.validators.add("DEVICE", "fake");
  device_.validators.add("TUNEDOPS_KERNELS", "2");
  begin();
  EXPECT_EQ(choice(gemm(1)), "Gemm_Fast") << "our kernels are others now";
  EXPECT_TRUE(warnings().empty()) << "the user did not write it";
  context().erase({}, gemm_op().definition.to_text(gemm(1)));
  const Explanation told = context().explain(gemm(1));
  EXPECT_EQ(told.tiers.at(3).refused,
            "it was measured with TUNEDOPS_KERNELS 1, and here is "
            "TUNEDOPS_KERNELS 2");
}

TEST_F(ContextTiersTest, ADatabaseIsOfItsDevice) {
  write_database("Validator,DEVICE,another\nValidator,TUNEDOPS_KERNELS,1\n" +
                 row(1, "Gemm_Slow"));
  write_database(row(2, "Gemm_Slow"), "of_nothing.csv");
  EXPECT_EQ(choice(gemm(1)), "Gemm_Fast");
  EXPECT_EQ(choice(gemm(2)), "Gemm_Fast");
}

TEST_F(ContextTiersTest, OfTwoFilesTheLastCounts) {
  write_database(kValidators + row(1, "Default") + row(2, "Gemm_Slow"));
  write_database(kValidators + row(1, "Gemm_Slow"), "b.csv");
  write_database("no rows here\n", "c.txt");
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow");
  EXPECT_EQ(choice(gemm(2)), "Gemm_Slow");
}

// Whoever installs a package for others may leave it writable for a group.
TEST_F(ContextTiersTest, ADatabaseMayBeAnybodys) {
  write_database(kValidators + row(1, "Gemm_Slow"));
  std::filesystem::permissions(path("databases/fake/a.csv"),
                               std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow");
}

TEST_F(ContextTiersTest, ThePackagesFolderIsADefault) {
  write_database(kValidators + row(1, "Gemm_Slow"));
  restart();
  add({.name = "Gemm_Slow", .ms = 2.0});
  context().set_packaged_databases(path("databases"));
  EXPECT_EQ(context().setting("DATABASE_DIR"), path("databases"));
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow");
  restart({{"DATABASE_DIR", ""}});
  context().set_packaged_databases(path("databases"));
  EXPECT_EQ(context().setting("DATABASE_DIR"), "");
}

TEST_F(ContextTiersTest, ABrokenDatabaseIsToldOf) {
  write_database(kValidators + std::string("Gemm\n") + row(1, "Gemm_Slow"));
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow");
  ASSERT_EQ(warnings().size(), 1);
  EXPECT_NE(warnings()[0].find("a.csv:3: "), std::string::npos);
}

// Defect (e) of a model of ours: a library's rows were looked up by the default
// device, and not by the operands'.
TEST_F(ContextTiersTest, EachDeviceHasItsOwnRows) {
  FakeDevice other;
  const Device gpu{DeviceType::kCuda, 1};
  other.tags[gpu] = "1";
  other.name = "Other GPU";
  other.validators = {};
  other.validators.add("DEVICE", "other");
  other.validators.add("TUNEDOPS_KERNELS", "1");
  write_database(kValidators + row(1, "Gemm_Slow"));
  std::filesystem::create_directories(path("databases/other_gpu"));
  GemmProblem there = from_key<GemmProblem>(gemm(1));
  there.header.device_type = gpu.type;
  there.header.device_index = gpu.index;
  there.header.threads = 0;
  const KeyText key = gemm_op().definition.to_text(to_key(there));
  write_text(path("databases/other_gpu/a.csv"),
             "Validator,DEVICE,other\nValidator,TUNEDOPS_KERNELS,1\n" + key.op +
                 ',' + key.params + ",Default\n");
  begin({{"TUNING", "0"}});
  context().register_backend(gpu.type, std::make_unique<FakeBackend>(other));
  EXPECT_EQ(choice(gemm(1)), "Gemm_Slow");
  const Explanation told = context().explain(to_key(there));
  EXPECT_EQ(told.decided_by + ": " + told.solution, "database: Default");
  EXPECT_NE(context().cache_filename({}), context().cache_filename(gpu));
}

// --- Explained ---------------------------------------------------------------

TEST_F(ContextTiersTest, ExplainsWhoDecides) {
  write_csv(row(1, "Gemm_Slow") + row(5, "Gemm_Unable"));
  save(2, "Gemm_Slow");
  write_database(kValidators + row(1, "Default") + row(3, "Gemm_Fast"));
  begin();
  EXPECT_EQ(explained(1), "results file: Gemm_Slow");
  EXPECT_EQ(explained(2), "personal cache: Gemm_Slow");
  EXPECT_EQ(explained(3), "database: Gemm_Fast");
  EXPECT_EQ(explained(4), "a miss: , the next call tunes it");
  EXPECT_EQ(explained(5), "results file: Default") << "that cannot be used";
  EXPECT_EQ(standard().runs(), 0);
  EXPECT_TRUE(warnings().empty()) << "they would be said twice";
  context().set_setting("TUNING", "0");
  EXPECT_EQ(explained(4), "a miss: Default, as ON_MISS says");
  context().set_setting("ON_MISS", "error");
  EXPECT_EQ(explained(4), "a miss: , an error, as ON_MISS says");
  begin({{"ENABLED", "0"}});
  EXPECT_EQ(context().explain(gemm(1)).decided_by, "nobody");
}

TEST_F(ContextTiersTest, ExplainsWhatEachTierWouldHaveSaid) {
  write_csv(row(1, "Gemm_Slow,2.5,5"));
  save(1, "Gemm_Unable");
  write_database(kValidators + row(1, "Default"));
  begin();
  const Explanation told = context().explain(gemm(1));
  ASSERT_EQ(told.tiers.size(), 4);
  EXPECT_EQ(told.tiers[0].tier, "overlay");
  EXPECT_EQ(told.tiers[0].solution, "");
  EXPECT_EQ(told.tiers[1].place, csv() + ":3");
  EXPECT_EQ(told.tiers[1].time_ms, 2.5);
  EXPECT_EQ(told.tiers[1].default_ms, 5);
  EXPECT_EQ(told.tiers[2].solution, "Gemm_Unable");
  EXPECT_NE(told.tiers[2].refused, "");
  EXPECT_EQ(told.tiers[3].solution, "Default");
  EXPECT_EQ(told.tiers[3].refused, "");
  std::map<std::string, std::string> kernels(told.kernels.begin(),
                                             told.kernels.end());
  EXPECT_EQ(kernels.at("Gemm_Fast"), "");
  EXPECT_NE(kernels.at("Gemm_Unable"), "");
}

TEST_F(ContextTiersTest, ExplainsOverlays) {
  write_csv(row(1, "Gemm_Slow"));
  ThreadState& thread = ThreadState::current();
  thread.overlay = context().forced_overlay("Gemm_Fast");
  EXPECT_EQ(explained(1), "overlay: Gemm_Fast");
  thread.overlay = context().forced_overlay("Gemm_Unable");
  EXPECT_EQ(explained(1), "overlay: Default");
  thread.overlay = context().replay_overlay({.on_miss = OnMiss::kError}, 0);
  EXPECT_EQ(explained(1), "results file: Gemm_Slow");
  EXPECT_EQ(explained(2), "a miss: , an error, as replay_only says");
}

}  // namespace
}  // namespace tunedops
