import { createHash } from 'node:crypto'
import { formatTime } from '../../kube/time-format.ts'
import { signerNames } from '../../kube/types.ts'
import { readSpecRequest } from '../../survey/request-facts.ts'
import { commonName, organizations } from '../../x509/name.ts'
import { type Check, view } from '../check.ts'
import { deleteRequest, watchRequests } from '../commands.ts'
import { logPatterns } from '../log-patterns.ts'
import { logView } from '../log-view.ts'
import type { RequestFacts } from '../request-facts.ts'

export const b09: Check = {
  meta: {
    id: 'B09',
    severity: 'warning',
    title: 'No old request stands in the way of a bootstrapping node',
    failureTitle: 'An old request has the name that a bootstrapping node asks by',
    symptom: '"retrieved csr is not compatible"; the node makes no request and never joins.',
    description:
      'A kubelet that bootstraps names its request by a hash of key, subject and usages. Where a request of that name is there already it waits for that one, unless it is another request or its certificate has ended: then it stops.',
    remedy: 'Delete the old request; the node asks again.',
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }, now) =>
        requests.flatMap(request => {
          const obstacle = named.test(request.name) ? obstacleIn(request, now) : undefined
          if (obstacle === undefined) return []
          const { name, node } = request
          return {
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [{ value: obstacle, source: `CertificateSigningRequest ${name}` }],
            cause: 'A kubelet whose request has this name cannot use what is there.',
            fix: [deleteRequest(name)],
            verify: watchRequests,
          }
        }),
    }),
    logView(logPatterns.B09, {
      cause: 'The kubelet found a request of the name that it asks by, and cannot use it.',
      fix: [
        {
          run: 'kubectl get csr --sort-by=.metadata.creationTimestamp',
          purpose: 'delete the one that the line names; the node asks again',
        },
      ],
      verify: watchRequests,
    }),
  ],
}

/** K-22: the SHA-512/256 in base64url has 43 characters. */
const named = /^node-csr-[\w-]{43}$/

/** K-23: what makes it one that a kubelet with this name cannot take for its own. */
function obstacleIn({ csr, issued, name }: RequestFacts, now: number): string | undefined {
  if (csr.spec.signerName !== signerNames.kubeletClient) return undefined
  if (issued?.ok && now > issued.value.notAfter)
    return `its certificate ended at ${formatTime(issued.value.notAfter)}, and nobody deleted it`
  const reading = readSpecRequest(csr)
  if (!reading.ok) return undefined
  const { subject, spki } = reading.value
  const own = requestName(spki, commonName(subject) ?? '', organizations(subject), csr.spec.usages ?? [])
  return own === name ? undefined : `its key, subject and usages make the name ${own}`
}

/** K-22: the name that a kubelet gives a request of its bootstrap. */
export function requestName(
  spki: Uint8Array,
  name: string,
  groups: readonly string[],
  usages: readonly string[],
): string {
  const hash = createHash('sha512-256')
  const encode = (item: Uint8Array) => Buffer.from(item).toString('base64url')
  for (const item of [spki, ...[name, ...groups, ...usages].map(text => Buffer.from(text))])
    hash.update(`${encode(item)}|`)
  return `node-csr-${hash.digest('base64url')}`
}
