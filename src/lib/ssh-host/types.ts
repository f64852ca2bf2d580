/** What a host of SSH stands for. */
export interface HostPlace {
  /** Name of the rack, and its file. */
  rack: string
  rackFile: string
  project: string
  /** Folder of the manifest, whose workspace.env counts; null where none was there. */
  folder: string | null
  node: string
  /** The one that is meant where no node is named. */
  first: boolean
  /** Account on the node. */
  user: string
}

/** A host as it stands in the file of hosts. */
export interface SshHost extends HostPlace {
  alias: string
  /** `ssh-ed25519 AAAA...` */
  hostKey: string
}
