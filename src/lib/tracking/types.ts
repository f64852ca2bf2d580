/** An MLflow experiment. */
export interface Experiment {
  id: string
  name: string
  /** `active` or `deleted`. */
  stage: string
}

export type RunStatus = 'RUNNING' | 'SCHEDULED' | 'FINISHED' | 'FAILED' | 'KILLED'

/** An MLflow run, with the last value of every metric. */
export interface TrackedRun {
  id: string
  name: string
  experimentId: string
  user: string
  status: RunStatus
  /** Milliseconds since 1970. */
  startTime: number
  endTime: number | undefined
  artifactUri: string
  stage: string
  metrics: Record<string, Metric>
  params: Record<string, string>
  tags: Record<string, string>
}

export interface Metric {
  key: string
  value: number
  /** Milliseconds since 1970. */
  timestamp: number
  step: number
}

/** What logBatch takes; it is cut into calls that the server accepts. */
export interface Batch {
  metrics?: Metric[]
  params?: Record<string, string>
  tags?: Record<string, string>
}

export interface ArtifactEntry {
  /** Relative to the run's (or model's) artifact folder, with `/`. */
  path: string
  isFolder: boolean
  /** Bytes; undefined for a folder. */
  size: number | undefined
}

export interface RegisteredModel {
  name: string
  description: string
  tags: Record<string, string>
  /** alias -> version */
  aliases: Record<string, string>
  createdAt: number
  updatedAt: number
}

export interface ModelVersion {
  name: string
  version: string
  status: string
  source: string
  runId: string | undefined
  /** MLflow 3's logged model it was made from, if one. */
  modelId: string | undefined
  description: string
  tags: Record<string, string>
  aliases: string[]
  createdAt: number
}

/** A model logged in a run (MLflow 3), not necessarily registered. */
export interface LoggedModel {
  id: string
  name: string
  runId: string | undefined
  experimentId: string
  status: string
  artifactUri: string
}
