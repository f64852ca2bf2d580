"""Handwritten digits, 8x8 pixels, as they ship with scikit-learn: 1,797 images, nothing to download."""

import numpy
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def split() -> tuple[list[numpy.ndarray], list[numpy.ndarray]]:
    """Training and test set: images (N, 1, 8, 8) float32 in 0..1 and labels (N,) int64; the split is fixed."""
    digits = load_digits()
    images = (digits.images / 16.0).astype(numpy.float32)[:, None]
    train, test = train_test_split(range(len(images)), test_size=0.2, random_state=0, stratify=digits.target)
    return [images[train], digits.target[train]], [images[test], digits.target[test]]


def load():
    """The same as two TensorDatasets."""
    import torch  # here, as the commands below do without it
    from torch.utils.data import TensorDataset

    return tuple(TensorDataset(*map(torch.from_numpy, part)) for part in split())


if __name__ == "__main__":  # python data.py images > digits.npy; python data.py labels
    import io
    import json
    import sys

    images, labels = split()[1]
    if not sys.argv[1:] or set(sys.argv[1:]) - {"images", "labels"}:
        sys.exit(
            "usage: python data.py [labels] [images]   (the test set, on standard output, in the order of the words)"
        )
    for word in sys.argv[1:]:
        if word == "labels":
            sys.stdout.buffer.write(f"{json.dumps(labels.tolist())}\n".encode())
        else:
            file = io.BytesIO()  # numpy cannot write straight into a pipe
            numpy.save(file, images)
            sys.stdout.buffer.write(file.getvalue())
