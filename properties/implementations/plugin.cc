#include "properties/implementations/plugin.h"

#include <dlfcn.h>
#include <kvwitness/oracle.h>
#include <kvwitness/plugin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "properties/case/status.h"
#include "properties/sandbox/call_frame.h"
#include "properties/sandbox/frame_memory.h"
#include "properties/sandbox/host_implementation.h"
#include "properties/sandbox/worker.h"

namespace kvwitness::harness {
namespace {

constexpr std::size_t index_of(Operation operation) {
  return static_cast<std::size_t>(operation);
}

// The library in the worker process.
class PluginTarget final : public WorkerTarget {
 public:
  explicit PluginTarget(std::filesystem::path path) : path_(std::move(path)) {}

  std::expected<TargetDescription, std::string> start() override {
    library_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      return std::unexpected(std::string(dlerror()));
    }
    if (auto wrong = check_version()) {
      return std::unexpected(std::move(*wrong));
    }
    find(witness_indices_, "kvw_plugin_witness_indices");
    find(apply_, "kvw_plugin_apply");
    find(scatter_, "kvw_plugin_scatter");
    find(supports_, "kvw_plugin_supports");
    TargetDescription description;
    description.provides[index_of(Operation::kWitnesses)] = witness_indices_ != nullptr;
    description.provides[index_of(Operation::kApply)] = apply_ != nullptr;
    description.provides[index_of(Operation::kScatter)] = scatter_ != nullptr;
    if (std::ranges::none_of(description.provides, std::identity{})) {
      return std::unexpected(
          std::string("it exports no operation: one of kvw_plugin_witness_indices, kvw_plugin_apply and "
                      "kvw_plugin_scatter at least"));
    }
    description.declines_shapes = supports_ != nullptr;
    decltype(&kvw_plugin_checks_arguments) checks_arguments = nullptr;
    find(checks_arguments, "kvw_plugin_checks_arguments");
    description.checks_arguments = checks_arguments != nullptr && checks_arguments() != 0;
    if (auto wrong = state_domain(description.domain)) {
      return std::unexpected("kvw_plugin_domain: " + std::move(*wrong));
    }
    name(description);
    return description;
  }

  bool supports(const CallShape& shape) override {
    return supports_ == nullptr || supports_(std::string(name_of(shape.operation)).c_str(), shape.rows, shape.topk,
                                             shape.row_stride, shape.num_segments, shape.base_offset_bytes) != 0;
  }

  CallAnswer call(const Call& call) override {
    switch (call.operation) {
      case Operation::kWitnesses:
        return {witness_indices_(call.learned, call.learned_len, call.topk, call.context_lens, call.rows,
                                 call.num_segments, call.out),
                ""};
      case Operation::kApply:
        return {apply_(call.learned, call.learned_len, call.topk, call.context_lens, call.rows, call.learned_keep,
                       call.num_segments, call.max_replacements, call.out),
                ""};
      case Operation::kScatter:
        break;
    }
    return {scatter_(call.out, call.row_stride, call.topk, call.context_lens, call.rows, call.num_segments), ""};
  }

