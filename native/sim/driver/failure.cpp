#include "sim/driver/failure.h"

#include <new>

#include "sim/driver/error_log.h"

namespace flexrack::sim {

void fail(CUresult result) { throw Failure{result, {}}; }
void fail(CUresult result, std::string text) { throw Failure{result, std::move(text)}; }

void require(bool holds, CUresult otherwise, const char* text) {
  if (!holds) fail(otherwise, text);
}

CUresult result_of_exception() noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    if (!failure.text.empty()) log_error(failure.text);
    return failure.result;
  } catch (const std::bad_alloc&) {
    log_error("the host has no memory left");
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    log_error(error.what());
    return CUDA_ERROR_UNKNOWN;
  } catch (...) { return CUDA_ERROR_UNKNOWN; }
}

}  // namespace flexrack::sim
