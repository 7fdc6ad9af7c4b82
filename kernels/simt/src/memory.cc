#include "kernels/simt/src/memory.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <kvwitness/simt.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "kernels/simt/src/sanitizers.h"

namespace kvwitness::simt::detail {
namespace {

constexpr std::byte kCanary{0xC9};

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

// The C library's memset and memcpy are intercepted by the sanitizers, which would take the executor's writes for the
// kernel's.
void fill(std::byte* begin, std::size_t bytes, std::byte value) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) {
    const_cast<volatile std::byte*>(begin)[i] = value;
  }
}

void poison_memory(std::byte* begin, std::size_t bytes, std::uint64_t pattern) noexcept {
  const std::size_t until_aligned = (8 - reinterpret_cast<std::uintptr_t>(begin) % 8) % 8;
  std::size_t i = until_aligned < bytes ? until_aligned : bytes;
  fill(begin, i, static_cast<std::byte>(pattern));
  for (; i + 8 <= bytes; i += 8) {
    *reinterpret_cast<volatile std::uint64_t*>(begin + i) = pattern;
  }
  fill(begin + i, bytes - i, static_cast<std::byte>(pattern));
}

bool all_canaries(const std::byte* begin, const std::byte* end) noexcept {
  unsigned changed = 0;  // without a branch, so that the loop is a vector loop: it runs after each block
  for (const std::byte* at = begin; at != end; ++at) {
    changed |= std::to_integer<unsigned>(*at ^ kCanary);
  }
  return changed == 0;
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, std::size_t alignment, std::size_t offset) : bytes_(bytes) {
  const std::size_t page = page_bytes();
  offset %= alignment;
  // data + bytes is as close to the end as the alignment permits: the tail is shorter than the alignment.
  const std::size_t tail = (alignment - (offset + bytes) % alignment) % alignment;
  const std::size_t inner = round_up(bytes + tail + offset + 1, page);  // one byte at least lies before the data
  mapping_bytes_ = inner + 2 * page;
  void* const mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    throw std::bad_alloc();
  }
  mapping_ = static_cast<std::byte*>(mapping);
  if (mprotect(mapping_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, mapping_bytes_);
    throw std::bad_alloc();
  }
  std::byte* const end = mapping_ + page + inner;
  data_ = end - tail - bytes;
  restore_surroundings();
  asan_poison(mapping_, static_cast<std::size_t>(data_ - mapping_));
  asan_poison(data_ + bytes, tail + page);
}

GuardedMemory::GuardedMemory(std::size_t rows, std::size_t row_bytes) : rows_(rows), row_bytes_(row_bytes) {
  const std::size_t page = page_bytes();
  const std::size_t inner = round_up(row_bytes, page);
  pitch_bytes_ = inner + page;
  mapping_bytes_ = page + rows * pitch_bytes_;
  void* const mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    throw std::bad_alloc();
  }
  mapping_ = static_cast<std::byte*>(mapping);
  data_ = mapping_ + page + inner - row_bytes;
  bytes_ = rows == 0 ? 0 : (rows - 1) * pitch_bytes_ + row_bytes;
  for (std::size_t row = 0; row < rows; ++row) {
    if (mprotect(mapping_ + page + row * pitch_bytes_, inner, PROT_READ | PROT_WRITE) != 0) {
      munmap(mapping_, mapping_bytes_);
      throw std::bad_alloc();
    }
  }
  restore_surroundings();
  asan_poison(mapping_, mapping_bytes_);
  for (std::size_t row = 0; row < rows; ++row) {
    asan_unpoison(data_ + row * pitch_bytes_, row_bytes);
  }
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept {
  *this = std::move(other);
}

GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(rows_, other.rows_);
  std::swap(row_bytes_, other.row_bytes_);
  std::swap(pitch_bytes_, other.pitch_bytes_);
  return *this;
}

GuardedMemory::~GuardedMemory() {
  if (mapping_ != nullptr) {
    asan_unpoison(mapping_, mapping_bytes_);
    munmap(mapping_, mapping_bytes_);
  }
}

bool GuardedMemory::surrounds(const void* address) const noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  return at >= mapping_ && at < mapping_ + mapping_bytes_;
}

