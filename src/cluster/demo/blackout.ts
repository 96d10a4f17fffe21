import { join } from 'node:path'
import { systemCode } from '../../errors.ts'
import { keyMatches, loadSigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../../kube/types.ts'
import { sleep } from '../../ports.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { hostPorts } from '../host-ports.ts'
import { readIfThere, replaceFile } from '../pki-files.ts'
import { clientOf, type RunningUpFiles } from './running-up.ts'

export interface BlackoutReport {
  /** What happened, for people. */
  onEvent(text: string): void
}

const prefixes = ['kubelet-client', 'kubelet-server'] as const
const minute = 60_000

/**
 * Makes every certificate of the fleet lapse for real: each pair on disk is replaced by one for the same key that ended a
 * minute ago (signed by the cluster's CA, as if the machines had been off for a day), and the fleet's process is
 * killed. `up` starts it again, the nodes find lapsed certificates and go back to their bootstrap credential.
 * Resolves when each node holds two new certificates on its disk.
 */
export async function runBlackout(
  up: RunningUpFiles,
  names: readonly string[],
  report: BlackoutReport,
): Promise<void> {
  const { client, transport } = await clientOf(up.paths.adminKubeconfig)
  try {
    const list = await client.list<CertificateSigningRequest>(resources.certificateSigningRequests, {
      limit: 1,
    })
    const ca = await readCa(up.paths.pki)
    let lapsed = 0
    for (const name of names) lapsed += await lapsePairs(join(up.paths.nodes, name, 'pki'), ca)
    process.kill(up.fleetProcess, 'SIGKILL')
    report.onEvent(`${lapsed} certificates of ${names.length} nodes have lapsed, and the machines lost power`)
    await untilRecovered(client, names, list.metadata.resourceVersion, report)
    for (const name of names) await untilHeld(join(up.paths.nodes, name, 'pki'))
  } finally {
    transport.closeConnections()
  }
}

async function readText(path: string): Promise<string> {
  return new TextDecoder().decode(await hostPorts.disk.read(path))
}

async function readCa(directory: string) {
  const [certificate] = parseCertificatesPem(await readText(join(directory, 'ca.crt')))
  const signer = loadSigner(new Secret(await readText(join(directory, 'ca.key'))))
  if (!certificate || !keyMatches(signer, certificate))
    throw new RangeError(`${directory}: ca.crt and ca.key do not fit`)
  return { certificate, signer }
}

/** Names in the folder; a node that has not joined yet has none. */
async function listIfThere(directory: string): Promise<string[]> {
  try {
    return await hostPorts.disk.list(directory)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Replaces what `PREFIX-current.pem` points to; a node that holds none is left alone. Returns how many lapsed. */
async function lapsePairs(directory: string, ca: Awaited<ReturnType<typeof readCa>>): Promise<number> {
  const files = new Set(await listIfThere(directory))
  const held = prefixes.filter(prefix => files.has(`${prefix}-current.pem`))
  for (const prefix of held) {
    const link = join(directory, `${prefix}-current.pem`)
    const target = join(directory, '.', (await hostPorts.disk.readlink(link)).split('/').at(-1) ?? '')
    await replaceFile(hostPorts.disk, target, await lapsedPair(await readText(target), ca), 0o600)
    // Older pairs would be fallen back to; a machine that was off for a day has none that is still good.
    const older = [...files].filter(
      name => name.startsWith(`${prefix}-`) && !name.includes('current') && !target.endsWith(name),
    )
    for (const name of older) await hostPorts.disk.remove(join(directory, name))
  }
  return held.length
}

/** A certificate that was issued is not yet one that the node holds: resolves when both pairs on the disk are valid. */
async function untilHeld(directory: string): Promise<void> {
  for (const prefix of prefixes) {
    for (;;) {
      const pem = await readIfThere(hostPorts.disk, join(directory, `${prefix}-current.pem`))
      const [leaf] = parseCertificatesPem(pem ?? '')
      if (leaf && leaf.notAfter > hostPorts.clock.now()) break
      await sleep(hostPorts.clock, 20)
    }
  }
}

async function lapsedPair(pair: string, ca: Awaited<ReturnType<typeof readCa>>): Promise<string> {
  const [leaf] = parseCertificatesPem(pair)
  const key = loadSigner(pair)
  if (!leaf) throw new RangeError('a pair without a certificate')
  const now = hostPorts.clock.now()
  const certificate = await issueCertificate({
    ca,
    subject: leaf.subject,
    spki: leaf.spki,
    notBefore: now - 24 * 60 * minute,
    notAfter: now - minute,
    random: hostPorts.random,
    extensions: extensionsOf(leaf),
  })
  return certificate + key.exportPem().reveal()
}

function extensionsOf(leaf: Certificate) {
  const { keyUsage = [], extendedKeyUsage = [], subjectAltName } = leaf
  return { keyUsage, extendedKeyUsage, subjectAltName }
}

/** Follows the requests from `resourceVersion` on until each node was issued both certificates. */
async function untilRecovered(
  client: KubeClient,
  names: readonly string[],
  resourceVersion: string | undefined,
  report: BlackoutReport,
): Promise<void> {
  const abort = new AbortController()
  const back: Record<string, Set<string>> = {
    [signerNames.kubeletClient]: new Set<string>(),
    [signerNames.kubeletServing]: new Set<string>(),
  }
  const options = { ...(resourceVersion !== undefined && { resourceVersion }), signal: abort.signal }
  for await (const { object } of client.watch<CertificateSigningRequest>(
    resources.certificateSigningRequests,
    options,
  )) {
    const nodes = back[object.spec.signerName]
    const [certificate] = parseCertificatesPem(
      Buffer.from(object.status?.certificate ?? '', 'base64').toString(),
    )
    const name =
      certificate &&
      names.find(name => certificate.subject.rdns.flat().some(({ value }) => value === `system:node:${name}`))
    if (!nodes || name === undefined || nodes.has(name)) continue
    nodes.add(name)
    const kind = object.spec.signerName === signerNames.kubeletClient ? 'client' : 'serving'
    if (nodes.size === names.length) {
      const how =
        kind === 'client'
          ? `requested as ${object.spec.username?.split(':').slice(0, 2).join(':')}, the bootstrap token`
          : ''
      report.onEvent(`${nodes.size}/${names.length} ${kind} certificates are back${how && `, ${how}`}`)
    }
    if (Object.values(back).every(set => set.size === names.length)) break
  }
  abort.abort()
}
