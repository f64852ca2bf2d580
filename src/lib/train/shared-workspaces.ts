import {ProjectFiles, type WorkspacePlan} from '../workspace/index.ts'
import type {SharedStart} from './types.ts'

/** A plan for workspaces that are there and current: it has no steps. */
export function sharedWorkspaces({workspaces}: SharedStart): WorkspacePlan {
  return {plan: {command: 'train', steps: []}, workspaces, failed: new Map(), files: new ProjectFiles()}
}