std::optional<std::ptrdiff_t> GuardedMemory::first_changed_byte() const noexcept {
  for (std::size_t row = 0; row < rows_; ++row) {
    const std::byte* const end = data_ + row * pitch_bytes_;
    for (const std::byte* at = end + row_bytes_ - (pitch_bytes_ - page_bytes()); at != end; ++at) {
      if (*at != kCanary) {
        return at - data_;
      }
    }
  }
  if (rows_ != 0) {
    return std::nullopt;
  }
  const std::byte* const begin = mapping_ + page_bytes();
  const std::byte* const end = mapping_ + mapping_bytes_ - page_bytes();
  if (all_canaries(begin, data_) && all_canaries(data_ + bytes_, end)) {
    return std::nullopt;
  }
  for (const std::byte* at = begin; at != end; ++at) {
    if ((at < data_ || at >= data_ + bytes_) && *at != kCanary) {
      return at - data_;
    }
  }
  return std::nullopt;
}

void GuardedMemory::restore_surroundings() noexcept {
  if (pitch_bytes_ != 0) {
    const std::size_t before = pitch_bytes_ - page_bytes() - row_bytes_;
    for (std::size_t row = 0; row < rows_; ++row) {
      fill(data_ + row * pitch_bytes_ - before, before, kCanary);
    }
    return;
  }
  std::byte* const begin = mapping_ + page_bytes();
  std::byte* const end = mapping_ + mapping_bytes_ - page_bytes();
  fill(begin, static_cast<std::size_t>(data_ - begin), kCanary);
  fill(data_ + bytes_, static_cast<std::size_t>(end - data_) - bytes_, kCanary);
}

// ---- Global buffers ----------------------------------------------------------------------------------------------------------------

namespace {

struct GlobalAllocation {
  GuardedMemory memory;
  GlobalAllocation* previous = nullptr;
  GlobalAllocation* next = nullptr;
};

struct GlobalAllocations {
  std::mutex mutex;
  GlobalAllocation* first = nullptr;
};

GlobalAllocations& allocations() noexcept {
  static GlobalAllocations all;
  return all;
}

GlobalAllocation* find_allocation(const void* data) noexcept {
  for (GlobalAllocation* at = allocations().first; at != nullptr; at = at->next) {
    if (at->memory.data() == data) {
      return at;
    }
  }
  return nullptr;
}

}  // namespace

namespace {

Random global_poison(in_order);

void* add_allocation(GuardedMemory&& memory) {
  auto* const allocation = new GlobalAllocation{std::move(memory)};
  const std::lock_guard lock(allocations().mutex);
  allocation->next = allocations().first;
  if (allocation->next != nullptr) {
    allocation->next->previous = allocation;
  }
  allocations().first = allocation;
  return allocation->memory.data();
}

}  // namespace

std::uint64_t draw_poison(Random& random) noexcept {
  const std::uint64_t word = random.next();
  switch (random.below(4)) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0};
    default:
      return word | 0x0101010101010101u;
  }
}

void seed_global_poison(std::uint64_t schedule) noexcept {
  global_poison = Random(~schedule);
}

void* allocate_global(std::size_t bytes, std::size_t alignment, std::size_t offset) {
  void* const data = add_allocation(GuardedMemory(bytes, alignment, offset));
  poison_memory(static_cast<std::byte*>(data), bytes, draw_poison(global_poison));
  msan_poison(data, bytes);
  return data;
}

void* allocate_rows(std::size_t rows, std::size_t row_bytes, std::size_t* pitch_bytes) {
  GuardedMemory memory(rows, row_bytes);
  *pitch_bytes = memory.pitch_bytes();
  msan_unpoison(pitch_bytes, sizeof(*pitch_bytes));
  return add_allocation(std::move(memory));
}

void release_global(void* memory) noexcept {
  if (memory == nullptr) {
    return;
  }
  GlobalAllocation* allocation = nullptr;
  {
    const std::lock_guard lock(allocations().mutex);
    allocation = find_allocation(memory);
    (allocation->previous != nullptr ? allocation->previous->next : allocations().first) = allocation->next;
    if (allocation->next != nullptr) {
      allocation->next->previous = allocation->previous;
    }
  }
  delete allocation;
}

bool intact_global(const void* memory) noexcept {
  const std::lock_guard lock(allocations().mutex);
  const GlobalAllocation* const allocation = find_allocation(memory);
  return allocation == nullptr || !allocation->memory.first_changed_byte();
}

