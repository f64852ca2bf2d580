/**
 * A tiny Llama of random weights in Hugging Face's layout, written byte by byte, so that tests need no Python package to
 * make one: config.json, tokenizer.json (single bytes), model.safetensors, and a LoRA adapter.
 */

const WIDTH = 128
const INNER = 256
const LAYERS = 2

/** Files by path, below `folder`. */
export function tinyLlama(folder: string): Record<string, Buffer> {
  const random = randomFrom(1)
  const tensors: Tensor[] = []
  const add = (name: string, shape: number[], value?: number): void =>
    void tensors.push(tensor(name, shape, () => value ?? random() * 0.2))
  const vocabulary = bytesAsText()
  const tokens = ['<s>', '</s>', '<unk>', ...vocabulary]
  add('model.embed_tokens.weight', [tokens.length, WIDTH])
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = `model.layers.${layer}`
    for (const part of ['q_proj', 'k_proj', 'v_proj', 'o_proj']) add(`${at}.self_attn.${part}.weight`, [WIDTH, WIDTH])
    for (const part of ['gate_proj', 'up_proj']) add(`${at}.mlp.${part}.weight`, [INNER, WIDTH])
    add(`${at}.mlp.down_proj.weight`, [WIDTH, INNER])
    for (const part of ['input_layernorm', 'post_attention_layernorm']) add(`${at}.${part}.weight`, [WIDTH], 1)
  }
  add('model.norm.weight', [WIDTH], 1)
  add('lm_head.weight', [tokens.length, WIDTH])
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: tokens.length,
    hidden_size: WIDTH,
    intermediate_size: INNER,
    num_hidden_layers: LAYERS,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    max_position_embeddings: 256,
    rms_norm_eps: 1e-6,
    hidden_act: 'silu',
    tie_word_embeddings: false,
    bos_token_id: 0,
    eos_token_id: 1,
    dtype: 'float32',
  }
  const tokenizer = {
    version: '1.0',
    added_tokens: tokens.slice(0, 3).map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: {type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true},
    post_processor: null,
    decoder: {type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true},
    model: {
      type: 'BPE',
      unk_token: '<unk>',
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: [],
    },
  }
  const said = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: '<s>',
    eos_token: '</s>',
    unk_token: '<unk>',
    chat_template: "{% for message in messages %}{{ message['content'] }}{% endfor %}",
  }
  return {
    [`${folder}/config.json`]: json(config),
    [`${folder}/tokenizer.json`]: json(tokenizer),
    [`${folder}/tokenizer_config.json`]: json(said),
    [`${folder}/model.safetensors`]: safetensors(tensors),
  }
}

/** A LoRA adapter of rank 8 for it, as peft writes one. */
export function tinyAdapter(folder: string): Record<string, Buffer> {
  const random = randomFrom(7)
  const tensors = Array.from({length: LAYERS}, (_, layer) =>
    ['q_proj', 'v_proj'].flatMap((part) => {
      const at = `base_model.model.model.layers.${layer}.self_attn.${part}`
      return [
        tensor(`${at}.lora_A.weight`, [8, WIDTH], () => random() * 2),
        tensor(`${at}.lora_B.weight`, [WIDTH, 8], () => random() * 2),
      ]
    }),
  ).flat()
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: 'tiny',
    r: 8,
    lora_alpha: 32,
    lora_dropout: 0,
    bias: 'none',
    target_modules: ['q_proj', 'v_proj'],
    inference_mode: true,
  }
  return {
    [`${folder}/adapter_config.json`]: json(config),
    [`${folder}/adapter_model.safetensors`]: safetensors(tensors),
  }
}

interface Tensor {
  name: string
  shape: number[]
  data: Float32Array
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

function tensor(name: string, shape: number[], value: () => number): Tensor {
  const length = shape.reduce((product, one) => product * one, 1)
  return {name, shape, data: Float32Array.from({length}, value)}
}

/** https://huggingface.co/docs/safetensors: length of the head, head, contents. */
function safetensors(tensors: Tensor[]): Buffer {
  let at = 0
  const head: Record<string, unknown> = {__metadata__: {format: 'pt'}}
  for (const {name, shape, data} of tensors)
    head[name] = {dtype: 'F32', shape, data_offsets: [at, (at += data.byteLength)]}
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([length, text, ...tensors.map(({data}) => Buffer.from(data.buffer))])
}

/** One visible character for each byte, as GPT-2's tokenizer has them. */
function bytesAsText(): string[] {
  let next = 256
  return Array.from({length: 256}, (_, byte) => {
    const isVisible = (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173)
    return String.fromCodePoint(isVisible ? byte : next++)
  })
}

/** Numbers between -0.5 and 0.5, always the same of one seed (Park and Miller's generator). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647 - 0.5
  }
}
