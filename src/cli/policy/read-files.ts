/** Policies, requests, Nodes and inventories that people name on the command line. */
import { readFile } from 'node:fs/promises'
import { LineCounter, parseAllDocuments } from 'yaml'
import { Inventory } from '../../approve/inventory/inventory.ts'
import { parseInventory } from '../../approve/inventory/parse-inventory.ts'
import { readRequest } from '../../approve/read-request.ts'
import { subjectNode } from '../../approve/subject-node.ts'
import { RollcallError, systemCode } from '../../errors.ts'
import { isRecord } from '../../kube/json.ts'
import {
  type CertificateSigningRequest,
  type KubeNode,
  type KubeObject,
  signerNames,
} from '../../kube/types.ts'
import { commonNames } from '../../x509/name.ts'
import { printable } from '../printable.ts'

/** Throws USAGE naming the file. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('USAGE', `${path} cannot be read (${why}).`, { path }, { cause })
  }
}

/** Its documents. Throws USAGE without the text around what is wrong: it may be a secret, or move the cursor. */
function valuesOf(text: string, path: string): unknown[] {
  const lineCounter = new LineCounter()
  const noYaml = (why: string) =>
    new RollcallError('USAGE', `${path} is no YAML: ${printable(why)}`, { path })
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false })
  return (Array.isArray(documents) ? documents : []).map(document => {
    const [error] = document.errors
    if (error) throw noYaml(`line ${lineCounter.linePos(error.pos[0]).line}: ${error.message}`)
    try {
      return document.toJS({ maxAliasCount: 0 }) as unknown
    } catch (error) {
      throw noYaml(error instanceof Error ? error.message : String(error))
    }
  })
}

type Fields = Readonly<Record<string, unknown>>

const isText = (value: unknown) => typeof value === 'string'
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText)

/** What an object of each kind lacks that is looked at without more ado. */
const lacking = {
  Node({ metadata, status }: Fields) {
    const { name } = metadata as Fields
    const { addresses = [] } = isRecord(status) ? status : {}
    const good = (address: unknown) => isRecord(address) && isText(address.type) && isText(address.address)
    if (!isText(name)) return 'metadata.name'
    return Array.isArray(addresses) && addresses.every(good) ? undefined : 'readable status.addresses'
  },
  CertificateSigningRequest({ metadata, spec }: Fields) {
    if (!isText((metadata as Fields).name)) return 'metadata.name'
    if (!isRecord(spec)) return 'spec'
    const { request, signerName, usages, groups = [] } = spec
    if (!isText(request)) return 'spec.request'
    if (!isText(signerName)) return 'spec.signerName'
    return isTexts(usages) && isTexts(groups) ? undefined : 'readable spec.usages and spec.groups'
  },
}

/** The objects of a kind in YAML or JSON, lists taken apart. Throws USAGE for a file without any. */
function objectsOf<T extends KubeObject>(text: string, path: string, kind: keyof typeof lacking): T[] {
  const values = valuesOf(text, path).flatMap(value =>
    isRecord(value) && Array.isArray(value.items) ? (value.items as unknown[]) : [value],
  )
  const found = values.filter(
    (value): value is T => isRecord(value) && value.kind === kind && isRecord(value.metadata),
  )
  if (found.length === 0) throw new RollcallError('USAGE', `${path} holds no ${kind}.`, { path })
  for (const object of found) {
    const what = lacking[kind](object as unknown as Fields)
    if (what) throw new RollcallError('USAGE', `${path} holds a ${kind} without ${what}.`, { path })
  }
  return found
}

export async function readNodes(path: string): Promise<KubeNode[]> {
  return objectsOf<KubeNode>(await readText(path), path, 'Node')
}

/** CertificateSigningRequests, or a bare PEM, which is taken as the kubelet's own serving request. */
export async function readRequests(path: string): Promise<CertificateSigningRequest[]> {
  const text = await readText(path)
  if (!text.includes('-----BEGIN ') || /^kind:/m.test(text))
    return objectsOf<CertificateSigningRequest>(text, path, 'CertificateSigningRequest')
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: path },
    spec: {
      request: Buffer.from(text).toString('base64'),
      signerName: signerNames.kubeletServing,
      usages: ['digital signature', 'server auth'],
      groups: ['system:nodes', 'system:authenticated'],
    },
  }
  const { request } = readRequest(csr)
  const node = request && subjectNode(request)
  const username =
    node === undefined ? (request ? commonNames(request.subject)[0] : undefined) : `system:node:${node}`
  return [{ ...csr, spec: { ...csr.spec, ...(username && { username }) } }]
}

/** An inventory as a file has it, or in the data of a ConfigMap. Throws INVENTORY_INVALID. */
export async function readInventoryFile(path: string): Promise<Inventory> {
  const text = await readText(path)
  const [value] = valuesOf(text, path)
  const data = isRecord(value) && value.kind === 'ConfigMap' && isRecord(value.data) ? value.data : undefined
  const texts = data
    ? Object.fromEntries(Object.entries(data).map(([key, content]) => [key, String(content)]))
    : { [path]: text }
  const inventory = new Inventory(`inventory ${path}`)
  inventory.read(parseInventory(texts))
  return inventory
}
