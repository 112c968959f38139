#include "metering/meter.h"

namespace structag {

thread_local std::int64_t Meter::fail_countdown_ = -1;

}  // namespace structag
