import { Histogram, type Registry } from 'prom-client'
import { RollcallError } from '../../errors.ts'
import { parseCertificate } from '../../x509/certificate.ts'
import type { AnsweredRequest } from './api-metrics.ts'

/** kube-apiserver's: none left, half an hour … a year. Seconds. */
const buckets = [
  0, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000,
  31_104_000,
]

/** Observes the life that is left in the certificate of each request that was authenticated by it. */
export function certificateExpiration(registry: Registry): (request: AnsweredRequest) => void {
  const histogram = new Histogram({
    name: 'apiserver_client_certificate_expiration_seconds',
    help: 'Distribution of the remaining lifetime on the certificate used to authenticate a request.',
    buckets,
    registers: [registry],
  })
  /** A connection gives the same bytes with each request. */
  const ends = new WeakMap<Uint8Array, number>()
  return ({ identity, certificate, received }) => {
    const user = identity?.impersonatedBy ?? identity?.user
    const [credential] = user?.extra?.['authentication.kubernetes.io/credential-id'] ?? []
    if (!certificate || !credential?.startsWith('X509SHA256=')) return
    let notAfter = ends.get(certificate)
    if (notAfter === undefined) {
      notAfter = endOf(certificate)
      ends.set(certificate, notAfter)
    }
    histogram.observe((notAfter - received) / 1000)
  }
}

/** Milliseconds since the epoch. Access has read the certificate before, so it can be read; if not, it counts as lapsed. */
function endOf(certificate: Uint8Array): number {
  try {
    return parseCertificate(certificate).notAfter
  } catch (error) {
    if (error instanceof RollcallError) return 0
    throw error
  }
}
