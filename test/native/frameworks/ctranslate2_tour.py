"""CTranslate2 goes on writing with a transformer of chance weights: the same words on the GPU as on the CPU, with their
scores.
"""

import ctypes
import glob
import tempfile

import ctranslate2
import numpy as np
import nvidia.cublas
from ctranslate2.specs import transformer_spec
from stops import Tour

WIDTH, INNER, LAYERS, HEADS, LENGTH = 32, 64, 2, 4, 24
WORDS = ["<unk>", "<s>", "</s>", *[f"word{number}" for number in range(61)]]
random = np.random.default_rng(0)
tour = Tour()
# It opens cuBLAS by name, and where pip puts it no loader looks.
for name in ("libcublasLt.so.12", "libcublas.so.12"):
    ctypes.CDLL(glob.glob(f"{next(iter(nvidia.cublas.__path__))}/lib/{name}")[0], mode=ctypes.RTLD_GLOBAL)


def norm(spec):
    spec.gamma, spec.beta = 1 + floats(WIDTH), floats(WIDTH)


def linear(spec, rows, columns):
    spec.weight, spec.bias = floats(rows, columns), floats(rows)


def floats(*shape):
    return (random.standard_normal(shape) * 0.4).astype(np.float32)


def write_model(folder):
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(LAYERS, HEADS, pre_norm=True)
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = floats(len(WORDS), WIDTH) * 3
    decoder.position_encodings.encodings = floats(64, WIDTH)
    for layer in decoder.layer:
        norm(layer.self_attention.layer_norm)
        linear(layer.self_attention.linear[0], 3 * WIDTH, WIDTH)
        linear(layer.self_attention.linear[1], WIDTH, WIDTH)
        norm(layer.ffn.layer_norm)
        linear(layer.ffn.linear_0, INNER, WIDTH)
        linear(layer.ffn.linear_1, WIDTH, INNER)
    norm(decoder.layer_norm)
    linear(decoder.projection, len(WORDS), WIDTH)
    spec.register_vocabulary(WORDS)
    spec.validate()
    spec.save(folder)


def written(folder, device, prompts):
    generator = ctranslate2.Generator(folder, device=device, compute_type="float32")
    found = generator.generate_batch(
        prompts, max_length=LENGTH, sampling_topk=1, return_scores=True, include_prompt_in_result=False, end_token=[]
    )
    scores = generator.score_batch([[*prompt, *WORDS[10:14]] for prompt in prompts])
    return [one.sequences_ids[0] for one in found], [one.scores[0] for one in found], [one.log_probs for one in scores]


with tempfile.TemporaryDirectory() as folder:
    write_model(folder)
    prompts = [["<s>", "word5", "word7"], ["<s>", "word9"]]
    gpu, cpu = written(folder, "cuda", prompts), written(folder, "cpu", prompts)
    for number in range(len(prompts)):
        tour.same(f"words, prompt {number + 1}", gpu[0][number], cpu[0][number])
        tour.stop(f"score, prompt {number + 1}", gpu[1][number], cpu[1][number], 1e-4)
        tour.stop(f"probabilities, prompt {number + 1}", gpu[2][number], cpu[2][number], 1e-4)
    tour.says("not the same word all the time", len(set(cpu[0][0])) > 2, str(cpu[0][0]))
tour.end()
