/** What stands around the nodes of a cluster, as far as it may be read: its CAs, who decides, what nodes serve. */
import { hasCode } from '../errors.ts'
import { isStatus, type KubeClient, listAll } from '../kube/client.ts'
import { formatTime } from '../kube/time-format.ts'
import { type ConfigMap, type Lease, resources } from '../kube/types.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { formatName } from '../x509/name.ts'
import { type ControllerLease, controllerLease, isControllerLease } from './csr-facts.ts'
import { type PublishedProbes, readPublishedProbes, seenLately } from './serving-probes/published-probes.ts'
import { type ServingState, servingState } from './serving-probes/serving-state.ts'

export interface ServingSeen {
  node: string
  host: string
  port: number
  state: ServingState
  /** RFC 3339. */
  at: string
}

export interface Surroundings {
  /** Those of kube-root-ca.crt in namespace default; absent: it may not be read, or there is none. */
  authorities?: { name: string /** RFC 3339. */; notAfter: string }[]
  /** Programs that approve and sign, by their Leases; absent: those may not be read. */
  controllers?: ControllerLease[]
  /** What a controller saw that probes nodes; absent: none does, or that may not be read. */
  serving?: ServingSeen[]
}

/** `now` in milliseconds since the epoch. */
export async function gatherSurroundings(client: KubeClient, now: number): Promise<Surroundings> {
  const root = { name: 'kube-root-ca.crt', namespace: 'default' }
  const [bundle, leases, probes] = await Promise.all([
    readable(client.get<ConfigMap>(resources.configMaps, root)),
    readable(listAll<Lease>(client, resources.leases, { namespace: 'kube-system' })),
    readable(readPublishedProbes(client)),
  ])
  const authorities = authoritiesIn(bundle?.data?.['ca.crt'])
  const controllers = leases?.items.filter(isControllerLease).map(lease => controllerLease(lease, now))
  return {
    ...(authorities && { authorities }),
    ...(controllers && { controllers }),
    ...(probes && { serving: servingSeen(probes, now) }),
  }
}

async function readable<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isStatus(error, 'Forbidden') || isStatus(error, 'NotFound')) return undefined
    throw error
  }
}

/** Undefined for a text that holds no certificates: whose bundle it is may have written anything. */
function authoritiesIn(pem = ''): Surroundings['authorities'] {
  try {
    return parseCertificatesPem(pem).map(({ subject, notAfter }) => ({
      name: formatName(subject),
      notAfter: formatTime(notAfter),
    }))
  } catch (error) {
    if (!hasCode(error, 'X509_MALFORMED') && !hasCode(error, 'X509_UNSUPPORTED_KEY')) throw error
    return undefined
  }
}

function servingSeen(probes: PublishedProbes, now: number): ServingSeen[] {
  return seenLately(probes, now).map(({ node, host, port, at, ...seen }) => ({
    ...{ node, host, port, at },
    state: servingState(seen, host, now),
  }))
}
