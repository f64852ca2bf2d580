"""llama.cpp as npm has it built for CUDA: greedy tokens of small models with random weights, halves and quantized,
beside those of its CPU. ggml's kernels carry PTX.

The models are made here, by llama.cpp's own writer of GGUF; node-llama-cpp (llama/package.json, with its lock) loads
them.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
import nvidia
from llama_modules import modules
from stops import Tour

WIDTH, HEADS, LAYERS, HIDDEN = 128, 4, 2, 256
SECONDS = 2500
KINDS = {
    "F16": gguf.GGMLQuantizationType.F16,
    "Q8_0": gguf.GGMLQuantizationType.Q8_0,
    "Q4_0": gguf.GGMLQuantizationType.Q4_0,
}
tour = Tour()


def words():
    """A vocabulary of bytes: (text, score, type) of each."""
    yield from (
        ("<unk>", 0.0, gguf.TokenType.UNKNOWN),
        ("<s>", 0.0, gguf.TokenType.CONTROL),
        ("</s>", 0.0, gguf.TokenType.CONTROL),
    )
    yield from ((f"<0x{byte:02X}>", 0.0, gguf.TokenType.BYTE) for byte in range(256))
    # Rows of quantized matrices are whole blocks.
    yield from ((f"word{number}", -float(number), gguf.TokenType.NORMAL) for number in range(29))


def write(path, kind, is_plain):
    """A model; `is_plain`: what its weights are after they were rounded to their kind, in single precision."""
    random = np.random.default_rng(1)
    vocabulary = list(words())
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(256)
    file.add_embedding_length(WIDTH)
    file.add_block_count(LAYERS)
    file.add_feed_forward_length(HIDDEN)
    file.add_head_count(HEADS)
    file.add_head_count_kv(HEADS // 2)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_dimension_count(WIDTH // HEADS)
    file.add_vocab_size(len(vocabulary))
    file.add_tokenizer_model("llama")
    file.add_token_list([text for text, _, _ in vocabulary])
    file.add_token_scores([score for _, score, _ in vocabulary])
    file.add_token_types([int(type_) for _, _, type_ in vocabulary])
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_unk_token_id(0)

    def matrix(name, rows, columns, value=None):
        value = (random.standard_normal((rows, columns)) / columns**0.5).astype(np.float32) if value is None else value
        rounded = gguf.quants.quantize(value, kind)
        if is_plain:
            file.add_tensor(name, gguf.quants.dequantize(rounded, kind).astype(np.float32))
        else:
            file.add_tensor(name, rounded, raw_dtype=kind)

    embedding = random.standard_normal((len(vocabulary), WIDTH)).astype(np.float32)
    matrix("token_embd.weight", len(vocabulary), WIDTH, embedding)
    file.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    # Each word has one that is likely to follow: rounding does not decide which is the likeliest.
    matrix(
        "output.weight",
        len(vocabulary),
        WIDTH,
        (0.15 * (embedding[random.permutation(len(vocabulary))] + random.standard_normal(embedding.shape))).astype(
            np.float32
        ),
    )
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            file.add_tensor(f"blk.{layer}.{name}.weight", (1 + random.standard_normal(WIDTH) * 0.1).astype(np.float32))
        for name, rows, columns in (
            ("attn_q", WIDTH, WIDTH),
            ("attn_k", WIDTH // 2, WIDTH),
            ("attn_v", WIDTH // 2, WIDTH),
            ("attn_output", WIDTH, WIDTH),
            ("ffn_gate", HIDDEN, WIDTH),
            ("ffn_up", HIDDEN, WIDTH),
            ("ffn_down", WIDTH, HIDDEN),
        ):
            matrix(f"blk.{layer}.{name}.weight", rows, columns)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def run(script, results, models):
    libraries = [str(one) for place in nvidia.__path__ for one in Path(place).glob("*/lib")]
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join([os.environ["LD_LIBRARY_PATH"], *libraries])}
    done = subprocess.run(
        ["node", str(script), results, *models], env=env, capture_output=True, text=True, timeout=SECONDS
    )
    if done.returncode != 0:
        sys.exit(f"node ended with {done.returncode}: {done.stdout[-1500:]} {done.stderr[-3000:]}")
    return json.loads(Path(results).read_text())


def furthest(some, others):
    return float(np.max(np.abs(np.asarray(some) - np.asarray(others))))


with tempfile.TemporaryDirectory() as folder:
    models = []
    for name, kind in KINDS.items():
        models += [f"{folder}/{name}.gguf", f"{folder}/{name}-plain.gguf"]
        write(models[-2], kind, False)
        write(models[-1], kind, True)
    for one in run(modules(Path(sys.prefix)) / "tour.mjs", f"{folder}/results", models):
        name = f"{Path(one['model']).stem}{', flash attention' if one['flashAttention'] else ''}"
        tour.says(
            f"{name}: all layers are on the GPU",
            one["gpu"]["layers"] == LAYERS + 1 and one["cpu"]["layers"] == 0,
            str(one),
        )
        tour.same(f"{name}: greedy tokens", one["gpu"]["tokens"], one["cpu"]["tokens"])
        # In halves the GPU sums in halves. Quantized, both round what goes through the layers to bytes, in their own
        # ways: neither may be much further from the exact than the other.
        off = furthest(one["cpu"]["probabilities"], one["exact"]["probabilities"])
        tour.stop(
            f"{name}: probabilities of all words",
            one["gpu"]["probabilities"],
            one["exact"]["probabilities"],
            2 * off + 5e-3,
        )
tour.end()
