"""Launchers that are packages of the environment: what they are started with, from the plan."""

import base64
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict

from flexrack_node.launchers import ray_processes, with_accelerate, with_deepspeed, with_ray
from flexrack_node.rank.launch import gang_argv, rank_argv, rank_environment, rendezvous_environment
from flexrack_node.rank.packaged import DEVICES, EVERY_DEVICE, PLAN, ray_scratch, ray_token, remove_ray_scratch

SECRET = "5ec2e7" * 8


def spec_of(launcher: str, index: int = 1, **more: Any) -> Dict[str, Any]:
    return {
        "run": "digits-1",
        "node": f"n{index}",
        "nodes": ["n0", "n1"],
        "index": index,
        "processes": 1 if launcher == "ray" else 2,
        "launcher": launcher,
        "address": f"192.0.2.{index + 10}",
        "gang": {"address": "192.0.2.10", "secret": SECRET},
        "python": "/env/bin/python",
        "command": ["train.py", "--lr", "1"],
        **more,
    }


def environment_of(spec: Dict[str, Any], port: int = 23000) -> Dict[str, str]:
    return rank_environment(spec, 1, port, Path("/run/outputs"), None)


class PlanTest(unittest.TestCase):
    def test_it_goes_by_environment_and_no_argv_says_where_ranks_meet(self) -> None:
        for launcher in ("accelerate", "deepspeed", "ray"):
            spec = spec_of(launcher)
            words = " ".join(gang_argv(spec, Path("/run/attempts/1"), None, 23000))
            for hidden in ("192.0.2.10", "23000", SECRET, ray_token(spec, 1)):
                self.assertNotIn(hidden, words, launcher)
            plan = json.loads(environment_of(spec)[PLAN])
            self.assertEqual((plan["nodes"], plan["index"], plan["address"], plan["port"]), (2, 1, "192.0.2.10", 23000))

    def test_torchrun_makes_its_folders_in_the_attempts_own(self) -> None:
        words = gang_argv(spec_of("torchrun"), Path("/run/attempts/1"), None, 23000)
        self.assertEqual(words[words.index("--log-dir") + 1], "/run/attempts/1/torchrun")

    def test_ranks_know_their_node_where_the_launcher_does_not_say_it(self) -> None:
        env = environment_of(spec_of("deepspeed"))
        self.assertEqual(
            {name: env[name] for name in ("LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "NODE_RANK")},
            {"LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "1", "GROUP_WORLD_SIZE": "2", "NODE_RANK": "1"},
        )
        self.assertNotIn("RANK", env)

    def test_torchruns_agent_in_accelerate_has_the_rendezvous_of_this_attempt(self) -> None:
        self.assertEqual(
            rendezvous_environment(spec_of("accelerate"), 23000, "r-1"),
            {"PET_RDZV_ID": "r-1", "PET_LOCAL_ADDR": "192.0.2.11"},
        )
        self.assertEqual(rendezvous_environment(spec_of("deepspeed"), 23000, "r-1"), {})

    def test_gpus_are_what_was_chosen_whatever_deepspeed_makes_of_them(self) -> None:
        placed = [{"gpus": ["GPU-a"], "cpus": "", "memory": []}, {"gpus": ["GPU-b"], "cpus": "", "memory": []}]
        self.assertEqual(environment_of(spec_of("deepspeed", placed=placed))[DEVICES], "GPU-a,GPU-b")
        before = os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        try:
            self.assertEqual(environment_of(spec_of("deepspeed"))[DEVICES], EVERY_DEVICE)
        finally:
            if before is not None:
                os.environ["CUDA_VISIBLE_DEVICES"] = before


class AccelerateTest(unittest.TestCase):
    PLACE = {"nodes": 2, "processes": 2, "index": 1, "address": "192.0.2.10", "port": 23000}

    def test_the_config_is_made_from_the_plan(self) -> None:
        config = with_accelerate.merged({}, self.PLACE)
        self.assertEqual(config["distributed_type"], "MULTI_GPU")
        expected = {
            "num_machines": 2,
            "num_processes": 4,
            "machine_rank": 1,
            "main_process_ip": "192.0.2.10",
            "main_process_port": 23000,
            "same_network": True,
            "rdzv_backend": "static",
        }
        self.assertEqual({name: config[name] for name in expected}, expected)

    def test_one_process_is_started_without_an_agent(self) -> None:
        for kind in ("NO", "MULTI_GPU"):
            self.assertEqual(
                with_accelerate.merged(
                    {"distributed_type": kind}, {**self.PLACE, "nodes": 1, "processes": 1, "index": 0}
                )["distributed_type"],
                "NO",
            )

    def test_what_the_project_says_stays_but_where_ranks_run(self) -> None:
        own = {
            "distributed_type": "FSDP",
            "mixed_precision": "bf16",
            "fsdp_config": {"fsdp_version": 2},
            "num_processes": 64,
            "machine_rank": 0,
            "main_process_ip": "10.0.0.1",
        }
        config = with_accelerate.merged(own, self.PLACE)
        self.assertEqual(
            (config["distributed_type"], config["mixed_precision"], config["fsdp_config"]),
            ("FSDP", "bf16", {"fsdp_version": 2}),
        )
        self.assertEqual(
            (config["num_processes"], config["machine_rank"], config["main_process_ip"]), (4, 1, "192.0.2.10")
        )

    def test_its_deepspeed_reaches_no_node_by_ssh(self) -> None:
        config = with_accelerate.merged(
            {
                "distributed_type": "DEEPSPEED",
                "deepspeed_config": {
                    "zero_stage": 2,
                    "deepspeed_hostfile": "hosts",
                    "deepspeed_multinode_launcher": "pdsh",
                },
            },
            self.PLACE,
        )
        self.assertEqual(
            config["deepspeed_config"],
            {"zero_stage": 2, "deepspeed_hostfile": None, "deepspeed_multinode_launcher": "standard"},
        )


class DeepspeedTest(unittest.TestCase):
    def test_the_world_is_that_of_the_plan(self) -> None:
        words = with_deepspeed.arguments_of(
            {"nodes": 2, "processes": 3, "index": 1, "address": "192.0.2.10", "port": 23000}
        )
        world = json.loads(base64.urlsafe_b64decode(words[0].partition("=")[2]))
        self.assertEqual(world, {"node-0": [0, 1, 2], "node-1": [0, 1, 2]})
        self.assertIn("--node_rank=1", words)


class RayTest(unittest.TestCase):
    PLACE = {
        "nodes": 2,
        "index": 0,
        "address": "192.0.2.10",
        "own": "192.0.2.10",
        "port": 23000,
        "cpus": 4,
        "gpus": None,
        "token": "t0k",
        "dashboard": "127.0.0.1",
        "python": "/env/bin/python",
        "scratch": "x",
    }

    def test_the_first_node_is_the_head_and_its_dashboard_is_on_loopback(self) -> None:
        words = with_ray.start_words(self.PLACE, [1, 2, 3, 4, 5], "/tmp/x")
        for word in (
            "--head",
            "--port=23000",
            "--dashboard-host=127.0.0.1",
            "--dashboard-port=4",
            "--node-ip-address=192.0.2.10",
            "--block",
            "--temp-dir=/tmp/x",
        ):
            self.assertIn(word, words)

    def test_the_others_join_it(self) -> None:
        words = with_ray.start_words(
            {**self.PLACE, "index": 1, "own": "192.0.2.11", "gpus": 2}, [1, 2, 3, 4, 5], "/tmp/x"
        )
        self.assertIn("--address=192.0.2.10:23000", words)
        self.assertIn("--num-gpus=2", words)
        self.assertNotIn("--head", words)

    def test_everybody_needs_the_runs_token_and_nobody_is_a_rank(self) -> None:
        env = with_ray.cluster_environment(
            self.PLACE, {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "x", "HOME": "/h", "MLFLOW_RUN_ID": "r"}
        )
        self.assertEqual(
            (env["RAY_AUTH_MODE"], env["RAY_AUTH_TOKEN"], env["RAY_ADDRESS"], env["MLFLOW_RUN_ID"]),
            ("token", "t0k", "192.0.2.10:23000", "r"),
        )
        self.assertFalse({"RANK", "WORLD_SIZE", "MASTER_ADDR"} & set(env))

    def test_its_own_processes_have_time_to_start_and_serve_nothing_that_asks_for_no_token(self) -> None:
        env = ray_processes.ray_environment({"RAY_agent_register_timeout_ms": "7", "HOME": "/h"})
        self.assertEqual(
            (env["RAY_agent_register_timeout_ms"], env["HOME"], env["RAY_enable_metrics_collection"]), ("7", "/h", "0")
        )
        self.assertGreater(int(env["RAY_raylet_start_wait_time_s"]), 100)
        self.assertGreater(int(env["RAY_NUM_REDIS_GET_RETRIES"]) * 2, 100)
        self.assertEqual({env["DASHBOARD_METRIC_PORT"], env["AUTOSCALER_METRIC_PORT"]}, {"-1"})
        self.assertFalse(
            [word for word in with_ray.start_words(self.PLACE, [1, 2, 3, 4], "/tmp/x") if "client" in word]
        )

    def test_the_token_is_of_this_attempt_alone(self) -> None:
        first = ray_token(spec_of("ray"), 1)
        self.assertEqual(first, ray_token(spec_of("ray", index=0), 1))
        self.assertNotEqual(first, ray_token(spec_of("ray"), 2))
        self.assertNotIn(SECRET, first)

    def test_its_folder_is_the_same_on_every_node_and_goes_with_the_attempt(self) -> None:
        folders = {json.loads(environment_of(spec_of("ray", index=index))[PLAN])["scratch"] for index in (0, 1)}
        self.assertEqual(folders, {str(ray_scratch(spec_of("ray"), 1))})
        folder = Path(with_ray.make_scratch(str(ray_scratch(spec_of("ray"), 1))))
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        remove_ray_scratch(spec_of("plain"), 1)
        self.assertTrue(folder.exists())
        remove_ray_scratch(spec_of("ray"), 1)
        self.assertFalse(folder.exists())

    def test_a_rank_is_a_node_of_the_cluster(self) -> None:
        spec = spec_of("ray")
        words = gang_argv(spec, Path("/run/attempts/1"), None, 23000)
        self.assertEqual(words[-len(rank_argv(spec)) :], rank_argv(spec))
        self.assertTrue(words[words.index("--") + 4].endswith("with_ray.py"), words)
        self.assertEqual(environment_of(spec)["RANK"], "1")

    def test_an_environment_without_ray_is_told_what_to_add(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder, "python")
            for found, expected in (
                ("", "add ray\\[default\\]"),
                ("2.51.1", "Ray 2.51.1 lets everybody in"),
                ("2.60.0", None),
            ):
                fake.write_text(f"#!/bin/sh\necho '{found}'\n")
                fake.chmod(0o700)
                fault = with_ray.check_ray(str(fake))
                self.assertRegex(fault, expected) if expected and fault else self.assertEqual(fault, expected)


if __name__ == "__main__":
    unittest.main()
