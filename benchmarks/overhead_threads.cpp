// Times at::mm without Python: Python costs more than a lookup, and its threads
// take turns. The threads live as long as the process, since what a thread
// remembers of its calls is what is measured.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/mm.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// Meets the others at the start of a reading. It yields, as there may be more
// threads than processors.
class StartingLine {
 public:
  void expect(int threads) { missing_ = threads; }
  void wait() {
    --missing_;
    while (missing_ > 0) {
      std::this_thread::yield();
    }
  }

 private:
  std::atomic<int> missing_{0};
};

struct Task {
  int threads = 0;
  std::int64_t calls = 0;
  bool cycles = false;  // over all products, or the first one only
};

at::Tensor own_copy(const at::Tensor& tensor) {
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options())
      .copy_(tensor);
}

class Crew {
 public:
  Crew(std::vector<at::Tensor> left, std::vector<at::Tensor> right, int threads)
      : left_(std::move(left)), right_(std::move(right)), spans_(threads) {
    for (int place = 0; place < threads; ++place) {
      threads_.emplace_back([this, place] { work(place); });
    }
    const auto each = static_cast<std::int64_t>(left_.size());
    run({threads, each, true});  // nothing is new to a thread after this
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  int size() const { return static_cast<int>(threads_.size()); }

  /// Seconds from the first thread's first call to the last one's last.
  double run(const Task& task) {
    std::unique_lock lock(mutex_);
    task_ = task;
    busy_ = task.threads;
    line_.expect(task.threads);
    ++round_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return busy_ == 0; });
    if (error_) {
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
    Span all = spans_.front();
    for (int place = 0; place < task.threads; ++place) {
      all.begin = std::min(all.begin, spans_[place].begin);
      all.end = std::max(all.end, spans_[place].end);
    }
    return std::chrono::duration<double>(all.end - all.begin).count();
  }

 private:
  struct Span {
    Clock::time_point begin, end;
  };

  struct Worker {
    at::Tensor left, right;  // its own, so that threads share no tensor
    std::size_t next = 0;    // of all products
  };

  void work(int place) {
    const at::NoGradGuard no_grad;
    Worker worker{own_copy(left_.front()), own_copy(right_.front())};
    for (int round = 0;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        return over_ || (round_ != round && place < task_.threads);
      });
      if (over_) {
        return;
      }
      round = round_;
      const Task task = task_;
      lock.unlock();
      std::exception_ptr error;
      try {
        spans_[place] = time(task, worker);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      error_ = error ? error : error_;
      if (--busy_ == 0) {
        changed_.notify_all();
      }
    }
  }

  Span time(const Task& task, Worker& worker) {
    line_.wait();
    Span span{.begin = Clock::now(), .end = {}};
    for (std::int64_t call = 0; call < task.calls; ++call) {
      if (task.cycles) {
        at::mm(left_[worker.next], right_[worker.next]);
        worker.next = worker.next + 1 < left_.size() ? worker.next + 1 : 0;
      } else {
        at::mm(worker.left, worker.right);
      }
    }
    span.end = Clock::now();
    return span;
  }

  std::vector<at::Tensor> left_, right_;
  std::vector<Span> spans_;
  StartingLine line_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Task task_;
  int busy_ = 0;
  int round_ = 0;
  bool over_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

std::unique_ptr<Crew> crew;

void start(std::vector<at::Tensor> left, std::vector<at::Tensor> right,
           std::int64_t threads) {
  TORCH_CHECK(!left.empty() && left.size() == right.size() && threads > 0,
              "overhead: expected pairs of matrices and a number of threads");
  crew.reset();
  crew = std::make_unique<Crew>(std::move(left), std::move(right),
                                static_cast<int>(threads));
}

// Of so many calls on each of the threads.
double seconds(std::int64_t threads, std::int64_t calls, bool cycles) {
  TORCH_CHECK(crew != nullptr && threads > 0 && threads <= crew->size() &&
                  calls > 0,
              "overhead: nobody was started for ", threads, " threads");
  return crew->run({static_cast<int>(threads), calls, cycles});
}

}  // namespace

TORCH_LIBRARY(tunedops_overhead, m) {
  m.def("start", &start);
  m.def("seconds", &seconds);
}
