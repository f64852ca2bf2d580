/** Looking at a project and at what a node has of it; what follows from that is plan.ts. */
import type {Context} from '../base/index.ts'
import {VERSIONS, type Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {HistoryInspected, ProjectToInstall, WorkspaceInspected} from '../protocol/index.ts'
import {inspectAutosave} from './autosave.ts'
import {inspectImage, lacksSandbox, readImage, type InspectedImage, type WantedImage} from './image.ts'
import {installOf} from './install.ts'
import {digestOf, type ProjectFiles} from './project-files.ts'
import type {Requirements} from './requirements.ts'
import type {Snapshot} from './snapshot.ts'
import {constraintsWith} from './steps.ts'
import {question} from './sync.ts'

/** A project as it is here. */
export interface Project {
  snapshot: Snapshot
  wanted: Requirements | undefined
  install: ProjectToInstall | undefined
  image: WantedImage | undefined
}

/** What a node says of the workspace, its image, and what runs that. */
export type Inspected = WorkspaceInspected & {found?: InspectedImage; lacksTool?: boolean; saves?: HistoryInspected}

export async function readProject(
  files: ProjectFiles,
  manifest: Manifest,
  context: Context,
  {codeOnly}: {codeOnly?: boolean},
): Promise<Project> {
  const [snapshot, wanted, image] = await Promise.all([
    files.snapshot(manifest.folder, manifest.workspace.exclude, context),
    codeOnly
      ? undefined
      : files.requirements(manifest.folder, manifest.workspace.python ?? null, manifest.workspace.pythonVersion),
    codeOnly ? undefined : readImage(files, manifest, context),
  ])
  for (const sentence of wanted?.warnings ?? []) context.reporter.warn(sentence)
  return {
    snapshot,
    wanted,
    image,
    install: wanted && (await installOf(manifest.name, snapshot, manifest.workspace.python)),
  }
}

export async function inspect(
  host: Host,
  manifest: Manifest,
  {snapshot, wanted, install, image}: Project,
  context: Context,
): Promise<Inspected> {
  const {pythonVersion: python} = manifest.workspace
  const found = image && (await inspectImage(host, image, manifest.workspace.isolate !== undefined, context))
  const environment = wanted && {
    requirements: wanted.requirements,
    constraints: wanted.constraints,
    ...(python !== undefined && {python}),
    ...(install && {project: install}),
    ...(found && {image: found.image.manifest}),
  }
  const [inspected, saves] = await Promise.all([
    host.call('workspace.inspect', {...question(manifest.name, snapshot), environment}, {signal: context.signal}),
    wanted && inspectAutosave(host, manifest, context), // without packages only the code is meant
  ])
  const lacksTool =
    !found && wanted !== undefined && manifest.workspace.isolate !== undefined && (await lacksSandbox(host, context))
  return {...inspected, ...(found && {found}), ...(lacksTool && {lacksTool}), ...(saves && {saves})}
}

interface Besides {
  files: ProjectFiles
  manifest: Manifest
  project: Project
  context: Context
}

/**
 * What a node says of the environment with the versions of `like`, as the one that it has for these requirements has
 * others.
 */
export async function besides(
  hosts: Host[],
  index: number,
  like: string,
  wanted: Requirements,
  {files, manifest, project, context}: Besides,
): Promise<Inspected> {
  const {pythonVersion: python} = manifest.workspace
  const reference = hosts.find(({node}) => node === like) as Host
  const pins = await files.versions(like, digestOf(wanted), () =>
    VERSIONS.choose(
      reference,
      {...wanted, ...(python !== undefined && {python}), ...(project.install && {project: project.install})},
      context,
    ),
  )
  return inspect(
    hosts[index] as Host,
    manifest,
    {...project, wanted: {...wanted, constraints: constraintsWith(wanted.constraints, pins ?? '')}},
    context,
  )
}
