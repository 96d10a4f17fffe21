/** The places that consumers take trust from, each written by bundle and read back by content. */
import type { ObjectReader } from '../../apiserver/reader.ts'
import { parseKubeconfig, selectContext } from '../../kube/kubeconfig.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type ConfigMap, type Namespace, resources, type Secret } from '../../kube/types.ts'
import type { Disk } from '../../ports.ts'
import type { SinkFacts } from '../../rollover/observations.ts'
import { apiServerBundle, type ClusterTrustBundle } from '../../trust/cluster-trust-bundle.ts'
import { rootCaName } from '../../trust/root-ca.ts'
import { authoritiesInTokens } from '../../trust/token-secrets.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { readIfThere } from '../pki-files.ts'
import type { CaStore } from './ca-store.ts'
import type { RoleState } from './role-state.ts'

export interface TrustSink {
  role: TrustRole
  id: string
  /** Whether machines take their first trust from it. */
  seed: boolean
  /** PEM that is there, in each of its copies. */
  read(): Promise<readonly string[]>
  /** Writes what `pem` says. */
  write(pem: string): Promise<void>
}

export interface SinkParts {
  reader: ObjectReader
  disk: Disk
  paths: { adminKubeconfig: string; bootstrapKubeconfig: string }
  /** Rewrite a place with these CAs (PEM). */
  writers: {
    rootCa(pem: string): void
    tokenSecrets(pem: string): Promise<void>
    clusterInfo(pem: string): Promise<void>
    bootstrapKubeconfig(pem: string): Promise<void>
    adminKubeconfig(pem: string): Promise<void>
    clientCas(pem: string): Promise<void>
    trustBundle(pem: string): Promise<void>
  }
}

export function trustSinks({ reader, disk, paths, writers }: SinkParts): TrustSink[] {
  const kubeconfig = async (text: string | undefined) => {
    const authority = text && selectContextOf(text)
    return [authority && 'data' in authority ? authority.data.reveal() : '']
  }
  const configMap = (name: string, namespace: string) =>
    reader.get<ConfigMap>(resources.configMaps, name, namespace)
  const role = 'apiserver-serving'
  return [
    {
      role,
      id: rootCaName,
      seed: false,
      async read() {
        const namespaces = reader.list<Namespace>(resources.namespaces)
        const active = namespaces.filter(({ status }) => (status?.phase ?? 'Active') === 'Active')
        return active.map(({ metadata }) => configMap(rootCaName, metadata.name)?.data?.['ca.crt'] ?? '')
      },
      write: async pem => writers.rootCa(pem),
    },
    {
      role,
      id: 'service-account-tokens',
      seed: false,
      read: async () => authoritiesInTokens(reader.list<Secret>(resources.secrets)),
      write: writers.tokenSecrets,
    },
    {
      role,
      id: 'ClusterTrustBundle',
      seed: false,
      async read() {
        const stored = reader.get<ClusterTrustBundle>(resources.clusterTrustBundles, apiServerBundle.name)
        return [stored?.spec.trustBundle ?? '']
      },
      write: writers.trustBundle,
    },
    {
      role,
      id: 'admin.kubeconfig',
      seed: false,
      read: async () => kubeconfig(await readIfThere(disk, paths.adminKubeconfig)),
      write: writers.adminKubeconfig,
    },
    {
      role,
      id: 'cluster-info',
      seed: true,
      read: async () => [authorityIn(configMap('cluster-info', 'kube-public')?.data?.kubeconfig ?? '')],
      write: writers.clusterInfo,
    },
    {
      role,
      id: 'bootstrap.kubeconfig',
      seed: true,
      read: async () => kubeconfig(await readIfThere(disk, paths.bootstrapKubeconfig)),
      write: writers.bootstrapKubeconfig,
    },
    {
      role: 'client',
      id: 'extension-apiserver-authentication',
      seed: false,
      read: async () => [
        configMap('extension-apiserver-authentication', 'kube-system')?.data?.['client-ca-file'] ?? '',
      ],
      write: writers.clientCas,
    },
  ]
}

/** What is there: a bundle counts only where every copy says exactly what it says. */
export async function sinkFacts(
  sink: TrustSink,
  { sinks, bundle }: Pick<RoleState, 'sinks' | 'bundle'>,
  bundles: ReadonlyMap<number, { anchors: readonly number[] }>,
  cas: CaStore,
): Promise<SinkFacts> {
  const { role, id, seed } = sink
  const copies = (await sink.read()).map(pem => anchorsIn(pem, role, cas))
  const generation = sinks[id] ?? bundle
  const wanted = bundles.get(generation)?.anchors ?? []
  const fits = copies.every(({ known, foreign }) => foreign === 0 && sameSet(known, wanted))
  // Where there is no copy, nobody takes anything else from it.
  const [first = wanted, ...others] = copies.map(({ known }) => known)
  const common = first.filter(authority => others.every(copy => copy.includes(authority)))
  return { id, seed, generation: fits ? generation : 0, anchors: common }
}

function anchorsIn(pem: string, role: TrustRole, cas: CaStore): { known: number[]; foreign: number } {
  const found = certificatesIn(pem).map(der => cas.generationOf(role, der))
  const known = found.filter(generation => generation !== undefined)
  return { known, foreign: found.length - known.length }
}

function certificatesIn(pem: string): Uint8Array[] {
  try {
    return parseCertificatesPem(pem).map(({ raw }) => raw)
  } catch {
    return [] // spoiled: it holds none of ours, which closes the gate and has it written anew
  }
}

/** PEM in a kubeconfig without a context, as cluster-info has it. */
function authorityIn(text: string): string {
  const data = /^ *certificate-authority-data: (\S+)$/m.exec(text)?.[1] ?? ''
  return Buffer.from(data, 'base64').toString()
}

function selectContextOf(text: string) {
  try {
    return selectContext(parseKubeconfig(text, 'a place of trust')).cluster.certificateAuthority
  } catch {
    return undefined
  }
}

function sameSet(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every(entry => other.includes(entry))
}
