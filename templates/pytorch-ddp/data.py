"""Handwritten digits, 8x8 pixels, as they ship with scikit-learn: 1,797 images, nothing to download."""
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import TensorDataset


def load() -> tuple[TensorDataset, TensorDataset]:
    """Training and test set: images (N, 1, 8, 8) float32 in 0..1 and labels (N,) int64; the split is fixed."""
    digits = load_digits()
    images = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
    labels = torch.tensor(digits.target)
    train, test = train_test_split(range(len(labels)), test_size=0.2, random_state=0, stratify=digits.target)
    return TensorDataset(images[train], labels[train]), TensorDataset(images[test], labels[test])


if __name__ == "__main__":  # python data.py images > digits.npy; python data.py labels
    import io
    import json
    import sys

    import numpy

    images, labels = load()[1].tensors
    if sys.argv[1:] == ["labels"]:
        print(json.dumps(labels.tolist()))
    elif sys.argv[1:] == ["images"]:
        file = io.BytesIO()  # numpy cannot write straight into a pipe
        numpy.save(file, images.numpy())
        sys.stdout.buffer.write(file.getvalue())
    else:
        sys.exit("usage: python data.py images|labels   (the test set, on standard output)")
