/** The rack's page from here: what its head asks of who has it open, as that one reaches the nodes and the head does not. */
export {servePage} from './serve.ts'
