/** Policies, requests, Nodes and inventories that people name on the command line. */
import { readFile } from 'node:fs/promises'
import { parseAllDocuments } from 'yaml'
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

/** Throws USAGE naming the file. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('USAGE', `${path} cannot be read (${why}).`, { path }, { cause })
  }
}

/** The objects of a kind in YAML or JSON, lists taken apart. Throws USAGE for a file without any. */
function objectsOf<T extends KubeObject>(text: string, path: string, kind: string): T[] {
  const documents = parseAllDocuments(text)
  const values = (Array.isArray(documents) ? documents : []).flatMap(document => {
    const [error] = document.errors
    if (error) throw new RollcallError('USAGE', `${path} is no YAML: ${error.message}`, { path })
    const value: unknown = document.toJS({ maxAliasCount: 0 })
    return isRecord(value) && Array.isArray(value.items) ? value.items : [value]
  })
  const found = values.filter(
    (value): value is T => isRecord(value) && value.kind === kind && isRecord(value.metadata),
  )
  if (found.length === 0) throw new RollcallError('USAGE', `${path} holds no ${kind}.`, { path })
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
  const [document] = parseAllDocuments(text)
  const value: unknown = document && 'toJS' in document ? document.toJS({ maxAliasCount: 0 }) : undefined
  const data = isRecord(value) && value.kind === 'ConfigMap' && isRecord(value.data) ? value.data : undefined
  const texts = data
    ? Object.fromEntries(Object.entries(data).map(([key, content]) => [key, String(content)]))
    : { [path]: text }
  const inventory = new Inventory(`inventory ${path}`)
  inventory.read(parseInventory(texts))
  return inventory
}
