import type { Container, PodSpec } from '../pod.ts'
import { type Finding, refusal } from './finding.ts'

/** Kubernetes' IsValidUserID: above it, numbers wrap around in programs that count in 32 bits, to root's among others. */
const largestId = 2 ** 31 - 1

/** What pod and containers say of users and groups. */
export function checkSecurity(spec: PodSpec): Finding[] {
  const { securityContext: shared } = spec
  const at = 'spec.securityContext'
  return [
    ...checkIds(at, shared ?? {}),
    ...(shared?.supplementalGroups ?? []).flatMap((group, n) =>
      checkId(`${at}.supplementalGroups[${n}]`, group),
    ),
    ...containersOf('containers', spec.containers),
    ...containersOf('initContainers', spec.initContainers ?? []),
  ]
}

function containersOf(field: string, containers: readonly Container[]): Finding[] {
  return containers.flatMap(({ securityContext = {} }, n) =>
    checkIds(`spec.${field}[${n}].securityContext`, securityContext),
  )
}

function checkIds(at: string, of: { runAsUser?: number; runAsGroup?: number }): Finding[] {
  return (['runAsUser', 'runAsGroup'] as const).flatMap(field => checkId(`${at}.${field}`, of[field]))
}

function checkId(path: string, id: number | undefined): Finding[] {
  if (id === undefined || (id >= 0 && id <= largestId)) return []
  return [refusal('Invalid', `${path}: ${id} is not from 0 to ${largestId}`)]
}
