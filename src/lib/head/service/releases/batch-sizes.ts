/** A request tells its rows at its beginning: names and shapes stand before the data. Most do so in its first words. */
const LOOKED_AT = [256, 1024]
/** Of a shape, until its first dimension has ended; blanks may stand between. */
const SHAPE_CHARACTERS = 64
const SHAPE = /"shape"\s*:\s*\[\s*(\d{1,9})\s*[,\]]/
/** Ends of the buckets that Prometheus gets. */
const ENDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/**
 * How many rows a request of the Open Inference Protocol has: the first dimension of its first tensor, which models that
 * take batches have in front (https://github.com/kserve/open-inference-protocol). Undefined where its beginning does not say.
 */
export function rowsOf(path: string, body: Buffer | undefined): number | undefined {
  if (!body || !path.endsWith('/infer')) return undefined
  for (const bytes of LOOKED_AT) {
    // A look into a text is cheaper than one into a buffer, and a text of all of it would be a tenth of what a small
    // request allocates.
    const text = body.toString('latin1', 0, bytes)
    const at = text.indexOf('"shape"')
    const found = at < 0 ? null : SHAPE.exec(text.slice(at, at + SHAPE_CHARACTERS))
    if (found) return Number(found[1])
    if (bytes >= body.length) break
  }
  return undefined
}

/** Rows of requests, in buckets. */
export class BatchSizes {
  readonly #within = ENDS.map(() => 0)
  requests = 0
  rows = 0
  most = 0

  get mean(): number {
    return this.requests === 0 ? 0 : Math.round((this.rows / this.requests) * 10) / 10
  }

  add(rows: number): void {
    this.requests++
    this.rows += rows
    this.most = Math.max(this.most, rows)
    for (let at = ENDS.length - 1; at >= 0 && rows <= ENDS[at]!; at--) this.#within[at]!++
  }

  /** Samples of a histogram for Prometheus. */
  lines(labels: string): string[] {
    return [
      ...ENDS.map((end, at) => `_bucket{${labels},le="${end}"} ${this.#within[at]}`),
      `_bucket{${labels},le="+Inf"} ${this.requests}`,
      `_sum{${labels}} ${this.rows}`,
      `_count{${labels}} ${this.requests}`,
    ]
  }
}
