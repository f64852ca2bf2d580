"""tinygrad on its OpenCL device learns scikit-learn's digits: prints the loss after every epoch, the accuracy and a
digest of the weights. Nothing is random: the same device gives the same text. Seconds go to stderr.
"""

import hashlib
import os
import sys
import time

os.environ.setdefault("DEV", "CL")
os.environ.setdefault("TRAINING", "1")
import numpy as np  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from tinygrad import Device, Tensor, TinyJit  # noqa: E402
from tinygrad.nn.optim import SGD  # noqa: E402

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
BATCH = 128


def main():
    print("device", Device.DEFAULT)
    data = load_digits()
    images, labels = (data.images.reshape(-1, 64) / 16).astype(np.float32), data.target.astype(np.int32)
    split = len(images) // BATCH * BATCH - 2 * BATCH
    generator = np.random.default_rng(0)
    layers = [
        Tensor((generator.standard_normal((a, b)) / a**0.5).astype(np.float32))
        for a, b in ((64, 128), (128, 64), (64, 10))
    ]
    optimizer = SGD(layers, lr=0.2)
    start = time.perf_counter()

    def forward(x):
        return x.matmul(layers[0]).relu().matmul(layers[1]).relu().matmul(layers[2])

    @TinyJit
    def step(x, y):
        optimizer.zero_grad()
        loss = forward(x).sparse_categorical_crossentropy(y)
        loss.backward()
        return loss.realize(*optimizer.schedule_step())

    for epoch in range(EPOCHS):
        total = 0.0
        for at in range(0, split, BATCH):
            loss = step(Tensor(images[at : at + BATCH]), Tensor(labels[at : at + BATCH]))
            total += loss.item()
        print(f"epoch {epoch} loss {total / (split // BATCH):.6f}")
    found = forward(Tensor(images[split:])).argmax(axis=1).numpy()
    print(f"accuracy {(found == labels[split:]).mean():.4f}")
    print("weights", hashlib.sha256(b"".join(layer.numpy().tobytes() for layer in layers)).hexdigest()[:16])
    print(f"seconds {time.perf_counter() - start:.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
