import type {Identity, Usage} from './certificates.ts'

/** Who gives the head its certificates: the rack's own authority, or what a standby was given by it. */
export interface Issuer {
  /** What others trust, PEM. */
  readonly trusted: string
  /** A leaf of the head's own, by file. */
  leaf(file: string, wanted: {name: string; names: string[]; usage: Usage}): Promise<Identity>
  /** A certificate that nobody renews. */
  lasting(wanted: {name: string; names: string[]; usage: Usage}): Promise<Identity>
  /** One that ends in weeks, and is not kept here. */
  issueLeaf(wanted: {name: string; names: string[]; usage: Usage}): Promise<Identity>
  /** With what the gateway calls model servers; the same object while it is the same certificate. */
  gateway(): Promise<Identity>
}