bool is_global(const void* memory) noexcept {
  const std::lock_guard lock(allocations().mutex);
  return find_allocation(memory) != nullptr;
}

std::optional<std::size_t> global_bytes_from(const void* address) noexcept {
  const std::lock_guard lock(allocations().mutex);
  for (const GlobalAllocation* at = allocations().first; at != nullptr; at = at->next) {
    if (at->memory.surrounds(address)) {
      const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - at->memory.data());
      return offset <= at->memory.size_bytes() ? at->memory.size_bytes() - offset : 0;
    }
  }
  return std::nullopt;
}

std::string describe_global(const void* address) {
  const std::lock_guard lock(allocations().mutex);
  for (const GlobalAllocation* at = allocations().first; at != nullptr; at = at->next) {
    if (at->memory.surrounds(address) && at->memory.rows() != 0) {
      const auto offset = static_cast<const std::byte*>(address) - at->memory.data();
      const auto pitch = static_cast<std::ptrdiff_t>(at->memory.pitch_bytes());
      const std::ptrdiff_t row = offset < 0 ? 0 : offset / pitch;
      return "byte offset " + std::to_string(offset - row * pitch) + " of row " + std::to_string(row) + " of " +
             std::to_string(at->memory.row_bytes()) + " bytes";
    }
    if (at->memory.surrounds(address)) {
      return "byte offset " + std::to_string(static_cast<const std::byte*>(address) - at->memory.data()) +
             " of a global buffer of " + std::to_string(at->memory.size_bytes()) + " bytes";
    }
  }
  return {};
}

std::string describe_changed_global() {
  const std::lock_guard lock(allocations().mutex);
  for (GlobalAllocation* at = allocations().first; at != nullptr; at = at->next) {
    if (const std::optional<std::ptrdiff_t> offset = at->memory.first_changed_byte()) {
      at->memory.restore_surroundings();
      return "byte offset " + std::to_string(*offset) + " of a global buffer of " +
             std::to_string(at->memory.size_bytes()) + " bytes was written";
    }
  }
  return {};
}

// ---- Shared memory -----------------------------------------------------------------------------------------------------------------

namespace {

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);

bool read_at(int file, void* into, std::size_t bytes, std::uint64_t offset) noexcept {
  return pread(file, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

bool holds_shared_variables(const char* section_name) noexcept {
  const auto starts_with = [section_name](const char* prefix) {
    return std::strncmp(section_name, prefix, std::strlen(prefix)) == 0;
  };
  return starts_with(".kvwitness_shared") || starts_with(".noinit");
}

// The `__shared__` variables of one function: their names are its own, mangled, with E and their name behind it.
struct FunctionUse {
  std::string function;
  std::size_t bytes = 0;
  std::uintptr_t address = 0;  // of the function
};

std::string function_of(const std::string& variable) {
  std::size_t end = variable.rfind('E');
  while (end != std::string::npos && end != 0 && (variable[end + 1] < '0' || variable[end + 1] > '9')) {
    end = variable.rfind('E', end - 1);
  }
  return variable.rfind("_ZZ", 0) == 0 && end != std::string::npos ? "_Z" + variable.substr(3, end - 3) : std::string();
}

// Programs without a symbol table have no uses.
void append_uses_of(int file, std::uintptr_t base, const std::vector<Section>& sections,
                    const std::vector<bool>& is_shared, std::vector<FunctionUse>& uses) {
  for (const Section& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) {
      continue;
    }
    std::vector<ElfW(Sym)> symbols(section.sh_size / sizeof(ElfW(Sym)));
    std::vector<char> names(sections[section.sh_link].sh_size + 1);
    if (!read_at(file, symbols.data(), symbols.size() * sizeof(ElfW(Sym)), section.sh_offset) ||
        !read_at(file, names.data(), names.size() - 1, sections[section.sh_link].sh_offset)) {
      return;
    }
    for (const ElfW(Sym) & symbol : symbols) {
      if (symbol.st_shndx >= is_shared.size() || !is_shared[symbol.st_shndx] || symbol.st_name >= names.size()) {
        continue;
      }
      const std::string function = function_of(&names[symbol.st_name]);
      const auto use =
          std::find_if(uses.begin(), uses.end(), [&](const FunctionUse& other) { return other.function == function; });
      if (!function.empty() && use == uses.end()) {
        uses.push_back({function, symbol.st_size, 0});
      } else if (!function.empty()) {
        use->bytes += symbol.st_size;
      }
    }
    for (const ElfW(Sym) & symbol : symbols) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names.size()) {
        continue;
      }
      for (FunctionUse& use : uses) {
        if (use.address == 0 && use.function == &names[symbol.st_name]) {
          use.address = base + symbol.st_value;
        }
      }
    }
  }
}

