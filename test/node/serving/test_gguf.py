"""What llama.cpp's server reads of a model's file, and how much context it keeps (runtimes/llamacpp/gguf.py)."""

import importlib.util
import struct
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "runtimes" / "llamacpp" / "gguf.py"


def load():
    spec = importlib.util.spec_from_file_location("gguf", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gguf = load()
GIB = 1024**3
# https://huggingface.co/docs/transformers/model_doc/llama3: of 8 billion, 128 KiB a token
LARGE = {"context_length": 131072, "block_count": 32, "embedding_length": 4096}
LARGE.update({"attention.head_count": 32, "attention.head_count_kv": 8})


def text(value):
    return struct.pack("<Q", len(value)) + value


def fact(name, kind, value):
    return text(name) + struct.pack("<I", kind) + value


class Facts(unittest.TestCase):
    def read(self, content):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            return gguf.read_counts(file.name)

    def test_counts_are_found_behind_texts_lists_and_lists_of_lists(self):
        words = struct.pack("<IQ", 8, 2) + text(b"a") + text("é".encode())
        nested = struct.pack("<IQ", 9, 1) + struct.pack("<IQ", 0, 3) + b"abc"
        facts = [
            fact(b"general.architecture", 8, text(b"llama")),
            fact(b"tokenizer.ggml.tokens", 9, words),
            fact(b"llama.nested", 9, nested),
            fact(b"llama.rope.freq_base", 6, struct.pack("<f", 1e4)),
            fact(b"llama.context_length", 4, struct.pack("<I", 256)),
            fact(b"llama.attention.head_count", 10, struct.pack("<Q", 2)),
        ]
        head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(facts))
        self.assertEqual({"context_length": 256, "attention.head_count": 2}, self.read(head + b"".join(facts)))

    def test_another_file_says_nothing(self):
        self.assertEqual({}, self.read(b"PK\x03\x04"))


class Context(unittest.TestCase):
    def test_each_request_has_all_that_the_model_knows_where_memory_allows(self):
        self.assertEqual(4 * 8192, gguf.context_of({**LARGE, "context_length": 8192}, 4, 64 * GIB))

    def test_less_memory_less_context_but_never_less_than_one(self):
        small = {**LARGE, "context_length": 8192}
        self.assertEqual(2 * 8192, gguf.context_of(small, 4, 8 * GIB))
        self.assertEqual(0, gguf.context_of(small, 4, 4 * GIB))
        self.assertEqual(0, gguf.context_of(LARGE, 4, 512 * GIB))

    def test_widths_of_keys_and_values_count_where_they_are_said(self):
        wide = {**LARGE, "context_length": 8192, "attention.key_length": 256, "attention.value_length": 256}
        self.assertEqual(8192 * 2, gguf.context_of(wide, 4, 64 * GIB))

    def test_a_model_that_does_not_say_is_left_to_the_engine(self):
        for missing in LARGE:
            left = {name: count for name, count in LARGE.items() if name != missing}
            if missing != "attention.head_count_kv":
                self.assertEqual(
                    0, gguf.context_of({**left, "context_length": left.get("context_length", 0) // 64}, 4, GIB)
                )


if __name__ == "__main__":
    unittest.main()
