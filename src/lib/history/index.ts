/** What workspaces were before: saved by their nodes, shown, compared and restored. */
export {readMoment, type Moment} from './moment.ts'
export {
  diffHistory,
  showHistory,
  type ShownSnapshot,
  type SavedVersion,
  type WorkspaceDiff,
  type WorkspaceHistory,
} from './show.ts'
export {COPY, type CopiedHistory, type CopyKinds} from './copy.ts'
export {FROM_COPY, listCopy, type CopyContent, type FromCopyKinds, type RestoredFromCopy} from './from-copy.ts'
export {RESTORE, type Restored, type RestoreKinds, type RestoreWish} from './restore.ts'
