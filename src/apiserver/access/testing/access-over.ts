import type { KubeObject, UserInfo } from '../../../kube/types.ts'
import { silentLog } from '../../../ports.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { ApiError } from '../../wire/api-error.ts'
import type { Access } from '../access.ts'
import type { NodeGraph } from '../authorization/node-graph.ts'
import { createAccess } from '../create-access.ts'
import { now } from './client-certificates.ts'
import { type MemoryReader, memoryReader } from './memory-reader.ts'

/** An Access over these objects that trusts no client CA. */
export function accessOver(
  objects: readonly KubeObject[],
  nodeGraph?: NodeGraph,
): Access & { reader: MemoryReader } {
  const reader = memoryReader(...objects)
  const access = createAccess({
    reader,
    clock: createManualClock(now),
    log: silentLog,
    clientCertificateAuthorities: '',
    ...(nodeGraph && { nodeGraph }),
  })
  return { ...access, reader }
}

export const person = (username: string, ...groups: string[]): UserInfo => ({
  username,
  groups: [...groups, 'system:authenticated'],
})

export const nodeUser = (name: string): UserInfo => person(`system:node:${name}`, 'system:nodes')

/** The message of the ApiError with this code that `run` throws; '' when it throws nothing. */
export function refusal(run: () => void, code = 403): string {
  try {
    run()
  } catch (error) {
    if (error instanceof ApiError && error.status.code === code) return error.message
    throw error
  }
  return ''
}
