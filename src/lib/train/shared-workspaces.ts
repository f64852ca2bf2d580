import type {WorkspacePlan} from '../workspace/index.ts'
import type {SharedStart} from './types.ts'

/** A plan for workspaces that are there and current: it has no steps. */
export function sharedWorkspaces({workspaces}: SharedStart): WorkspacePlan {
  return {plan: {command: 'train', steps: []}, handlers: {}, workspaces: new Map(workspaces), failed: new Map()}
}
