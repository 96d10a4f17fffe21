/** kubeadm's kubeconfigs: one cluster, one user, data embedded. What is changed in them is said here; all else stays. */
import { type Document, isSeq, parseDocument } from 'yaml'
import { RollcallError } from '../../errors.ts'
import type { Secret } from '../../keys/secret.ts'

export interface KubeconfigData {
  /** PEM. */
  authorities: string
  certificate: string
}

const authorityPath = ['clusters', 0, 'cluster', 'certificate-authority-data']
const certificatePath = ['users', 0, 'user', 'client-certificate-data']
const keyPath = ['users', 0, 'user', 'client-key-data']

/** Throws RollcallError CONTROL_PLANE_UNFIT for one that is not in kubeadm's form. */
export function readKubeconfig(text: string, path: string): KubeconfigData {
  return dataOf(documentOf(text, path), path)
}

function dataOf(document: Document, path: string): KubeconfigData {
  return {
    authorities: data(document, authorityPath, path),
    certificate: data(document, certificatePath, path),
  }
}

/** The text with other CAs, another pair, or both. */
export function withKubeconfigData(
  text: string,
  path: string,
  { authorities, pair }: { authorities?: string; pair?: { certificate: string; key: Secret } },
): string {
  const document = documentOf(text, path)
  const set = (at: (string | number)[], pem: string | undefined) => {
    if (pem !== undefined && data(document, at, path) !== pem)
      document.setIn(at, Buffer.from(pem).toString('base64'))
  }
  const before = dataOf(document, path)
  const same =
    (authorities ?? before.authorities) === before.authorities &&
    (pair?.certificate ?? before.certificate) === before.certificate
  if (same) return text
  set(authorityPath, authorities)
  set(certificatePath, pair?.certificate)
  set(keyPath, pair?.key.reveal())
  return document.toString({ lineWidth: 0 })
}

function data(document: Document, at: (string | number)[], path: string): string {
  const text = document.getIn(at)
  if (typeof text !== 'string') throw unfit(path, `${at.at(-1)} is not in it`)
  return Buffer.from(text, 'base64').toString()
}

function documentOf(text: string, path: string): Document {
  const document = parseDocument(text)
  if (document.errors.length > 0) throw unfit(path, 'it is no YAML')
  const single = ['clusters', 'users'].every(name => {
    const list = document.get(name)
    return isSeq(list) && list.items.length === 1
  })
  if (!single) throw unfit(path, 'it has not one cluster and one user, as kubeadm writes it')
  return document
}

function unfit(path: string, why: string): RollcallError {
  return new RollcallError('CONTROL_PLANE_UNFIT', `${path}: ${why}; nothing was changed.`, { path })
}
