import type { Registry } from 'prom-client'
import type { Access } from '../apiserver/access/access.ts'
import { createTokenIssuer } from '../apiserver/access/authentication/service-account/token-issuer.ts'
import { createAccess } from '../apiserver/access/create-access.ts'
import type { Api } from '../apiserver/api.ts'
import { createApi } from '../apiserver/create-api.ts'
import { createApiMetrics } from '../apiserver/metrics/prometheus.ts'
import { createObjectReader } from '../apiserver/object-reader.ts'
import type { ObjectReader } from '../apiserver/reader.ts'
import { allResources } from '../apiserver/resources/index.ts'
import type { Store } from '../apiserver/storage/store.ts'
import { kubeadmAddressTypes } from '../apiserver/tunnel/kubelet-address.ts'
import { createTunnelMetrics } from '../apiserver/tunnel/tunnel-metrics.ts'
import { createTunnels } from '../apiserver/tunnel/tunnels.ts'
import { type ServedLedger, servedLedgerPath } from '../sign/served-ledger.ts'
import { openAuditLog } from './audit-log.ts'
import type { Cleanups, ControlPlaneOptions } from './control-plane-options.ts'
import type { Pki } from './pki.ts'
import type { EmbeddedTrust } from './rollover/embedded-trust.ts'
import { witnessed } from './rollover/witnessed-access.ts'
import type { SqliteLedger } from './sqlite-ledger.ts'

/** What the API shows and judges by, once it is open. */
export interface Held {
  ledger?: SqliteLedger
  trust?: EmbeddedTrust
}

/** The API over the store, not yet listening. `opened` tells it where it is reached, and that its roles are there. */
export function openApi(
  store: Store,
  pki: Pki,
  metrics: Registry,
  { directory, clock, random, log }: ControlPlaneOptions,
  cleanups: Cleanups,
  held: Held,
): { api: Api; access: Access; reader: ObjectReader; opened(server: string): void } {
  const audit = openAuditLog(directory.auditLog, log)
  cleanups.push(() => audit.close())
  const reader = createObjectReader(store)
  const tokenIssuer = createTokenIssuer({ signer: pki.serviceAccount })
  const bare = createAccess({ reader, clock, clientCertificateAuthorities: pki.ca.pem, log, tokenIssuer })
  const access = witnessed(bare, () => held.trust?.seen, clock)
  let address: string | undefined
  const api = createApi({
    store,
    access,
    resources: allResources,
    reader,
    clock,
    random,
    log,
    audit: audit.sink,
    tokens: { issuer: tokenIssuer, server: () => address ?? '' },
    metrics: createApiMetrics(metrics),
    // Unlike kube-apiserver by default, a kubelet that cannot prove its address is not spoken with.
    tunnels: createTunnels({
      clock,
      reader,
      clientCertificate: () => pki.apiserverKubeletClient,
      certificateAuthority: () => held.trust?.judgedBy('kubelet-serving') ?? pki.ca.pem,
      addressTypes: kubeadmAddressTypes,
      metrics: createTunnelMetrics(metrics),
    }),
    readyChecks: {
      'poststarthook/rbac/bootstrap-roles': () => (address === undefined ? 'not finished' : undefined),
    },
    views: { [servedLedgerPath]: (): ServedLedger => held.ledger?.newest() ?? { data: {} } },
  })
  cleanups.push(() => api.close())
  return {
    api,
    access,
    reader,
    opened: server => {
      address = server
    },
  }
}
