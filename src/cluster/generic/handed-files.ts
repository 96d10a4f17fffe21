/** Files of this machine that hooks are handed: chains with their keys, and bundles. In a folder for the controller alone. */
import { join } from 'node:path'
import type { Clock, Disk, Random } from '../../ports.ts'
import type { ChainMode } from '../../rollover/observations.ts'
import { probeName } from '../../trust/node-orders.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { formatIp } from '../../x509/ip.ts'
import { commonName } from '../../x509/name.ts'
import { issuePair } from '../issue-pair.ts'
import { readIfThere, replaceFile, writePair } from '../pki-files.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import type { Presented } from './api-servers.ts'

export interface HandedFiles {
  directory: string
  cas: CaStore
  disk: Disk
  clock: Clock
  random: Random
}

/** Milliseconds: as kubeadm's. */
const leafLifetime = 365 * 86_400_000
const renewBefore = leafLifetime / 3

/**
 * Paths of the chain of this CA for one API server and of its key: a certificate with the names that the server has now. It
 * is made once; a leaf that has little of its life left is made anew.
 */
export async function chainFiles(
  server: string,
  shown: Presented,
  { authority, mode }: { authority: number; mode: ChainMode },
  { directory, cas, disk, clock, random }: HandedFiles,
): Promise<{ certificate: string; key: string }> {
  const role = 'apiserver-serving'
  const folder = join(directory, 'chains')
  await disk.makeDirectory(folder, 0o700)
  const leaf = join(folder, `${server}-${authority}.crt`)
  const key = join(folder, `${server}-${authority}.key`)
  const [known] = parseCertificatesPem((await readIfThere(disk, leaf)) ?? '')
  const ca = cas.authority(role, authority)
  if (!ca) throw new RangeError(`there is no CA ${authority} for API servers`)
  const names = shown.leaf.subjectAltName
  const fits =
    known !== undefined &&
    known.notAfter - clock.now() > Math.min(renewBefore, (ca.certificate.notAfter - clock.now()) / 2) &&
    JSON.stringify(namesIn(known.subjectAltName)) === JSON.stringify(namesIn(names))
  if (!fits) {
    const pair = await issuePair(
      ca,
      {
        commonName: commonName(shown.leaf.subject) || 'kube-apiserver',
        organizations: [],
        usage: 'server auth',
        ...namesIn(names),
        lifetime: leafLifetime,
        now: clock.now(),
      },
      random,
    )
    await writePair(disk, { certificate: leaf, key }, pair)
  }
  const cross = mode === 'bridged' ? cas.newestCross(role, authority) : ''
  if (cross === undefined) throw new RangeError(`CA ${authority} is signed by no other`)
  const chain = join(folder, `${server}-${authority}-${mode}.crt`)
  await replaceFile(disk, chain, `${(await readIfThere(disk, leaf)) ?? ''}${cross}`, 0o644)
  return { certificate: chain, key }
}

/** The same for the bare chain that a server shows to who asks for it by name: it has that name and no other. */
export async function probeFiles(
  authority: number,
  { directory, cas, disk, clock, random }: HandedFiles,
): Promise<{ certificate: string; key: string }> {
  const folder = join(directory, 'chains')
  await disk.makeDirectory(folder, 0o700)
  const files = {
    certificate: join(folder, `probe-${authority}.crt`),
    key: join(folder, `probe-${authority}.key`),
  }
  const [known] = parseCertificatesPem((await readIfThere(disk, files.certificate)) ?? '')
  const ca = cas.authority('apiserver-serving', authority)
  if (!ca) throw new RangeError(`there is no CA ${authority} for API servers`)
  if (known && known.notAfter - clock.now() > renewBefore) return files
  const name = probeName(authority)
  const identity = { commonName: name, organizations: [], usage: 'server auth', dnsNames: [name] } as const
  const pair = await issuePair(ca, { ...identity, lifetime: leafLifetime, now: clock.now() }, random)
  await writePair(disk, files, pair)
  return files
}

function namesIn({ dnsNames, ipAddresses }: Presented['leaf']['subjectAltName']) {
  return { dnsNames: [...dnsNames], ipAddresses: ipAddresses.map(formatIp) }
}

/** Path of a file with these CAs (PEM). */
export async function bundleFile(
  name: string,
  pem: string,
  { directory, disk }: Pick<HandedFiles, 'directory' | 'disk'>,
): Promise<string> {
  const folder = join(directory, 'bundles')
  await disk.makeDirectory(folder, 0o700)
  const path = join(folder, `${name.replace(/[^A-Za-z0-9._-]/g, '-')}.crt`)
  await replaceFile(disk, path, pem, 0o644)
  return path
}
