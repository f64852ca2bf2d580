/** Nodes come into a rack file and leave it. */
export {parseHosts, planAdd, type AddOptions} from './add.ts'
export {carryOut, ENROLL_HANDLERS, type EnrollKinds} from './carry-out.ts'
export {planRemove} from './remove.ts'