 private:
  template <typename Function>
  void find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(library_, symbol));
  }

  std::optional<std::string> check_version() {
    decltype(&kvw_plugin_abi_version) version = nullptr;
    find(version, "kvw_plugin_abi_version");
    if (version == nullptr) {
      return "it does not export kvw_plugin_abi_version";
    }
    if (const std::int32_t number = version(); number != KVW_PLUGIN_ABI_VERSION) {
      return "kvw_plugin_abi_version is " + std::to_string(number) + "; this harness speaks version " +
             std::to_string(KVW_PLUGIN_ABI_VERSION);
    }
    return std::nullopt;
  }

  // What kvw_plugin_domain says, where it is there. The error says what of it is no domain.
  std::optional<std::string> state_domain(StatedDomain& stated) {
    static_assert(StatedDomain::kMostListed == KVW_PLUGIN_MOST_LISTED);
    constexpr std::uint32_t kEveryOperation = KVW_PLUGIN_WITNESSES | KVW_PLUGIN_APPLY | KVW_PLUGIN_SCATTER;
    constexpr std::uint32_t kEveryFlag = KVW_PLUGIN_CONTIGUOUS | KVW_PLUGIN_IN_RANGE;
    decltype(&kvw_plugin_domain) domain = nullptr;
    find(domain, "kvw_plugin_domain");
    if (domain == nullptr) {
      return std::nullopt;
    }
    kvw_plugin_domain_info said{.struct_size = sizeof(kvw_plugin_domain_info),
                                .operations = kEveryOperation,
                                .flags = 0,
                                .max_context = stated.max_context,
                                .max_rows = stated.max_rows,
                                .align_bytes = stated.align_bytes,
                                .topk = nullptr,
                                .topk_count = 0,
                                .num_segments = nullptr,
                                .num_segments_count = 0};
    if (const std::int32_t status = domain(&said); status != 0) {
      return "it returned " + std::to_string(status) + ", not 0";
    }
    if ((said.operations & kEveryOperation) == 0 || (said.operations & ~kEveryOperation) != 0) {
      return "operations is " + std::to_string(said.operations) +
             ", not a sum of KVW_PLUGIN_WITNESSES, _APPLY and _SCATTER";
    }
    if ((said.flags & ~kEveryFlag) != 0) {
      return "flags is " + std::to_string(said.flags) + ", not a sum of KVW_PLUGIN_CONTIGUOUS and KVW_PLUGIN_IN_RANGE";
    }
    if (said.max_context < 1 || said.max_context > stated.max_context) {
      return "max_context is " + std::to_string(said.max_context) + ", not 1 to " + std::to_string(stated.max_context);
    }
    if (said.max_rows < 1) {
      return "max_rows is " + std::to_string(said.max_rows) + ", not 1 or more";
    }
    const std::int64_t align = said.align_bytes;
    if (align < 4 || align > static_cast<std::int64_t>(FrameMemory::kAlignBytes) || (align & (align - 1)) != 0) {
      return "align_bytes is " + std::to_string(align) + ", not 4, 8, 16, 32 or 64";
    }
    if (auto wrong = read_list("topk", said.topk, said.topk_count, 0, stated.topk)) {
      return wrong;
    }
    if (auto wrong = read_list("num_segments", said.num_segments, said.num_segments_count, 0, stated.num_segments)) {
      return wrong;
    }
    stated.operations[index_of(Operation::kWitnesses)] = (said.operations & KVW_PLUGIN_WITNESSES) != 0;
    stated.operations[index_of(Operation::kApply)] = (said.operations & KVW_PLUGIN_APPLY) != 0;
    stated.operations[index_of(Operation::kScatter)] = (said.operations & KVW_PLUGIN_SCATTER) != 0;
    stated.contiguous = (said.flags & KVW_PLUGIN_CONTIGUOUS) != 0;
    stated.in_range = (said.flags & KVW_PLUGIN_IN_RANGE) != 0;
    stated.max_context = said.max_context;
    stated.max_rows = said.max_rows;
    stated.align_bytes = align;
    return std::nullopt;
  }

  static std::optional<std::string> read_list(const std::string& name, const std::int64_t* values, std::int64_t count,
                                              std::int64_t least, StatedDomain::List& list) {
    if (count < 0 || count > KVW_PLUGIN_MOST_LISTED) {
      return name + "_count is " + std::to_string(count) + ", not 0 to " + std::to_string(KVW_PLUGIN_MOST_LISTED);
    }
    if (values == nullptr && count != 0) {
      return name + " is null, and " + name + "_count is " + std::to_string(count);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if (values[i] < least) {
        return name + " holds " + std::to_string(values[i]) + ", which is below " + std::to_string(least);
      }
    }
    list.count = static_cast<std::size_t>(count);
    std::copy_n(values, count, list.values.begin());
    return std::nullopt;
  }

  // Its own name, else the stem of the file; what a terminal would not print becomes a question mark.
  void name(TargetDescription& description) {
    decltype(&kvw_plugin_name) own = nullptr;
    find(own, "kvw_plugin_name");
    const char* const said = own == nullptr ? nullptr : own();
    const std::string chosen = said == nullptr || *said == '\0' ? path_.stem().string() : std::string(said);
    const std::size_t length = std::min(chosen.size(), description.name.size() - 1);
    std::ranges::transform(std::string_view(chosen).substr(0, length), description.name.begin(),
                           [](char letter) { return letter >= ' ' && letter <= '~' ? letter : '?'; });
  }

  std::filesystem::path path_;
  void* library_ = nullptr;
  decltype(&kvw_plugin_witness_indices) witness_indices_ = nullptr;
  decltype(&kvw_plugin_apply) apply_ = nullptr;
  decltype(&kvw_plugin_scatter) scatter_ = nullptr;
  decltype(&kvw_plugin_supports) supports_ = nullptr;
};

