// What overlays say of a problem: of themselves, of those below them, and
// nothing once their results were given back. Which problems are noted, and
// whether something may be tuned, holds through all that lies above.

#include "tuning/overlays.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace tunedops {
namespace {

constexpr Device kCpu{DeviceType::kCpu, 0};
constexpr Device kFirstGpu{DeviceType::kCuda, 0};
constexpr Device kSecondGpu{DeviceType::kCuda, 1};

KeyText key(const std::string& params) { return {"Gemm", params}; }

OverlayResults results(const std::string& params, const std::string& solution,
                       std::set<Device> devices = {kCpu}) {
  return {{{key(params), solution}}, std::move(devices)};
}

std::string said(const Overlays& overlays, std::uint32_t overlay,
                 const std::string& params, Device device = kCpu) {
  bool is_forced = false;
  const std::string* const solution =
      overlays.find(overlay, device, key(params), &is_forced);
  return solution == nullptr ? "" : (is_forced ? "forced " : "") + *solution;
}

TEST(Overlays, SayWhatTheirResultsAre) {
  Overlays overlays;
  const auto overlay = overlays.lay(overlays.add(results("1", "A")), 0);
  EXPECT_EQ(said(overlays, overlay, "1"), "A");
  EXPECT_EQ(said(overlays, overlay, "2"), "");
  EXPECT_EQ(said(overlays, 0, "1"), "");
}

TEST(Overlays, LetThoseBelowSpeakOfWhatTheyDoNotKnow) {
  Overlays overlays;
  const auto outer = overlays.lay(overlays.add(results("1", "A")), 0);
  const auto inner = overlays.lay(overlays.add(results("2", "B")), outer);
  const auto innermost = overlays.lay(overlays.add(results("1", "C")), inner);
  EXPECT_EQ(said(overlays, innermost, "1"), "C");
  EXPECT_EQ(said(overlays, innermost, "2"), "B");
  EXPECT_EQ(said(overlays, inner, "1"), "A");
  const auto over_forced =
      overlays.lay(overlays.add(results("1", "D")), overlays.force("F", 0));
  EXPECT_EQ(said(overlays, over_forced, "1"), "D");
  EXPECT_EQ(said(overlays, over_forced, "2"), "forced F");
}

TEST(Overlays, AreOfTheirDevices) {
  Overlays overlays;
  const auto overlay =
      overlays.lay(overlays.add(results("1", "A", {kFirstGpu})), 0);
  EXPECT_EQ(said(overlays, overlay, "1", kFirstGpu), "A");
  EXPECT_EQ(said(overlays, overlay, "1", kSecondGpu), "");
  EXPECT_EQ(said(overlays, overlay, "1", kCpu), "");
}

TEST(Overlays, AreTheSameEachTime) {
  Overlays overlays;
  const auto a = overlays.add(results("1", "A"));
  EXPECT_EQ(overlays.lay(a, 0), overlays.lay(a, 0));
  EXPECT_NE(overlays.lay(a, 0), overlays.lay(a, overlays.lay(a, 0)));
  EXPECT_EQ(overlays.force("F", 0), overlays.force("F", 0));
}

TEST(Overlays, SayNothingOnceResultsAreGivenBack) {
  Overlays overlays;
  const auto a = overlays.add(results("1", "A"));
  const auto b = overlays.add(results("2", "B"));
  const auto outer = overlays.lay(a, 0);
  const auto inner = overlays.lay(b, outer);
  overlays.remove(a);
  EXPECT_EQ(said(overlays, outer, "1"), "");
  EXPECT_EQ(said(overlays, inner, "1"), "");
  EXPECT_EQ(said(overlays, inner, "2"), "") << "it lay on them";
  EXPECT_THROW(overlays.lay(a, 0), std::invalid_argument);
  const auto again = overlays.lay(overlays.add(results("1", "C")), 0);
  EXPECT_NE(again, outer) << "no number is used twice";
}

TEST(Overlays, ReplayThroughWhatLiesOnThem) {
  Overlays overlays;
  const auto replay = overlays.replay({.on_miss = OnMiss::kError}, 0);
  const auto laid = overlays.lay(overlays.add(results("1", "A")), replay);
  const auto forced = overlays.force("F", laid);
  for (const auto overlay : {replay, laid, forced}) {
    ASSERT_NE(overlays.replayed(overlay), nullptr);
    EXPECT_EQ(overlays.replayed(overlay)->on_miss, OnMiss::kError);
  }
  EXPECT_EQ(said(overlays, laid, "1"), "A");
  EXPECT_EQ(said(overlays, replay, "1"), "") << "it chooses nothing";
  EXPECT_EQ(overlays.replayed(overlays.force("F", 0)), nullptr);
  const auto inner = overlays.replay({.on_miss = std::nullopt}, forced);
  EXPECT_EQ(overlays.replayed(inner)->on_miss, std::nullopt);
  EXPECT_EQ(overlays.replay({.on_miss = OnMiss::kError}, 0), replay);
}

ProblemKey problem(std::uint64_t number) {
  ProblemKey key;
  key.words[1] = number;
  return key;
}

TEST(Overlays, NoteEachProblemOnceInItsOrder) {
  Overlays overlays;
  const auto record = overlays.record(0);
  const auto forced = overlays.force("F", record);
  EXPECT_TRUE(overlays.note(record, problem(2)));
  EXPECT_TRUE(overlays.note(forced, problem(1)));
  EXPECT_TRUE(overlays.note(record, problem(2)));
  EXPECT_FALSE(overlays.note(overlays.force("F", 0), problem(3)));
  EXPECT_EQ(overlays.end_record(record),
            (std::vector<ProblemKey>{problem(2), problem(1)}));
  EXPECT_FALSE(overlays.note(forced, problem(1))) << "it is gone";
  EXPECT_THROW(overlays.end_record(record), std::invalid_argument);
  EXPECT_NE(overlays.record(0), record);
}

TEST(Overlays, InnerRecordsAreOfTheInner) {
  Overlays overlays;
  const auto outer = overlays.record(0);
  const auto inner = overlays.record(outer);
  overlays.note(inner, problem(1));
  overlays.note(outer, problem(2));
  EXPECT_EQ(overlays.end_record(inner), std::vector<ProblemKey>{problem(1)});
  EXPECT_EQ(overlays.end_record(outer), std::vector<ProblemKey>{problem(2)});
}

}  // namespace
}  // namespace tunedops
