export type {LocalNode, LocalStatus} from './types.ts'
export {localUp, planLocalUp, type LocalUpInput} from './up.ts'
export {localDown, planLocalDown, type LocalDownInput, type LocalDownResult} from './down.ts'
export {localStatus} from './status.ts'
