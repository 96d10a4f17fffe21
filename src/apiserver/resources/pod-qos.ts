import { isRecord, sameJson } from '../../kube/json.ts'
import type { Pod } from './pod-columns.ts'

/** Quantities of the resources that count, as they are written; nothing where it is zero. */
function quantities(resources: unknown, kind: 'limits' | 'requests'): Record<string, unknown> {
  const given = isRecord(resources) && isRecord(resources[kind]) ? resources[kind] : {}
  const counted = Object.entries(given).filter(
    ([name, value]) => (name === 'cpu' || name === 'memory') && !/^0+[a-zA-Z]*$/.test(String(value)),
  )
  return Object.fromEntries(counted)
}

/** Kubernetes' quality of service: by what all containers ask for and may have. A request that is not said is the limit. */
export function qosClassOf({ spec = {} }: Pod): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const { containers = [], initContainers } = spec
  const all = [...containers, ...(Array.isArray(initContainers) ? initContainers.filter(isRecord) : [])].map(
    ({ resources }) => {
      const limits = quantities(resources, 'limits')
      return { limits, requests: { ...limits, ...quantities(resources, 'requests') } }
    },
  )
  if (all.every(({ requests }) => Object.keys(requests).length === 0)) return 'BestEffort'
  const full = all.every(
    ({ limits, requests }) => Object.keys(limits).length === 2 && sameJson(limits, requests),
  )
  return full ? 'Guaranteed' : 'Burstable'
}
