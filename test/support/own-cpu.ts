// Set up where files are measured (scripts/testing/cpu.ts): what this one takes, and all that it starts, is its own.
import {relative} from 'node:path'
import {expect} from 'vitest'
import {joinCpuGroup} from '../../scripts/testing/cpu.ts'

joinCpuGroup(relative(process.cwd(), expect.getState().testPath ?? 'a test'), process.pid)
