/** Files as they travel in a tar stream. */
export interface Upload {
  /** Local folder that the names are relative to. */
  folder: string
  /** Relative paths of files, folders (themselves only) and links, in order; `/` between parts. */
  files: string[]
  /** Absolute path on the node; replaced as a whole. Its parent is made if missing. */
  target: string
}

export interface Fetch {
  /** Absolute path on the node. */
  folder: string
  /** Relative to it, files or folders; at least one. */
  paths: string[]
  /**
   * Local folder that gets them, under the same relative paths; made if missing. What it had under these paths is
   * replaced.
   */
  target: string
}

export interface TransferOptions {
  signal?: AbortSignal
  /** Bytes of the tar stream so far. */
  onBytes?: (bytes: number) => void
}

export interface Unpacked {
  /** Relative paths of the files (not folders) that came, in order. */
  files: string[]
  /** Bytes of the files' contents. */
  bytes: number
  /** Links left out because they point outside. */
  refused: string[]
}
