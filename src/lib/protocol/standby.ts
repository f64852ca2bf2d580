// Two heads of one rack: which one follows, and which one has stepped down. Generated from protocol/standby.json by `npm run protocol`.

/** Node and base URL of a head. Standbys of older versions do not keep it. */
export interface HeadPlace {
  node: string
  url: string
}

/** Whom a head followed before it took over, and with which token: it is told of it until it has heard. */
export interface HeadFormer {
  node: string
  url: string
  /** PEM. */
  ca: string
  token: string
}

/** A head has stepped down: its standby was made the head. */
export interface HeadSuperseded {
  node: string
  /** Base URL of the head that took over. */
  url: string
  /** ISO 8601: when this head heard of it. */
  at: string
}
