#include "tuning/tuner.h"

#include "tuning/race.h"

namespace tunedops {

TuneOutcome Tuner::tune(const OpDefinition& op, const ProblemKey& problem,
                        std::vector<Candidate> candidates, Stream stream,
                        std::vector<KernelSpace> spaces) const {
  const auto scope = backend_.enter_tuning(problem.header().device(), stream);
  TuneOutcome outcome =
      Race(backend_, limits_, op, problem, std::move(candidates),
           std::move(spaces), scope->stream())
          .run();
  outcome.timing.date = utc_day(backend_.calendar_time());
  return outcome;
}

}  // namespace tunedops
