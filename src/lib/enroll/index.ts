/** Nodes come into a rack file and leave it. */
export {addNodes, greetNodes, parseHosts, planAdd, type AddOptions} from './add.ts'
export {planRemove, removeNodes} from './remove.ts'
