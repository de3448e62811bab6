// The Python module `_kernels`: what Python may call, and nothing else. Its types for Python are in `../_kernels.pyi`.

#include <nanobind/nanobind.h>

namespace {

// One more whenever what Python calls changes; `kernels.py` takes no other than its own `VERSION`.
constexpr int kVersion = 1;

}  // namespace

NB_MODULE(_kernels, module) {
    module.def("version", [] { return kVersion; }, "Which calls this build answers.");
}
