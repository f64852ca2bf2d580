import {Failure} from '../failure.ts'
import {askMlflow, type MlflowPlace} from '../tracking/mlflow-reader.ts'
import type {Parts} from '../parts.ts'

type Asked = Pick<Parts, 'mlflow' | 'people'>

const API = '/api/3.0/mlflow/workspaces'
/** Which were seen there, by the MLflow that was asked. */
const seen = new WeakMap<object, Set<string>>()

/** Where MLflow keeps a project; of one that has no roles: with all others. */
export function placeOf({mlflow, people}: Asked, project: string | undefined): MlflowPlace {
  return project !== undefined && people.hasWorkspaces ? {socket: mlflow.socket, workspace: project} : mlflow.socket
}

/** Has MLflow make the workspace of a project, where it has none. Errors: 502 where it does not. */
export async function requireWorkspace({mlflow}: Asked, project: string): Promise<void> {
  const known = seen.get(mlflow) ?? new Set()
  seen.set(mlflow, known)
  if (known.has(project)) return
  const {status} = await askMlflow(mlflow.socket, `${API}/${encodeURIComponent(project)}`)
  if (status !== 200) {
    const made = await askMlflow(mlflow.socket, API, {name: project})
    if (made.status !== 200 && made.status !== 201 && !made.text.includes('RESOURCE_ALREADY_EXISTS'))
      throw new Failure(502, 'HEAD_FAILED', `the tracking server makes no workspace ${project} (status ${made.status})`)
  }
  known.add(project)
}
