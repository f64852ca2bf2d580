/** Every exit status of the command line, and what it means. */
export const EXIT_STATUSES: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'a bug in flexrack, or this machine refused something',
  2: 'usage',
  3: 'manifest, rack file or recipe invalid; a check found something',
  4: 'not found, conflict, locked',
  5: 'node unreachable, or it refused',
  6: 'something on a node failed',
  7: 'GPU or native layer',
  8: 'some nodes failed (all are reported)',
  9: 'timed out',
  130: 'interrupted',
}

/** Every error code: its exit status and what it means. The one source of docs/errors.md, with EXIT_STATUSES. */
export const ERROR_CODES = {
  BUG: {
    exit: 1,
    meaning: 'Something in flexrack itself went wrong; the log file named in the message has the details.',
  },
  LOCAL_FAILED: {
    exit: 1,
    meaning: 'This machine refused something: no right to a file, no space left, too many open files.',
  },
  USAGE: {exit: 2, meaning: 'The command line is not one that flexrack understands, or a needed flag is missing.'},
  NEEDS_TERMINAL: {
    exit: 2,
    meaning: 'A question would have to be asked, but there is no terminal; the message names the flag to pass instead.',
  },
  MANIFEST_INVALID: {
    exit: 3,
    meaning: 'The manifest flexrack.yaml has errors; each is given with file, line and column.',
  },
  MANIFEST_MISSING: {exit: 3, meaning: 'No flexrack.yaml in this folder or above it.'},
  RACK_INVALID: {exit: 3, meaning: 'The rack file has errors; each is given with file, line and column.'},
  RECIPE_INVALID: {
    exit: 3,
    meaning: 'The recipe of a model server has errors; each is given with file, line and column.',
  },
  CHECK_FAILED: {
    exit: 3,
    meaning: 'The check found something that would stop a run; each finding is listed with its fix.',
  },
  NOT_FOUND: {exit: 4, meaning: 'What the command names does not exist.'},
  CONFLICT: {exit: 4, meaning: 'What the command would make is already there, or changed in the meantime.'},
  NEWER_VERSION: {
    exit: 4,
    meaning:
      'A file was written by a newer flexrack than this one; the message names it. Upgrade flexrack where the command runs.',
  },
  LOCKED: {exit: 4, meaning: 'Somebody else is doing this right now; the message says who and since when.'},
  QUOTA: {
    exit: 4,
    meaning:
      'A quota of the rack does not allow it; the message has the sum, by whom what is used, and `flexrack quota list` all of them.',
  },
  RESERVED: {
    exit: 4,
    meaning:
      'Other runs have reserved the nodes that the run needs, or stand in line for them; the message says who, since when and until when.',
  },
  RESERVATION_LOST: {
    exit: 4,
    meaning:
      'The reservation of a node does not hold any more: it was not renewed in time, or was released by force; nothing was started there.',
  },
  NODE_UNREACHABLE: {
    exit: 5,
    meaning: 'No connection to the node could be made, or it was lost and did not come back.',
  },
  HOST_KEY_UNKNOWN: {exit: 5, meaning: 'The node presented a host key that is not in known_hosts.'},
  HOST_KEY_CHANGED: {
    exit: 5,
    meaning: 'The node presented another host key than the one in known_hosts. Never accepted.',
  },
  AUTH_FAILED: {exit: 5, meaning: 'The node refused every key that was offered.'},
  REFUSED: {
    exit: 5,
    meaning: 'The other side answered and refused: a token is missing, wrong or expired, or a right is lacking.',
  },
  REMOTE_FAILED: {exit: 6, meaning: 'A command on a node ended with an error.'},
  NODE_UNFIT: {
    exit: 6,
    meaning: 'The node lacks something that is needed there, such as Python, disk space or a free port.',
  },
  PREFLIGHT_FAILED: {
    exit: 6,
    meaning:
      'The nodes, or the ways between them, are not fit for the run; each finding is listed with its fix, and nothing was started.',
  },
  ENVIRONMENT_FAILED: {
    exit: 6,
    meaning: 'The Python environment could not be built; the failing requirement is named.',
  },
  RUN_FAILED: {
    exit: 6,
    meaning: 'A rank of the run failed; the first cause is shown with its rank, node and last lines.',
  },
  HEAD_FAILED: {
    exit: 6,
    meaning: 'The head, or the tracking server behind it, did not start or answered with an error.',
  },
  ENDPOINT_FAILED: {exit: 6, meaning: 'The release did not become ready, or the endpoint answered with an error.'},
  NATIVE_MISSING: {
    exit: 7,
    meaning:
      'The native layer (flexrack-gpud, flexrack-lease-keeper, the drivers) is not built, or not for this machine.',
  },
  GPU_MISMATCH: {
    exit: 7,
    meaning:
      'Two GPU servers that carried out the same program differed, and the program ended as if nothing were wrong; the message says in what.',
  },
  GPU_UNAVAILABLE: {
    exit: 7,
    meaning:
      'More GPUs, or more of one, are asked for than are free; the message says what is free and who holds the rest.',
  },
  GPU_FAILED: {
    exit: 7,
    meaning: 'The GPU daemon of a node did not start, or does not answer; or a GPU cannot be measured.',
  },
  GPU_REFUSED: {exit: 7, meaning: 'The GPU daemon of a node answered and refused.'},
  SOME_NODES_FAILED: {exit: 8, meaning: 'Some nodes failed, the others did what was asked; all are listed.'},
  TIMED_OUT: {exit: 9, meaning: 'It took longer than it was allowed to.'},
  INTERRUPTED: {exit: 130, meaning: 'Stopped by Ctrl-C or a signal.'},
} as const satisfies Record<string, {exit: number; meaning: string}>

export type ErrorCode = keyof typeof ERROR_CODES
