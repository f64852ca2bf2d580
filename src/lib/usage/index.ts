/** What runs had of a rack: GPU and CPU time by user, project or node. */
export {readUsage, type RackUsage, type UsagePlace} from './read.ts'
export {
  summarizeUsage,
  usageBy,
  usageReport,
  type UsageBy,
  type UsageEntry,
  type UsageReport,
  type UsageRow,
} from './usage.ts'
export {sinceOf} from './since.ts'
