import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type KubeClient, listAll } from '../../src/kube/client.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../../src/kube/types.ts'
import { type Certificate, parseCertificatesPem } from '../../src/x509/certificate.ts'
import { commonNames } from '../../src/x509/name.ts'
import { heldPairs, kinds, nodeNames } from '../support/data-folder.ts'
import { openssl, opensslVerify } from '../support/openssl.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Most files of one kind of pair: current, the pair it names, the one before, and what a crash during a write leaves. */
const MOST_FILES_OF_A_KIND = 5

/** What must hold of a directory whose `up` is ready, however often it was killed before. Throws AssertionError. */
export async function judge(directory: string, nodes: number, client: KubeClient): Promise<void> {
  assert.equal(nodeNames(directory).length, nodes)
  const requests = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests)
  const issued = judgeRequests(requests.items)
  await judgePairs(directory, new Set(issued.map(({ raw }) => hex(raw))))
  const { items } = await listAll<KubeNode>(client, resources.nodes)
  assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), nodeNames(directory))
  for (const node of items) await judgeServing(directory, node)
  judgeLeftovers(directory)
}

/** Nothing was issued without approval, no serial twice, and no key in two names. Returns what was issued. */
function judgeRequests(requests: readonly CertificateSigningRequest[]): Certificate[] {
  const issued = requests.flatMap(({ metadata, status }) => {
    if (!status?.certificate) return []
    const types = status.conditions?.map(({ type }) => type) ?? []
    assert.ok(types.includes('Approved') && !types.includes('Denied'), `${metadata.name}: ${types}`)
    return parseCertificatesPem(Buffer.from(status.certificate, 'base64').toString()).slice(0, 1)
  })
  const serials = issued.map(({ serialNumber }) => hex(serialNumber))
  assert.equal(new Set(serials).size, serials.length, 'a serial number was given twice')
  const names = new Map<string, string>()
  for (const { subject, spki } of issued) {
    const name = commonNames(subject).join()
    assert.equal(names.get(hex(spki)) ?? name, name, 'one key was certified in two names')
    names.set(hex(spki), name)
  }
  return issued
}

/** openssl accepts each pair on disk; it is the node's own, known to the API, and no key is another's. */
async function judgePairs(directory: string, issued: ReadonlySet<string>): Promise<void> {
  const pairs = heldPairs(directory)
  for (const { node, kind, pem, certificate } of pairs) {
    const purpose = kind === 'kubelet-client' ? 'sslclient' : 'sslserver'
    const { code, output } = await opensslVerify(pem, join(directory, 'pki/ca.crt'), purpose)
    assert.equal(code, 0, `${node} ${kind}: ${output}`)
    assert.deepEqual(commonNames(certificate.subject), [`system:node:${node}`], `${node} ${kind}`)
    assert.ok(issued.has(hex(certificate.raw)), `${node} holds a ${kind} that the API does not know`)
  }
  const keys = new Set(pairs.map(({ certificate }) => hex(certificate.spki)))
  assert.equal(keys.size, pairs.length, 'two pairs share a key')
}

/** The node answers where its Node object says, with its own name and address. */
async function judgeServing(directory: string, { metadata, status }: KubeNode): Promise<void> {
  const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? ''
  const endpoint = `${address}:${status?.daemonEndpoints?.kubeletEndpoint?.Port}`
  const verify = ['-verify_return_error', '-verify_ip', address, '-verify_hostname', metadata.name]
  const ca = ['-CAfile', join(directory, 'pki/ca.crt')]
  const { code, output } = await openssl(['s_client', '-connect', endpoint, ...ca, ...verify])
  assert.equal(code, 0, `${metadata.name} at ${endpoint}: ${output}`)
}

function judgeLeftovers(directory: string): void {
  for (const node of nodeNames(directory)) {
    const folder = join(directory, 'nodes', node)
    const files = readdirSync(join(folder, 'pki'))
    for (const kind of kinds) {
      const ofKind = files.filter(name => name.startsWith(kind))
      assert.ok(ofKind.length <= MOST_FILES_OF_A_KIND, `${node} piles up files: ${ofKind}`)
    }
    assert.deepEqual(
      readdirSync(dirname(folder)).filter(name => name.endsWith('.new')),
      [],
    )
  }
}
