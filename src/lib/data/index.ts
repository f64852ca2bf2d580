/** Data sets: versions by content, kept here, brought to nodes. */
export {DataStore, type Added} from './store.ts'
export {dataHolding, dataSums} from './counted.ts'
export {DATA_HANDLERS, dataSteps, planPush, type DataKinds, type Pushed} from './push.ts'