// Whether the interface can say the call and the plug-in promises to answer it: it has the operation, a malformed call
// only where it checks arguments, and scatter, which takes no number of elements, only with as many as the shape says:
// none at a negative width.
bool may_be_called(const Implementation& plugin, const Case& value) {
  if (!plugin.provides(value.operation)) {
    return false;
  }
  if (plugin.checks_arguments()) {
    return value.operation != Operation::kScatter || fills_its_shape(value) ||
           (value.topk < 0 && value.learned.empty());
  }
  return is_plain_call(value, sees_stride(plugin, value));
}

Domain domain_of(const TargetDescription& description) {
  const StatedDomain& stated = description.domain;
  const auto values = [](const StatedDomain::List& list) {
    return std::vector<std::int64_t>(list.values.begin(),
                                     list.values.begin() + static_cast<std::ptrdiff_t>(list.count));
  };
  Domain domain = whole_domain();
  std::erase_if(domain.operations, [&](Operation operation) {
    return !description.provides[index_of(operation)] || !stated.operations[index_of(operation)];
  });
  domain.legal_only = !description.checks_arguments;
  domain.topk = values(stated.topk);
  domain.num_segments = values(stated.num_segments);
  domain.contiguous = stated.contiguous;
  domain.align_bytes = stated.align_bytes;
  domain.max_context = stated.max_context;
  domain.max_rows = stated.max_rows;
  domain.in_range = stated.in_range;
  return domain;
}

class PluginImplementation final : public Implementation {
 public:
  PluginImplementation(std::unique_ptr<Worker> worker, const TargetDescription& description)
      : worker_(std::move(worker)), description_(description), domain_(domain_of(description)) {}

