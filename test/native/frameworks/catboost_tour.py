"""CatBoost trains on the GPU; beside it the CPU's model of the same data."""
import numpy as np
from catboost import CatBoostClassifier
from stops import Tour

tour = Tour()
random = np.random.default_rng(0)
x = random.standard_normal((1000, 10)).astype(np.float32)
y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(np.int32)


def train(kind):
    model = CatBoostClassifier(iterations=10, depth=4, learning_rate=0.3, task_type=kind, devices="0" if kind == "GPU" else None, verbose=False, allow_writing_files=False,
                               random_seed=1, bootstrap_type="No", boosting_type="Plain", score_function="L2", border_count=32, gpu_ram_part=0.1 if kind == "GPU" else None)
    return model.fit(x, y)


gpu, cpu = train("GPU"), train("CPU")
tour.stop("losses", list(gpu.get_evals_result()["learn"].values())[0], list(cpu.get_evals_result()["learn"].values())[0], 0.02)
tour.stop("accuracy", gpu.score(x, y), cpu.score(x, y), 0.03)
tour.end()
