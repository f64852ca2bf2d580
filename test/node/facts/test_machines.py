"""What is read of captured machines of many kinds: test/fixtures/machines, each with where it was published."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.sysfs import cpu_list, pci_address
from flexrack_node.facts import gpus, infiniband, link_speed, nics, wiring
from machines import MACHINES, facts_of, grow, text_of


class MachinesTest(unittest.TestCase):
    def test_the_facts_of_each_machine_are_those_that_the_command_line_is_tested_with(self) -> None:
        self.assertGreater(len(MACHINES), 12)
        for name in MACHINES:
            with self.subTest(name):
                self.assertEqual(
                    json.loads(text_of(name, "facts.json") or ""),
                    facts_of(name),
                    "write it anew with: python3 test/node/machines.py",
                )

    def test_a_matrix_is_as_wide_as_it_has_names_and_the_same_from_both_sides(self) -> None:
        for name in MACHINES:
            wired = facts_of(name)["links"]
            with self.subTest(name):
                for at, row in enumerate(wired["matrix"]):
                    self.assertEqual(len(row), len(wired["devices"]))
                    self.assertEqual(row[at], "X")
                    self.assertEqual(row, [other[at] for other in wired["matrix"]])

    def test_gpus_behind_an_nvswitch_reach_each_other_alike_and_one_card_is_next_to_each(self) -> None:
        reported = wiring.parse_matrix(text_of("nvswitch-8x", "topo.txt"))
        self.assertEqual(
            {reported.cells[(f"GPU{a}", f"GPU{b}")] for a in range(8) for b in range(8) if a != b}, {"NV18"}
        )
        self.assertEqual(
            [[reported.cells[(f"GPU{gpu}", f"mlx5_{card}")] for card in range(8)].index("PIX") for gpu in range(8)],
            list(range(8)),
        )
        self.assertEqual(reported.affinity["GPU5"], {"cpus": "48-95,144-191", "numa_node": 1})

    def test_reads_a_header_that_names_cards_and_has_no_numa_column(self) -> None:
        reported = wiring.parse_matrix(text_of("switches-8x", "topo.txt"))
        self.assertEqual(
            [reported.cells[("GPU0", name)] for name in ("GPU1", "GPU2", "GPU4", "mlx5_0")],
            ["PIX", "PXB", "SYS", "SYS"],
        )
        self.assertEqual(reported.cells[("mlx5_0", "GPU7")], "PHB")
        self.assertEqual(reported.affinity["GPU4"], {"cpus": "14-27"})

    def test_an_affinity_that_is_not_told_is_left_out(self) -> None:
        self.assertEqual(
            wiring.parse_matrix(text_of("threadripper-2x", "topo.txt")).affinity,
            {"GPU0": {"cpus": "0-7,16-23"}, "GPU1": {"cpus": "8-15,24-31", "numa_node": 1}},
        )
        self.assertEqual(
            wiring.parse_matrix(text_of("nvlink-2x-container", "topo.txt")).affinity, {"GPU0": {}, "GPU1": {}}
        )
        self.assertEqual(wiring.parse_matrix(text_of("wsl-1x", "topo.txt")).names, ["GPU0"])

    def test_reads_through_underlines_indents_and_a_header_that_runs_together(self) -> None:
        plain = wiring.parse_matrix(text_of("pcie-8x", "topo.txt"))
        lines = text_of("pcie-8x", "topo.txt").splitlines()
        underlined = "\n".join(
            ["\t" + "\t".join(f"\x1b[4m{word}\x1b[0m" for word in lines[0].strip().split("\t")), *lines[1:]]
        )
        self.assertEqual(wiring.parse_matrix(underlined), plain)
        self.assertEqual(wiring.parse_matrix("\n".join("    " + line for line in lines)), plain)
        # A header of twelve cards, as published in github.com/vllm-project/vllm/issues/20862 (eight B200): NIC11CPU
        # Affinity.
        self.assertEqual(wiring.parse_matrix(text_of("pcie-8x", "topo.txt").replace("NIC1\tCPU", "NIC1CPU")), plain)

    def test_says_nothing_of_what_is_no_matrix(self) -> None:
        for text in (
            "",
            "Failed to initialize NVML: Driver/library version mismatch\n",
            "GPU0\n",
            "\tGPU0\tGPU1\nGPU0\t X \n",
        ):
            with self.subTest(text):
                self.assertEqual(wiring.parse_matrix(text).cells, {})

    def test_paths_in_sysfs_tell_what_nvidia_smi_tells_but_nvlink(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            grow(text_of("pcie-5x-mixed", "tree.txt"), root)
            found = [gpus.placed(root, row.gpu) for row in gpus.parse_query(text_of("pcie-5x-mixed", "gpus.csv"))]
            reported = wiring.links(found, [], [], 2, text_of("pcie-5x-mixed", "topo.txt"), root)
            alone = wiring.links(found, [], [], 2, None, root)
        self.assertEqual(alone["source"], "sysfs")
        self.assertEqual(alone["matrix"], reported["matrix"])
        self.assertEqual([gpu["pcie"]["width"] for gpu in found], [16, 8, 16, 16, 16])

    def test_devices_below_one_switch_are_nearer_than_those_below_two_of_a_socket(self) -> None:
        near, same, other = "0000:1b:00.0", "0000:1a:00.0", "0000:3e:00.0"
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            grow(text_of("vector-engines-8x", "tree.txt"), root)
            paths = [
                wiring.path_between(root, {"bus": near, "numa_node": 0}, {"bus": bus, "numa_node": 0}, 2)
                for bus in (same, other, "0000:99:00.0")
            ]
        self.assertEqual(paths, ["PIX", "NODE", None])

    def test_devices_below_several_switches_of_one_root_port(self) -> None:
        # The chipset of a desktop board, from `lspci -t` in github.com/noonghunna/club-3090/issues/741.
        up = "sys/devices/pci0000:00/0000:00:02.1/0000:03:00.0"
        deep = f"{up}/0000:04:08.0/0000:06:00.0"
        devices = {
            "0000:05:00.0": f"{up}/0000:04:00.0",
            "0000:0a:00.0": f"{deep}/0000:07:05.0",
            "0000:0b:00.0": f"{deep}/0000:07:06.0",
            "0000:01:00.0": "sys/devices/pci0000:00/0000:00:01.1",
        }
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for bus, above in devices.items():
                grow(f"{above}/{bus}/numa_node: -1\nsys/bus/pci/devices/{bus} -> ../../../{above[4:]}/{bus}", root)
            kinds = [
                wiring.path_between(root, {"bus": a}, {"bus": b}, 1)
                for a, b in (
                    ("0000:0a:00.0", "0000:0b:00.0"),
                    ("0000:05:00.0", "0000:0a:00.0"),
                    ("0000:01:00.0", "0000:05:00.0"),
                )
            ]
        self.assertEqual(kinds, ["PIX", "PXB", "PHB"])

    def test_memory_of_gpus_is_no_place_for_cpus(self) -> None:
        numa = facts_of("power9-gpu-memory")["numa"]
        self.assertEqual([node["node"] for node in numa if node["cpus"]], [0, 8])
        self.assertEqual(sum(node["memory"] == 15 * 1024**3 for node in numa), 6)

    def test_tells_bonds_and_vlans_from_cards(self) -> None:
        # As Documentation/networking/bonding.rst and DEVTYPE of the kernel's 8021q have them.
        with tempfile.TemporaryDirectory() as folder:
            grow(
                "sys/class/net/bond0/bonding/slaves: eth0 eth1\nsys/class/net/eth0.7/uevent: DEVTYPE=vlan\\nINTERFACE=eth0.7\nsys/class/net/wlp3s0/uevent: DEVTYPE=wlan\nsys/class/net/wlp3s0/device/",
                Path(folder),
            )
            kinds = {nic["name"]: (nic["kind"], nic.get("members")) for nic in nics.nics(Path(folder))}
        self.assertEqual(
            kinds, {"bond0": ("bond", ["eth0", "eth1"]), "eth0.7": ("vlan", None), "wlp3s0": ("wireless", None)}
        )

    def test_tells_roce_from_infiniband_and_a_slice_from_a_card(self) -> None:
        # mlx5_0 as ibstatus has it in github.com/NVIDIA/nccl/issues/1866; where the kernel keeps the rest is in
        # Documentation/ABI/stable/sysfs-class-infiniband.
        card, slice_ = (
            "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0",
            "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.2",
        )
        tree = f"""
