/** What nodes are, and who has what on them, asked of all at once: what placement chooses from. */
export {askCandidates, candidateOf} from './ask.ts'
