"""A program that comes as machine code only, as PyTorch does: refused by the GPU in software, or accepted so that what
it asks for can be counted.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from cuda_programs import Build
from servers import run
from test_cuda_programs import sim_env

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

# A kernel with external linkage and one without, as templates in unnamed namespaces are.
SOURCE = """
#include <cuda_runtime.h>
#include <cstdio>

__global__ void shared_by_all(int* out, int value) { *out = value; }
namespace {
template <class T> __global__ void of_this_file(T* out, T value, long long more) { *out = value + static_cast<T>(more); }
}

int main() {
  int* memory = nullptr;
  cudaMalloc(&memory, 4);
  cudaMemset(memory, 0, 4);
  shared_by_all<<<1, 1>>>(memory, 3);
  std::printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
  of_this_file<<<1, 1>>>(memory, 4, 5ll);
  std::printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
  cudaFuncAttributes facts{};
  const auto found = cudaFuncGetAttributes(&facts, of_this_file<int>);
  std::printf("%s %d\\n", cudaGetErrorName(found), facts.binaryVersion);
  int value = -1;
  const auto last = cudaMemcpy(&value, memory, 4, cudaMemcpyDefault);
  std::printf("%s %d\\n", cudaGetErrorName(last), value);
}
"""


class CudaMachineCode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="flexrack-machine-code-")
        cls.addClassCleanup(cls.folder.cleanup)
        work, build = Path(cls.folder.name), Build()
        (work / "program.cu").write_text(SOURCE)
        subprocess.run(
            [
                build.tools.nvcc,
                "-std=c++17",
                "-arch=compute_75",
                "-code=sm_75",
                "-c",
                work / "program.cu",
                "-o",
                work / "program.o",
            ],
            check=True,
        )
        subprocess.run(build.link([work / "program.o"], work, "static"), check=True)
        cls.program = work / "static"

    def said(self, env):
        """Lines of its output, and what went to stderr."""
        code, out, err = run([self.program], env, preload=True)
        self.assertEqual(code, 0, out + err[-2000:])
        return out.splitlines(), err

    def test_is_refused_and_said_so_once_by_name(self):
        lines, told = self.said(sim_env())
        self.assertEqual((lines[0], lines[1], lines[-1]), (*["cudaErrorNoKernelImageForDevice"] * 2, "cudaSuccess 0"))
        self.assertEqual(told.count("no PTX of"), 1, told)
        self.assertIn("shared_by_all(int*, int)", told)

    def test_fails_the_context_of_a_program_that_does_not_look_where_that_is_asked_for(self):
        self.assertEqual(self.said(sim_env(strict="1"))[0][-1], "cudaErrorLaunchFailure -1")

    def test_fails_the_context_of_an_attached_program(self):
        daemon = GpuDaemon("sim", env={"FLEXRACK_SIM_STRICT": "1"})
        self.addCleanup(daemon.stop)
        with GpuAttached([daemon], "shm") as attached:
            # Which error depends on what the worker did next.
            self.assertRegex(self.said(attached.env)[0][-1], r"^cudaError\w+ -1$")
        self.assertIn("shared_by_all(int*, int)", (daemon.root / "worker.log").read_text())

    def test_is_launched_and_computes_nothing_where_that_is_accepted(self):
        self.assertEqual(
            self.said(sim_env(machine_code="accept"))[0],
            ["cudaSuccess", "cudaSuccess", "cudaSuccess 75", "cudaSuccess 0"],
        )
