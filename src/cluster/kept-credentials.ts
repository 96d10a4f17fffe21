import type { KubeClient } from '../kube/client.ts'
import { ensureBootstrapKubeconfig } from './bootstrap-kubeconfig.ts'
import type { Cleanups, ControlPlaneOptions } from './control-plane-options.ts'
import { openPki, type Pki } from './pki.ts'
import { startRepeatedWork } from './repeated-work.ts'
import type { EmbeddedTrust } from './rollover/embedded-trust.ts'
import type { OwnCredentials } from './rollover/own-credentials.ts'

/** Mints the bootstrap token now, and again whenever half its life is over. Resolves with how to look at once. */
export async function keepBootstrapKubeconfig(
  server: string,
  trust: EmbeddedTrust,
  client: KubeClient,
  { directory, disk, clock, random, log }: ControlPlaneOptions,
  cleanups: Cleanups,
): Promise<() => Promise<void>> {
  const path = directory.bootstrapKubeconfig
  const work = () => {
    const certificateAuthority = trust.inSink('apiserver-serving', 'bootstrap.kubeconfig')
    return ensureBootstrapKubeconfig({ path, server, certificateAuthority, client, disk, clock, random })
  }
  const failure = `the bootstrap token in ${path} cannot be renewed`
  const kept = startRepeatedWork({ clock, log, first: await work(), work, failure })
  cleanups.push(() => kept.stop())
  return async () => void (await work())
}

const HOUR = 3_600_000

/** Looks once an hour whether a leaf is due; a new one serves new connections, and is shown to kubelets, at once. */
export function keepLeaves(
  pki: Pki,
  trust: EmbeddedTrust,
  own: OwnCredentials['leaves'],
  { clock, log }: ControlPlaneOptions,
  pkiOptions: Parameters<typeof openPki>[0],
  cleanups: Cleanups,
): void {
  async function work(): Promise<number> {
    const { apiserver, apiserverKubeletClient } = await openPki(pkiOptions)
    pki.apiserver = apiserver
    await trust.keepLeaves()
    if (trust.role('client').sign.authority === 1) pki.apiserverKubeletClient = apiserverKubeletClient
    else await own['apiserver-kubelet-client']?.renew()
    return HOUR
  }
  const failure = 'the certificates of the API cannot be renewed'
  const kept = startRepeatedWork({ clock, log, first: HOUR, work, failure })
  cleanups.push(() => kept.stop())
}
