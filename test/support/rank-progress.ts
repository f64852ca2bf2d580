import type {RankProgress} from '../../src/lib/protocol/index.ts'

/** What a rank tells of itself: nothing but `parts`. */
export function rankProgress(parts: Partial<RankProgress>): RankProgress {
  return {
    pid: 1,
    started_at: 0,
    updated_at: 0,
    steps: 0,
    step_at: 0,
    first_step_at: 0,
    step_seconds: 0,
    batches: 0,
    batch_at: 0,
    samples: 0,
    tokens: 0,
    data_wait: 0,
    data_since: 0,
    collectives: 0,
    collectives_done: 0,
    collective_at: 0,
    collective_seconds: 0,
    evaluated: 0,
    own_seconds: 0,
    collective: '',
    last_collective: '',
    median_step: null,
    median_own: null,
    median_collectives: null,
    ...parts,
  }
}
