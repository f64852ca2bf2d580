/** What somebody says of a model version with their SSH key: in-toto statements in DSSE envelopes. */
export {attest, readAttested, statementPath, type Attested} from './attest.ts'
export {MOST_ENVELOPE} from './envelope.ts'
export type {Statement} from './statement.ts'
