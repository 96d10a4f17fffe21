import type { Lease } from '../../kube/types.ts'

/** What a Lease says about its holder, without the rest of the object. */
export function leaseFacts({ metadata, spec = {} }: Lease): Lease {
  const { holderIdentity, leaseDurationSeconds, renewTime } = spec
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: metadata.name, ...(metadata.namespace && { namespace: metadata.namespace }) },
    spec: {
      ...(holderIdentity !== undefined && { holderIdentity }),
      ...(leaseDurationSeconds !== undefined && { leaseDurationSeconds }),
      ...(renewTime !== undefined && { renewTime }),
    },
  }
}
