import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Containerd } from './containerd.ts'

const debianPlugins = '/usr/lib/cni'

/** Why pods cannot have a network here; false: they can. */
export const noPodNetwork: string | false =
  !existsSync(join(debianPlugins, 'ptp')) &&
  `needs ${debianPlugins}/ptp (Debian: containernetworking-plugins)`

/** Addresses that no machine on the way has (RFC 5737). */
export const podSubnet = '198.51.100.0/24'

/** A pair of interfaces for each pod, between it and the machine; nothing beyond is reached. */
export function setUpPodNetwork({ network: { plugins, configuration } }: Containerd): void {
  mkdirSync(plugins, { recursive: true })
  for (const name of ['ptp', 'host-local', 'loopback', 'portmap'])
    symlinkSync(join(debianPlugins, name), join(plugins, name))
  mkdirSync(configuration, { recursive: true })
  const ipam = { type: 'host-local', subnet: podSubnet, dataDir: join(dirname(plugins), 'addresses') }
  const list = { cniVersion: '0.4.0', name: 'rollcall-test', plugins: [{ type: 'ptp', ipam }] }
  writeFileSync(join(configuration, '10-rollcall-test.conflist'), JSON.stringify(list))
}
