/** What runs may have of a rack, and whose turn it is: asked of its head. */
export {openTurns, type RunTurns} from './turns.ts'
export {readOutlook, readQueue, readQuotas, type QuotaReport} from './read.ts'
export {carryOutQuota, planQuota, type QuotaChange, type QuotaKinds} from './change.ts'
