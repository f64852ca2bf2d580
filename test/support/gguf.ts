/**
 * A tiny model of random weights as a GGUF file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), written
 * byte by byte, so that tests need no Python package to make one: a Llama of two layers that knows single bytes.
 * `pooled`: it is for embeddings, each the mean of those of its tokens.
 */
export function tinyGguf(seed = 1, {pooled = false} = {}): Buffer {
  const width = 32
  const inner = 64
  const tokens = ['<unk>', '<s>', '</s>', ...Array.from({length: 256}, (_, byte) => `<0x${hex(byte)}>`)]
  const random = randomFrom(seed)
  const tensors: Tensor[] = []
  const add = (name: string, shape: number[], value?: number): void => {
    const size = shape.reduce((product, one) => product * one, 1)
    tensors.push({name: `${name}.weight`, shape, data: Float32Array.from({length: size}, () => value ?? random())})
  }
  add('token_embd', [width, tokens.length])
  for (let layer = 0; layer < 2; layer++) {
    for (const part of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) add(`blk.${layer}.${part}`, [width, width])
    for (const part of ['attn_norm', 'ffn_norm']) add(`blk.${layer}.${part}`, [width], 1)
    for (const part of ['ffn_gate', 'ffn_up']) add(`blk.${layer}.${part}`, [width, inner])
    add(`blk.${layer}.ffn_down`, [inner, width])
  }
  add('output_norm', [width], 1)
  add('output', [width, tokens.length])
  return gguf(tensors, [
    fact('general.architecture', TEXT, text('llama')),
    fact('llama.context_length', U32, u32(256)),
    fact('llama.embedding_length', U32, u32(width)),
    fact('llama.block_count', U32, u32(2)),
    fact('llama.feed_forward_length', U32, u32(inner)),
    fact('llama.attention.head_count', U32, u32(2)),
    fact('llama.attention.layer_norm_rms_epsilon', F32, f32(1e-5)),
    ...(pooled ? [fact('llama.pooling_type', U32, u32(1))] : []),
    fact('tokenizer.ggml.model', TEXT, text('llama')),
    fact('tokenizer.ggml.tokens', LIST, list(TEXT, tokens.map(text))),
    fact(
      'tokenizer.ggml.scores',
      LIST,
      list(
        F32,
        tokens.map(() => f32(0)),
      ),
    ),
    // unknown, two control tokens, then bytes
    fact(
      'tokenizer.ggml.token_type',
      LIST,
      list(
        I32,
        tokens.map((_, at) => u32(at === 0 ? 2 : at < 3 ? 3 : 6)),
      ),
    ),
    // with a space before each text, the words that begin an answer were not what grammars expect
    fact('tokenizer.ggml.add_space_prefix', BOOL, Buffer.from([0])),
    fact('tokenizer.ggml.bos_token_id', U32, u32(1)),
    fact('tokenizer.ggml.eos_token_id', U32, u32(2)),
  ])
}

/** A LoRA adapter of rank 4 for it (https://github.com/ggml-org/llama.cpp, convert_lora_to_gguf.py). */
export function tinyLora(seed = 7): Buffer {
  const width = 32
  const random = randomFrom(seed)
  const tensors = [0, 1].flatMap((layer) =>
    ['attn_q', 'attn_v', 'attn_output'].flatMap((part) =>
      [['lora_a', [width, 4]] as const, ['lora_b', [4, width]] as const].map(([kind, shape]) => ({
        name: `blk.${layer}.${part}.weight.${kind}`,
        shape: [...shape],
        data: Float32Array.from({length: width * 4}, () => 8 * random()),
      })),
    ),
  )
  return gguf(tensors, [
    fact('general.architecture', TEXT, text('llama')),
    fact('general.type', TEXT, text('adapter')),
    fact('adapter.type', TEXT, text('lora')),
    fact('adapter.lora.alpha', F32, f32(8)),
  ])
}

interface Tensor {
  name: string
  shape: number[]
  data: Float32Array
}

function gguf(tensors: Tensor[], facts: Buffer[]): Buffer {
  const places: Buffer[] = []
  const contents: Buffer[] = []
  let at = 0
  for (const {name, shape, data} of tensors) {
    places.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(at))
    const bytes = padded(Buffer.from(data.buffer))
    contents.push(bytes)
    at += bytes.length
  }
  const head = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(facts.length), ...facts, ...places]
  return Buffer.concat([padded(Buffer.concat(head)), ...contents])
}

const U32 = 4
const I32 = 5
const F32 = 6
const BOOL = 7
const TEXT = 8
const LIST = 9

const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0')
const u32 = (value: number): Buffer => number(4, (buffer) => buffer.writeUInt32LE(value))
const u64 = (value: number): Buffer => number(8, (buffer) => buffer.writeBigUInt64LE(BigInt(value)))
const f32 = (value: number): Buffer => number(4, (buffer) => buffer.writeFloatLE(value))
const text = (value: string): Buffer => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])
const fact = (key: string, kind: number, value: Buffer): Buffer => Buffer.concat([text(key), u32(kind), value])
const list = (kind: number, values: Buffer[]): Buffer => Buffer.concat([u32(kind), u64(values.length), ...values])
/** To the alignment of tensors. */
const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)])

function number(bytes: number, write: (buffer: Buffer) => void): Buffer {
  const buffer = Buffer.alloc(bytes)
  write(buffer)
  return buffer
}

/** Numbers between -0.2 and 0.2, always the same of one seed (Park and Miller's generator). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return (state / 2_147_483_647 - 0.5) * 0.4
  }
}