  std::string name() const override { return description_.name.data(); }
  bool provides(Operation operation) const override { return description_.provides[index_of(operation)]; }
  Domain domain() const override { return domain_; }
  bool checks_arguments() const override { return description_.checks_arguments; }
  bool honours_stride(Operation operation) const override { return operation == Operation::kScatter; }
  bool supports(const Case& value) const override {
    return may_be_called(value) &&
           (!description_.declines_shapes || takes(call_shape_of(value, sees_stride(*this, value))));
  }
  bool restart() override {
    worker_->stop();
    shapes_.clear();  // a fresh process is asked afresh, as a replay asks it
    return true;
  }
  void hurry(bool hurries) override { worker_->hurry(hurries); }
  void end_at(std::optional<std::chrono::steady_clock::time_point> end) override { worker_->end_at(end); }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    return run_in_order(value, [&](const Case& call) {
      return may_be_called(call)
                 ? run_call(call, memory_context)
                 : Outcome::ended(Ending::kUnsupported, "the plug-in's interface or its promises exclude the call");
    });
  }

 private:
  // What the plug-in says of a shape. It is asked once, and keeps to its word: see run_call. One that died or hung
  // over a question is asked no more, and the run will show it.
  bool takes(const CallShape& shape) const {
    if (!answers_questions_) {
      return true;
    }
    constexpr std::size_t kMostShapes = std::size_t{1} << 16;
    const auto known = shapes_.find(shape);
    if (known != shapes_.end()) {
      return known->second;
    }
    if (shapes_.size() >= kMostShapes) {
      shapes_.clear();
    }
    const std::optional<bool> answer = worker_->supports(shape);
    answers_questions_ = answer.has_value();
    return answer ? shapes_.emplace(shape, *answer).first->second : true;
  }

  Outcome run_call(const Case& call, const MemoryContext& memory_context) {
    const bool strided = sees_stride(*this, call);
    if (description_.declines_shapes && !takes(call_shape_of(call, strided))) {
      return Outcome::ended(Ending::kUnsupported, "the plug-in does not take the shape");
    }
    Outcome outcome = worker_->run_call(call, strided, memory_context);
    if (outcome.ending == Ending::kUnsupported && answers_questions_ && !beyond_limits(call, strided)) {
      return Outcome::ended(Ending::kProtocolError, "kvw_plugin_supports declines the shape, which it took before");
    }
    return outcome;
  }

  bool may_be_called(const Case& value) const { return admits_stated(value) && harness::may_be_called(*this, value); }

  // What it has stated is about calls as it gets them: a stride that does not reach it is none.
  bool admits_stated(const Case& value) const {
    if (!value.row_stride || sees_stride(*this, value)) {
      return admits_call(domain_, value);
    }
    Case packed = call_only(value);
    packed.row_stride.reset();
    return admits_call(domain_, packed);
  }

  std::unique_ptr<Worker> worker_;
  TargetDescription description_;
  Domain domain_;
  mutable std::map<CallShape, bool> shapes_;
  mutable bool answers_questions_ = true;
};

class PluginInProcess final : public HostImplementation {
 public:
  PluginInProcess(std::unique_ptr<PluginTarget> target, const TargetDescription& description)
      : target_(std::move(target)), description_(description) {}

  std::string name() const override { return description_.name.data(); }
  bool provides(Operation operation) const override { return description_.provides[index_of(operation)]; }
  bool checks_arguments() const override { return description_.checks_arguments; }
  bool honours_stride(Operation operation) const override { return operation == Operation::kScatter; }
  bool supports(const Case& value) const override {
    return may_be_called(*this, value) && target_->supports(call_shape_of(value, sees_stride(*this, value)));
  }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    const bool can_be_run =
        supports(value) && std::ranges::all_of(value.prior_calls, [&](const Case& call) { return supports(call); });
    return can_be_run ? HostImplementation::run_in(value, memory_context)
                      : Outcome::ended(Ending::kUnsupported, "the plug-in does not take one of the calls");
  }
  Answer call(const Call& call) override { return target_->call(call); }

 private:
  std::unique_ptr<PluginTarget> target_;
  TargetDescription description_;
};

// The file's absolute path; an error where there is none.
std::expected<std::filesystem::path, std::string> existing_file(const std::string& path) {
  std::error_code error;
  std::filesystem::path file = std::filesystem::absolute(path, error);
  if (error || !std::filesystem::exists(file, error)) {
    return std::unexpected(std::string("there is no such file"));
  }
  return file;
}

}  // namespace

std::expected<std::unique_ptr<Implementation>, std::string> load_plugin(const std::string& path,
                                                                        const DeadlineLimits& limits) {
  auto file = existing_file(path);
  if (!file) {
    return std::unexpected(std::move(file.error()));
  }
  auto worker = std::make_unique<Worker>(std::make_unique<PluginTarget>(std::move(*file)), limits);
  const auto description = worker->start();
  if (!description) {
    return std::unexpected(description.error());
  }
  return std::make_unique<PluginImplementation>(std::move(worker), *description);
}

std::expected<std::unique_ptr<Implementation>, std::string> load_plugin_in_process(const std::string& path) {
  auto file = existing_file(path);
  if (!file) {
    return std::unexpected(std::move(file.error()));
  }
  auto target = std::make_unique<PluginTarget>(std::move(*file));
  const auto description = target->start();
  if (!description) {
    return std::unexpected(description.error());
  }
  return std::make_unique<PluginInProcess>(std::move(target), *description);
}

}  // namespace kvwitness::harness
