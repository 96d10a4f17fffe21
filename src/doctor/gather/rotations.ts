/** Changes of CAs that are under way, or were: Rollcall's own, and OpenShift's pools that bring them to machines. */
import { isStatus, type KubeClient, listAll } from '../../kube/client.ts'
import { isRecord } from '../../kube/json.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { formatTime } from '../../kube/time-format.ts'
import type { KubeObject, ResourceRef } from '../../kube/types.ts'
import type { PausedPool, RotationFacts } from '../artifacts/cluster-artifacts.ts'

/** None where the kind is not there. */
export async function listRotations(client: KubeClient): Promise<RotationFacts[]> {
  return (await allOf<CARotationObject>(client, caRotation.ref)).map(rotationFacts)
}

function rotationFacts({ metadata, spec, status }: CARotationObject): RotationFacts {
  const state = isRecord(status?.state) ? status.state : {}
  const phase = typeof state.phase === 'string' ? state.phase : (status?.phase ?? 'Preflight')
  const paused = isRecord(state.paused) ? state.paused : undefined
  const begun = metadata.creationTimestamp ?? ''
  return {
    name: metadata.name,
    role: spec.role,
    from: spec.from,
    to: spec.to,
    phase,
    begun,
    ...((paused || spec.pause) && {
      paused: {
        since: typeof paused?.since === 'number' ? formatTime(paused.since) : begun,
        reason: typeof paused?.reason === 'string' ? paused.reason : 'asked for',
      },
    }),
  }
}

const machineConfigPools: ResourceRef = {
  group: 'machineconfiguration.openshift.io',
  version: 'v1',
  plural: 'machineconfigpools',
  kind: 'MachineConfigPool',
  namespaced: false,
}

interface MachineConfigPool extends KubeObject {
  spec?: { paused?: boolean; configuration?: { name?: string } }
  status?: { configuration?: { name?: string } }
}

/** None on what is no OpenShift. */
export async function listPausedPools(client: KubeClient): Promise<PausedPool[]> {
  const pools = await allOf<MachineConfigPool>(client, machineConfigPools)
  return pools.flatMap(({ metadata: { name }, spec, status }) => {
    const [wanted, current] = [spec?.configuration?.name ?? '', status?.configuration?.name ?? '']
    return spec?.paused && wanted !== current ? [{ name, wanted, current }] : []
  })
}

async function allOf<T extends KubeObject>(client: KubeClient, resource: ResourceRef): Promise<T[]> {
  try {
    return (await listAll<T>(client, resource)).items
  } catch (error) {
    if (isStatus(error, 'NotFound')) return []
    throw error
  }
}
