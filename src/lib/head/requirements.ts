import {readPythonLocks} from '../base/index.ts'

/** Locks of the drivers that MLflow leaves to its user, by scheme of the store or artifact URI. */
const DRIVERS: Record<string, string> = {
  postgresql: 'head-psycopg2',
  'postgresql+psycopg2': 'head-psycopg2',
  mysql: 'head-pymysql',
  'mysql+pymysql': 'head-pymysql',
  s3: 'head-boto3',
  gs: 'head-google-cloud-storage',
  wasbs: 'head-azure-storage-blob',
}

/** The locks that the head's environment is made from: exact versions with their hashes (locks/head.in). */
export function headLocks(head: {store?: string; artifacts?: string}): string[] {
  const drivers = [head.store, head.artifacts].flatMap(
    (uri) => DRIVERS[/^([a-z0-9+]+):/.exec(uri ?? '')?.[1] ?? ''] ?? [],
  )
  return ['head', ...new Set(drivers)]
}

/** Text of these. */
export const headRequirements = (head: {store?: string; artifacts?: string}): string => readPythonLocks(headLocks(head))

/** For who brings them to a machine without internet. */
export const HEAD_PACKAGES = {locks: headLocks}