void append_ranges_of(const char* path, std::uintptr_t base, std::vector<SharedRange>& ranges,
                      std::vector<FunctionUse>& uses) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return;  // the kernel's own object has no file, and no variables
  }
  Header header;
  std::vector<Section> sections;
  std::vector<char> names;
  bool readable = read_at(file, &header, sizeof(header), 0) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                  header.e_shentsize == sizeof(Section) && header.e_shstrndx < header.e_shnum;
  if (readable) {
    sections.resize(header.e_shnum);
    readable = read_at(file, sections.data(), sections.size() * sizeof(Section), header.e_shoff);
  }
  if (readable) {
    names.resize(sections[header.e_shstrndx].sh_size + 1);
    readable = read_at(file, names.data(), names.size() - 1, sections[header.e_shstrndx].sh_offset);
  }
  std::vector<bool> is_shared;
  for (const Section& section : sections) {
    is_shared.push_back(readable && section.sh_name < names.size() && holds_shared_variables(&names[section.sh_name]));
  }
  if (readable && std::find(is_shared.begin(), is_shared.end(), true) != is_shared.end()) {
    append_uses_of(file, base, sections, is_shared, uses);
  }
  close(file);
  for (const Section& section : sections) {
    if (readable && section.sh_size != 0 && section.sh_name < names.size() &&
        holds_shared_variables(&names[section.sh_name])) {
      ranges.push_back(
          {reinterpret_cast<std::byte*>(base + section.sh_addr), static_cast<std::size_t>(section.sh_size)});
    }
  }
}

struct LoadedObjects {
  bool scanned = false;
  unsigned long long loads = 0;
  std::vector<SharedRange> ranges;
  std::vector<FunctionUse> uses;
};

LoadedObjects loaded_objects;

int visit_object(dl_phdr_info* info, std::size_t, void* context) {
  auto& objects = *static_cast<LoadedObjects*>(context);
  const bool is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
  append_ranges_of(is_program ? "/proc/self/exe" : info->dlpi_name, static_cast<std::uintptr_t>(info->dlpi_addr),
                   objects.ranges, objects.uses);
  return 0;
}

int visit_load_count(dl_phdr_info* info, std::size_t, void* count) {
  *static_cast<unsigned long long*>(count) = info->dlpi_adds + info->dlpi_subs;
  return 1;
}

}  // namespace

const std::vector<SharedRange>& static_shared_ranges() {
  LoadedObjects& objects = loaded_objects;
  unsigned long long loads = 0;
  dl_iterate_phdr(visit_load_count, &loads);
  if (!objects.scanned || loads != objects.loads) {
    objects.ranges.clear();
    objects.uses.clear();
    dl_iterate_phdr(visit_object, &objects);
    objects.loads = loads;
    objects.scanned = true;
  }
  return objects.ranges;
}

std::string describe_excess_static_shared(const void* kernel) {
  constexpr std::size_t kMostBytes = std::size_t{48} * 1024;
  static_shared_ranges();
  for (const FunctionUse& use : loaded_objects.uses) {
    if (use.address != 0 && use.address == reinterpret_cast<std::uintptr_t>(kernel) && use.bytes > kMostBytes &&
        !under_asan()) {  // with AddressSanitizer a variable's red zone is a part of it
      int status = 0;
      char* const name = abi::__cxa_demangle(use.function.c_str(), nullptr, nullptr, &status);
      const std::string function = name != nullptr ? name : use.function;
      std::free(name);
      return function + " has " + std::to_string(use.bytes) +
             " bytes of static shared memory, more than the 49152 that a block has";
    }
  }
  return {};
}

void poison_shared(std::byte* begin, std::size_t bytes, std::uint64_t pattern) noexcept {
  poison_memory(begin, bytes, pattern);
  tsan_forget(begin, bytes);
  msan_poison(begin, bytes);
}

}  // namespace kvwitness::simt::detail
