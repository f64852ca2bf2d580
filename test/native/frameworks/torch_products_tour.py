"""PyTorch as it is on a device newer than any card: cuBLAS and cuDNN have no machine code for that and take their PTX.
Its own kernels have none, and say so.
"""

import warnings

import torch
from stops import Tour

warnings.filterwarnings("ignore", message=".*capability.*|.*No published PyTorch.*|.*Found GPU0.*")
torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
tour = Tour()


def stop(name, function, *shapes):
    given = [torch.randn(shape) for shape in shapes]
    tour.stop(name, function(*[one.cuda() for one in given]).cpu().numpy(), function(*given).numpy(), 1e-5)


stop("a @ b", torch.matmul, (130, 70), (70, 90))
stop("a batch of products", torch.bmm, (3, 20, 30), (3, 30, 10))
stop("Linear", torch.nn.functional.linear, (40, 48), (20, 48), (20,))
stop("conv2d", torch.nn.functional.conv2d, (2, 3, 16, 16), (8, 3, 3, 3))
try:
    torch.ones(4, device="cuda").sum().item()
    said = "nothing"
except RuntimeError as error:
    said = str(error)
tour.says("kernels of its own are refused", "no kernel image" in said, said)
tour.end()
