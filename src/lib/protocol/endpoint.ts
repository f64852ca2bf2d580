// Endpoints: files and ports of model servers on a node. Generated from protocol/endpoint.json by `npm run protocol`.
import type {WaitingEvent} from './environment.ts'

/** What a model server speaks: the Open Inference Protocol v2, OpenAI's API, or that of MLflow's own server. */
export type ServingProtocol = 'v2' | 'openai' | 'mlflow'

export interface ReleaseName {
  name: string
  release: string
}

export interface ModelFile {
  path: string
  bytes: number
  sha256: string
}

export interface ReleaseFiles extends ReleaseName {
  files: ModelFile[]
}

export interface ReleaseFound {
  complete: boolean
  folder: string
}

export interface FolderMade {
  folder: string
}

export interface PortsWanted {
  count: number
  host: string
  exclude?: number[]
}

export interface ReplicaFiles extends ReleaseName {
  replica: number
  files: Record<string, string>
}

export interface ReleaseCode extends ReleaseName {
  /** The project whose workspace it is taken from. */
  workspace: string
  /** Folder of its Python environment, which the endpoint uses from now on. */
  environment?: string
}

export interface CodeKept {
  folder: string
  /** Folders in it from which a project that is installed editable is imported. */
  imports: string[]
}

export interface ReleasesKept {
  name: string
  keep: string[]
}

export interface EndpointVerbs {
  /** Whether all files of a release are there. */
  'endpoint.check': {input: ReleaseFiles; result: ReleaseFound; event: never}
  /** Takes the files of a release, one after the other as the body: all of them, or none. */
  'endpoint.place': {input: ReleaseFiles; result: FolderMade; event: never}
  /** Keeps the code of a workspace, as it is now, in the folder of a release. */
  'endpoint.code': {input: ReleaseCode; result: CodeKept; event: WaitingEvent}
  /** Ports of an address that nobody listens on. */
  'endpoint.ports': {input: PortsWanted; result: number[]; event: never}
  /** The folder that a server is started in, made anew. */
  'endpoint.write': {input: ReplicaFiles; result: FolderMade; event: never}
  /** Removes the other releases' folders; tells their names. */
  'endpoint.prune': {input: ReleasesKept; result: string[]; event: never}
}
