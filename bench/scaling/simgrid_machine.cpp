// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <simgrid/s4u.hpp>
#include <simgrid/simix.hpp>
#include <string>
#include <utility>

#include "machine.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench::scaling {
namespace {

namespace s4u = simgrid::s4u;

/// SimGrid allows one engine per process.
s4u::Engine& engine() {
  static int argc = 2;
  static char name[] = "stepwell_scaling";
  static char quiet[] = "--log=xbt_cfg.thres:warning";
  static char* argv[] = {name, quiet, nullptr};
  static s4u::Engine* const instance = [] {
    auto* made = new s4u::Engine(&argc, argv);  // must live until the process ends
    // A message takes latency + bytes / bandwidth: no TCP windows, no acknowledgements.
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/TCP-gamma:0");
    s4u::Engine::set_config("network/crosstraffic:0");
    return made;
  }();
  return *instance;
}

/// Activities end in SimGrid's own context. They wake an actor, which SimGrid runs after all
/// activities of the same moment have ended; it starts the next activities.
class SimgridMachine : public Machine {
 public:
  SimgridMachine(const Platform& platform, int ranks, int streams)
      : platform_(platform), streams_(streams), ports_(static_cast<std::size_t>(ranks)) {
    static bool taken = false;
    if (std::exchange(taken, true)) {
      throw Error(ErrorCode::unsupported, "a process can have only one SimGrid run");
    }
    engine();
    auto* const zone = s4u::create_star_zone("machine");
    const int hosts = (ranks + platform.ranks_per_host - 1) / platform.ranks_per_host;
    for (int h = 0; h < hosts; ++h) hosts_.push_back(add_host(*zone, std::to_string(h)));
    zone->seal();
    s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
      ended(static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(activity.get_data<void>())));
    });
  }

  void work(int rank, double seconds, std::int64_t task) override {
    const s4u::ExecPtr exec = s4u::Exec::init();
    exec->set_flops_amount(seconds);
    exec->set_host(host(rank));
    start(exec, {true, task, {}});
  }

  void send(const Message& message) override {
    Port& port = ports_[static_cast<std::size_t>(message.from)];
    port.queue.push(message);
    touched_.push_back(message.from);
  }

  double run(Listener& listener) override {
    listener_ = &listener;
    const s4u::SemaphorePtr ended = s4u::Semaphore::create(0);
    ended_ = ended.get();
    s4u::Actor::create("settler", hosts_[0], [this] { settle(); });
    engine().run();
    return s4u::Engine::get_clock();
  }

 private:
  struct Port {
    Outbox queue;
    int in_flight = 0;
  };
  struct Slot {
    bool work = false;
    std::int64_t task = 0;
    Message message;
  };

  s4u::Host* add_host(s4u::NetZone& zone, const std::string& name) {
    s4u::Host* const made = zone.create_host("host" + name, 1.0);  // a flop is a second
    const int workers = platform_.workers * platform_.ranks_per_host;
    made->set_core_count(platform_.cores > 0 ? platform_.cores : workers);
    const auto link = [&](const std::string& kind, double latency) {
      s4u::Link* const l = zone.create_link(kind + name, platform_.bandwidth);
      l->set_latency(latency);
      l->seal();
      return l;
    };
    const s4u::LinkInRoute up(link("up", platform_.latency / 2));
    const s4u::LinkInRoute down(link("down", platform_.latency / 2));
    const s4u::LinkInRoute own(link("own", platform_.latency));
    made->seal();
    simgrid::kernel::routing::NetPoint* const point = made->get_netpoint();
    zone.add_route(point, nullptr, nullptr, nullptr, {up}, false);
    zone.add_route(nullptr, point, nullptr, nullptr, {down}, false);
    zone.add_route(point, point, nullptr, nullptr, {own}, false);
    return made;
  }

  s4u::Host* host(int rank) const {
    return hosts_[static_cast<std::size_t>(rank / platform_.ranks_per_host)];
  }

  void settle() {
    while (in_flight_ > 0) {
      woken_ = false;
      ended_->acquire();
      // In SimGrid's context, because the end of an actor's own activity is reported only to it.
      simgrid::kernel::actor::simcall_answered([this] {
        listener_->settled();
        for (const int rank : touched_) leave(ports_[static_cast<std::size_t>(rank)]);
        touched_.clear();
      });
    }
  }

  void leave(Port& port) {
    while (port.in_flight < streams_ && !port.queue.empty()) {
      const Message message = port.queue.pop();
      ++port.in_flight;
      const s4u::CommPtr comm = s4u::Comm::sendto_init(host(message.from), host(message.to));
      comm->set_payload_size(static_cast<std::uint64_t>(message.bytes));
      start(comm, {false, 0, message});
    }
  }

  template <class Ptr>
  void start(const Ptr& activity, const Slot& slot) {
    std::size_t at = slots_.size();
    if (free_.empty()) {
      slots_.push_back(slot);
      running_.emplace_back();
    } else {
      at = free_.back();
      free_.pop_back();
      slots_[at] = slot;
    }
    running_[at] = activity;
    ++in_flight_;
    activity->set_data(reinterpret_cast<void*>(at));
    activity->vetoable_start();
  }

  void ended(std::size_t at) {
    // The caller still uses the activity, so it is released when the next one ends.
    last_ = std::move(running_[at]);
    const Slot slot = slots_[at];
    free_.push_back(at);
    --in_flight_;
    if (!woken_) ended_->release();
    woken_ = true;
    if (slot.work) {
      listener_->worked(slot.task);
      return;
    }
    Port& port = ports_[static_cast<std::size_t>(slot.message.from)];
    --port.in_flight;
    touched_.push_back(slot.message.from);
    listener_->arrived(slot.message);
  }

  Platform platform_;
  int streams_;
  std::vector<Port> ports_;
  std::vector<s4u::Host*> hosts_;
  std::vector<Slot> slots_;
  std::vector<s4u::ActivityPtr> running_;
  std::vector<std::size_t> free_;
  s4u::ActivityPtr last_;
  std::vector<int> touched_;  ///< ranks whose next message may leave
  std::int64_t in_flight_ = 0;
  bool woken_ = false;
  s4u::Semaphore* ended_ = nullptr;
  Listener* listener_ = nullptr;
};

}  // namespace

std::unique_ptr<Machine> simgrid_machine(const Platform& platform, int ranks, int streams) {
  return std::make_unique<SimgridMachine>(platform, ranks, streams);
}

}  // namespace stepwell::bench::scaling
