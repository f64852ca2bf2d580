"""CatBoost trains on the GPU what it trains on the CPU, tree after tree, where both are told to do the same: by
themselves they choose splits by other scores and numbers of borders.
"""

import numpy as np
from catboost import CatBoostClassifier, CatBoostRegressor
from stops import Tour

TREES = 4
tour = Tour()
random = np.random.default_rng(0)
x = random.standard_normal((200, 6)).astype(np.float32)
classes = (x[:, 0] * x[:, 1] + np.sin(x[:, 2]) > 0).astype(int)
SAME = {
    "iterations": TREES,
    "depth": 4,
    "learning_rate": 0.3,
    "l2_leaf_reg": 3,
    "border_count": 32,
    "score_function": "L2",
    "boosting_type": "Plain",
    "bootstrap_type": "No",
    "random_strength": 0,
    "boost_from_average": False,
    "random_seed": 1,
    "verbose": False,
    "allow_writing_files": False,
}
CLASSES = {"loss_function": "Logloss"}
for name, kind, target, told in (
    ("numbers", CatBoostRegressor, x[:, 0] ** 2 + x[:, 1], {"loss_function": "RMSE"}),
    (
        "classes, one step of Newton's",
        CatBoostClassifier,
        classes,
        {**CLASSES, "leaf_estimation_method": "Newton", "leaf_estimation_iterations": 1},
    ),
    (
        "classes, by the gradient",
        CatBoostClassifier,
        classes,
        {**CLASSES, "leaf_estimation_method": "Gradient", "leaf_estimation_iterations": 1},
    ),
    (
        "classes, five steps of Newton's",
        CatBoostClassifier,
        classes,
        {**CLASSES, "leaf_estimation_method": "Newton", "leaf_estimation_iterations": 5},
    ),
):
    gpu = kind(task_type="GPU", devices="0", **SAME, **told).fit(x, target)
    cpu = kind(task_type="CPU", **SAME, **told).fit(x, target)
    raw = {} if kind is CatBoostRegressor else {"prediction_type": "RawFormulaVal"}
    tour.says(f"{name} are trained on the GPU", gpu.get_all_params()["task_type"] == "GPU")
    for trees in range(1, TREES + 1):
        tour.stop(
            f"{name}, {trees} trees",
            gpu.predict(x, ntree_end=trees, **raw),
            cpu.predict(x, ntree_end=trees, **raw),
            1e-5,
        )
tour.end()
