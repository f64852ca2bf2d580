/** The MLflow that the head runs. One exact version: its database schema goes with it. */
export const MLFLOW_VERSION = '3.17.2'

/** Drivers that MLflow leaves to its user, by scheme of the store or artifact URI. */
const DRIVERS: Record<string, string> = {
  postgresql: 'psycopg2-binary',
  'postgresql+psycopg2': 'psycopg2-binary',
  mysql: 'pymysql',
  'mysql+pymysql': 'pymysql',
  s3: 'boto3',
  gs: 'google-cloud-storage',
  wasbs: 'azure-storage-blob',
}

/** Requirements of the head's environment. */
export function headRequirements(head: {store?: string; artifacts?: string}): string {
  const drivers = [head.store, head.artifacts].flatMap((uri) => {
    const driver = DRIVERS[/^([a-z0-9+]+):/.exec(uri ?? '')?.[1] ?? '']
    return driver ? [driver] : []
  })
  return `${[`mlflow==${MLFLOW_VERSION}`, ...new Set(drivers)].join('\n')}\n`
}