sys/class/infiniband/mlx5_0 -> ../../../{card}/infiniband/mlx5_0
{card}/infiniband/mlx5_0/device -> ../..
{card}/infiniband/mlx5_0/ports/1/state: 4: ACTIVE
{card}/infiniband/mlx5_0/ports/1/phys_state: 5: LinkUp
{card}/infiniband/mlx5_0/ports/1/rate: 100 Gb/sec (4X EDR)
{card}/infiniband/mlx5_0/ports/1/link_layer: Ethernet
{card}/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0: ens1f0np0
{card}/numa_node: 1
sys/class/infiniband/mlx5_2 -> ../../../{slice_}/infiniband/mlx5_2
{slice_}/infiniband/mlx5_2/device -> ../..
{slice_}/infiniband/mlx5_2/ports/1/state: 1: DOWN
{slice_}/infiniband/mlx5_2/ports/1/rate: 2.5 Gb/sec (1X SDR)
{slice_}/physfn -> ../0000:01:00.0
"""
        with tempfile.TemporaryDirectory() as folder:
            grow(tree, Path(folder))
            ports = infiniband.infiniband_ports(Path(folder))
        self.assertEqual(
            ports,
            [
                {
                    "device": "mlx5_0",
                    "port": 1,
                    "state": "ACTIVE",
                    "physical": "LinkUp",
                    "rate": 100,
                    "width": "4X EDR",
                    "link": "Ethernet",
                    "netdev": "ens1f0np0",
                    "bus": "0000:01:00.0",
                    "numa_node": 1,
                },
                {
                    "device": "mlx5_2",
                    "port": 1,
                    "state": "DOWN",
                    "rate": 2.5,
                    "width": "1X SDR",
                    "bus": "0000:01:00.2",
                    "part_of": "0000:01:00.0",
                },
            ],
        )

    def test_knows_the_fastest_of_a_cards_modes(self) -> None:
        bits = {
            "1000baseT_Full": 5,
            "Autoneg": 6,
            "10000baseT_Full": 12,
            "25000baseCR_Full": 31,
            "100000baseCR4_Full": 38,
            "400000baseCR8_Full": 73,
            "FEC_LLRS": 74,
            "800000baseVR4_Full": 120,
        }
        speed = [
            link_speed.fastest_bit(sum(1 << bits[name] for name in names))
            for names in (
                [],
                ["Autoneg", "FEC_LLRS"],
                ["1000baseT_Full", "Autoneg"],
                ["10000baseT_Full", "25000baseCR_Full"],
                ["100000baseCR4_Full"],
                ["400000baseCR8_Full", "100000baseCR4_Full"],
                ["800000baseVR4_Full"],
            )
        ]
        self.assertEqual(speed, [None, None, 1000, 25_000, 100_000, 400_000, 800_000])
        self.assertIsNone(link_speed.fastest_mode("lo"))

    def test_reads_lists_of_cpus_and_addresses(self) -> None:
        self.assertEqual(cpu_list("0-2,8,10-11\n"), [0, 1, 2, 8, 10, 11])
        self.assertEqual(cpu_list(""), [])
        self.assertEqual(
            [pci_address(text) for text in ("00000000:3B:00.0", "0001:00:00.0", "10000:E1:00.0", "N/A")],
            ["0000:3b:00.0", "0001:00:00.0", "10000:e1:00.0", None],
        )


class NvidiaSmiTest(unittest.TestCase):
    """Programs that answer as nvidia-smi does, on the PATH."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        os.environ["PATH"] = f"{self.folder.name}:{before}"

    def answers(self, script: str) -> None:
        program = Path(self.folder.name, "nvidia-smi")
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def test_an_old_driver_is_asked_for_less(self) -> None:
        self.answers(
            'case "$1" in *mig.mode*) echo "Field \\"mig.mode.current\\" is not a valid field to query."; exit 2;; esac\necho "0, GPU-1, Tesla K80, 11441, 384.111, 00000000:05:00.0"'
        )
        self.assertEqual(
            gpus.gpus(),
            [
                {
                    "index": 0,
                    "uuid": "GPU-1",
                    "name": "Tesla K80",
                    "memory": 11441 * 1024**2,
                    "driver": "384.111",
                    "bus": "0000:05:00.0",
                    "free": None,
                }
            ],
        )

    def test_a_gpu_in_parts_names_them(self) -> None:
        # From github.com/DataDog/datadog-agent/pull/33120.
        self.answers("""if [ "$1" = -L ]; then cat <<END
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16)
  MIG 1g.10gb     Device  0: (UUID: MIG-feb88891-0321-5fef-9c87-d4af3b54259e)
  MIG 1g.10gb     Device  1: (UUID: MIG-a25704ba-3a06-5299-a795-fd7cf4d13973)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-5e375e7e-b41f-155b-dcdc-534524c356fc)
END
else echo "0, GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16, NVIDIA A100-SXM4-80GB, 81920, 535.216.01, 00000000:07:00.0, 80900, Default, Enabled"
echo "1, GPU-5e375e7e-b41f-155b-dcdc-534524c356fc, NVIDIA A100-SXM4-80GB, 81920, 535.216.01, 00000000:0F:00.0, 81038, Exclusive_Process, Disabled"; fi""")
        first, second = gpus.gpus()
        self.assertEqual([part["profile"] for part in first["mig"]], ["1g.10gb", "1g.10gb"])
        self.assertEqual(
            (second.get("mig"), second["compute_mode"], second["bus"]), (None, "Exclusive_Process", "0000:0f:00.0")
        )

    def test_memory_that_is_not_told_is_null(self) -> None:
        self.answers('echo "0, GPU-1, NVIDIA GB10, [N/A], 580.173.02, 0000000F:01:00.0, [N/A], Default, [N/A]"')
        self.assertEqual(
            [(gpu["memory"], gpu["free"], gpu["bus"]) for gpu in gpus.gpus()], [(None, None, "000f:01:00.0")]
        )

    def test_a_driver_that_fails_is_an_error_that_says_why_and_the_matrix_is_done_without(self) -> None:
        self.answers('echo "Failed to initialize NVML: Driver/library version mismatch"; exit 18')
        with self.assertRaisesRegex(RuntimeError, "nvidia-smi ended with 18: Failed to initialize NVML"):
            gpus.gpus()
        self.assertIsNone(wiring.ask_matrix())
