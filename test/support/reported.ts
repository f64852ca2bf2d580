import type {NodeRunDetail} from '../../src/lib/protocol/index.ts'

/**
 * What node-N of a tracked run of `count` nodes tells of it: as told while it goes on and node-1 leads, but for
 * `parts`.
 */
export function reported(number: number, parts: Partial<NodeRunDetail> = {}, count = 3): NodeRunDetail {
  return {
    run: 'digits-1',
    project: 'digits',
    node: `node-${number}`,
    index: number - 1,
    term: 1,
    leader: 'node-1',
    committed: false,
    replaceable: count > 2,
    nodes: Array.from({length: count}, (_, index) => `node-${index + 1}`),
    processes: 1,
    launcher: 'plain',
    created: 100,
    status: 'running',
    attempt: 1,
    live: true,
    exit: null,
    cause: null,
    started: 101,
    ended: null,
    recorded: null,
    tracked: 'f00d',
    command: ['train.py'],
    environment: null,
    commit: null,
    folder: '/runs/digits-1',
    records: {},
    alive: [],
    result: null,
    ...parts,
  }
}

/** It is over there, and this is what the leader says. */
export const FINISHED: Partial<NodeRunDetail> = {
  live: false,
  committed: true,
  status: 'finished',
  exit: 0,
  ended: 200,
  recorded: false,
}

/** It is over there because nobody led it any more. */
export const LEADERLESS: Partial<NodeRunDetail> = {
  live: false,
  status: 'failed',
  exit: 1,
  ended: 160,
  recorded: false,
  cause: {
    kind: 'gang',
    node: 'node-2',
    rank: null,
    exit: null,
    signal: null,
    at: 160,
    message: 'the leader on node-1 is gone',
    lines: [],
    others: [],
  },
}
