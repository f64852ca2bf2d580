"""A program that comes as machine code only, as PyTorch does: refused by the GPU in software, or accepted so that what it asks for can be counted."""
import subprocess
import tempfile
import unittest
from pathlib import Path

from cuda_programs import Build
from servers import run
from test_cuda_programs import sim_env

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
        subprocess.run([build.tools.nvcc, "-std=c++17", "-arch=compute_75", "-code=sm_75", "-c", work / "program.cu", "-o", work / "program.o"], check=True)
        subprocess.run(build.link([work / "program.o"], work, "static"), check=True)
        cls.program = work / "static"

    def said(self, **settings):
        code, out, err = run([self.program], sim_env(**settings), preload=True)
        self.assertEqual(code, 0, out + err[-2000:])
        return out.splitlines()

    def test_is_refused(self):
        self.assertEqual(self.said()[0], "cudaErrorNoKernelImageForDevice")

    def test_is_launched_and_computes_nothing_where_that_is_accepted(self):
        self.assertEqual(self.said(machine_code="accept"), ["cudaSuccess", "cudaSuccess", "cudaSuccess 75", "cudaSuccess 0"])
