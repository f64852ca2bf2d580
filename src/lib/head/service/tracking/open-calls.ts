import {apiCallOf} from './scope-calls.ts'

/**
 * What of MLflow's API is open to programs and users, by method: calls (`/api/2.0/mlflow/...`, `3.0` likewise), where `*`
 * is one part of the path. What may be done with them there scope.ts and people/scope-user.ts decide. What is not here
 * only an admin calls: a newer MLflow opens nothing that nobody has looked at (test/integration/head/mlflow/routes.ts
 * compares the table with the routes that MLflow has). Left out on purpose are its gateway, webhooks and online scoring,
 * by which the server calls addresses that a client names; its jobs; its registry of MCP servers; and workspaces, which
 * people/door.ts answers itself.
 */
export const OPEN_CALLS: Readonly<Record<string, readonly string[]>> = {
  GET: [
    'artifacts/list',
    'datasets/*',
    'datasets/*/experiment-ids',
    'datasets/*/records',
    'datasets/search',
    'experiments/get',
    'experiments/get-by-name',
    'experiments/search',
    'issues/*',
    'label-schemas/get',
    'label-schemas/get-by-name',
    'label-schemas/list',
    'logged-models/*',
    'logged-models/*/artifacts/directories',
    'metrics/get-history',
    'metrics/get-history-bulk-interval',
    'model-versions/get',
    'model-versions/get-download-uri',
    'model-versions/search',
    'registered-models/alias',
    'registered-models/get',
    'registered-models/get-latest-versions',
    'registered-models/search',
    'review-queues/get',
    'review-queues/get-by-name',
    'review-queues/items/list',
    'review-queues/list',
    'runs/get',
    'scorers/get',
    'scorers/list',
    'scorers/versions',
    'server-info',
    'traces',
    'traces/*',
    'traces/*/assessments/*',
    'traces/*/info',
    'traces/batchGet',
    'traces/get',
  ],
  POST: [
    'datasets/*/add-experiments',
    'datasets/*/records',
    'datasets/*/remove-experiments',
    'datasets/create',
    'datasets/search',
    'experiments/create',
    'experiments/delete',
    'experiments/delete-experiment-tag',
    'experiments/restore',
    'experiments/search',
    'experiments/set-experiment-tag',
    'experiments/update',
    'issues',
    'issues/search',
    'label-schemas/create',
    'logged-models',
    'logged-models/*/params',
    'logged-models/search',
    'model-versions/create',
    'model-versions/set-tag',
    'model-versions/transition-stage',
    'registered-models/alias',
    'registered-models/create',
    'registered-models/get-latest-versions',
    'registered-models/rename',
    'registered-models/set-tag',
    'review-queues/create',
    'review-queues/delete',
    'review-queues/get-or-create-user',
    'review-queues/items/add',
    'review-queues/items/remove',
    'review-queues/items/set-status',
    'review-queues/update',
    'runs/create',
    'runs/delete',
    'runs/delete-tag',
    'runs/log-batch',
    'runs/log-inputs',
    'runs/log-metric',
    'runs/log-model',
    'runs/log-parameter',
    'runs/outputs',
    'runs/restore',
    'runs/search',
    'runs/set-tag',
    'runs/update',
    'scorers/register',
    'traces',
    'traces/*/assessments',
    'traces/batchGetInfos',
    'traces/calculate-filter-correlation',
    'traces/delete-traces',
    'traces/link-prompts',
    'traces/link-to-run',
    'traces/metrics',
    'traces/search',
  ],
  PATCH: [
    'datasets/*/tags',
    'issues/*',
    'label-schemas/update',
    'logged-models/*',
    'logged-models/*/tags',
    'model-versions/update',
    'registered-models/update',
    'traces/*',
    'traces/*/assessments/*',
    'traces/*/tags',
  ],
  DELETE: [
    'datasets/*',
    'datasets/*/records',
    'datasets/*/tags/*',
    'label-schemas/delete',
    'logged-models/*',
    'logged-models/*/tags/*',
    'model-versions/delete',
    'model-versions/delete-tag',
    'registered-models/alias',
    'registered-models/delete',
    'registered-models/delete-tag',
    'scorers/delete',
    'traces/*/assessments/*',
    'traces/*/tags',
  ],
}

const PART = String.raw`(?:(?!%2f|%5c)[^/])+`
const OPEN = Object.entries(OPEN_CALLS).map(([method, calls]): [string, {exact: Set<string>; others: RegExp}] => {
  const others = calls.filter((call) => call.includes('*')).map((call) => call.replaceAll('*', PART))
  return [method, {exact: new Set(calls), others: new RegExp(`^(?:${others.join('|')})$`, 'i')}]
})
const BY_METHOD = new Map(OPEN)

const ARTIFACTS: readonly [methods: RegExp, path: RegExp][] = [
  [/^(?:GET|HEAD)$/, /^\/api\/2\.0\/mlflow-artifacts\/(?:artifacts(?:$|\/)|presigned\/)/],
  [/^(?:PUT|DELETE)$/, /^\/api\/2\.0\/mlflow-artifacts\/artifacts\//],
  [/^POST$/, /^\/api\/2\.0\/mlflow-artifacts\/mpu\/(?:create|complete|abort)\//],
]

/**
 * True of what programs that log need of MLflow: calls that are known, and artifacts. A slash that is written as %2F is
 * one to MLflow and none to who checks a path, so no call has it.
 */
export function isTrackingApi(method: string, path: string): boolean {
  if (path === '/version' || path === '/health') return true
  if (ARTIFACTS.some(([methods, place]) => methods.test(method) && place.test(path))) return true
  const call = apiCallOf(path)
  const open = BY_METHOD.get(method === 'HEAD' ? 'GET' : method)
  return call !== undefined && open !== undefined && (open.exact.has(call) || open.others.test(call))
}
