import { join } from 'node:path'
import { RollcallError } from '../errors.ts'
import { generateSigner, keyMatches, loadSigner, type PrivateKeySigner } from '../keys/private-key.ts'
import { Secret } from '../keys/secret.ts'
import { selfSignedCa } from '../keys/self-signed.ts'
import type { Signer } from '../keys/signer.ts'
import type { Clock, Disk, Random } from '../ports.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { formatIp } from '../x509/ip.ts'
import { commonName, organizations } from '../x509/name.ts'
import { encodePem } from '../x509/pem.ts'
import { apiServiceAddress, apiserverDnsNames, identities } from './identities.ts'
import { type CertificateAuthority, issuePair, type KeyPair, type PairRequest } from './issue-pair.ts'
import { type PairFiles, readIfThere, replaceFile, writePair } from './pki-files.ts'

/** The control plane's keys and certificates under `D/pki`, named as kubeadm names them. */
export interface Pki {
  ca: CertificateAuthority
  apiserver: KeyPair
  apiserverKubeletClient: KeyPair
  /** Signs service account tokens. */
  serviceAccount: Signer
}

export interface PkiOptions {
  directory: string
  /** Addresses the API is reached at, beside the service address. */
  addresses: readonly string[]
  /** The CA's key where it lies elsewhere (token, external signer); absent: in `ca.key`. */
  caKey?: Signer
  disk: Disk
  clock: Clock
  random: Random
}

const day = 86_400_000
const caLifetime = 3650 * day
/** kubeadm's default for the certificates it makes. */
export const leafLifetime = 365 * day

/** Reads what is there, makes what is missing, and renews a leaf with less than a third of its life left. */
export async function openPki(options: PkiOptions): Promise<Pki> {
  const ca = await openCa(options)
  const now = options.clock.now()
  const addresses = [apiServiceAddress, ...options.addresses]
  const serving: PairRequest = {
    ...identities.apiserverServing,
    usage: 'server auth',
    dnsNames: apiserverDnsNames,
    ipAddresses: addresses,
    lifetime: leafLifetime,
    now,
  }
  const kubeletClient: PairRequest = {
    ...identities.apiserverKubeletClient,
    usage: 'client auth',
    lifetime: leafLifetime,
    now,
  }
  return {
    ca,
    apiserver: await openLeaf('apiserver', serving, ca, options),
    apiserverKubeletClient: await openLeaf('apiserver-kubelet-client', kubeletClient, ca, options),
    serviceAccount: await openServiceAccountKey(options),
  }
}

function pairFiles(directory: string, name: string): PairFiles {
  return { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) }
}

async function openCa(options: PkiOptions): Promise<CertificateAuthority> {
  const { directory, disk, caKey } = options
  const files = pairFiles(directory, 'ca')
  const pem = await readIfThere(disk, files.certificate)
  if (caKey) {
    const made = pem ?? (await newCa(caKey, options))
    if (pem === undefined) await replaceFile(disk, files.certificate, made, 0o644)
    return existingCa(made, caKey, files)
  }
  const key = await readIfThere(disk, files.key)
  if (pem !== undefined && key !== undefined)
    return existingCa(pem, signerIn(files.key, new Secret(key)), files)
  // A certificate is written after its key, so a lone key is what a crash at the first start leaves.
  if (pem !== undefined) {
    throw new RollcallError(
      'KEY_MISMATCH',
      `${files.certificate} is there but ${files.key} is not; put the CA's key back.`,
    )
  }
  const signer = generateSigner('ECDSA-P256', options.random)
  const made = await newCa(signer, options)
  await writePair(disk, files, { certificate: made, key: signer.exportPem() })
  return existingCa(made, signer, files)
}

function newCa(signer: Signer, { clock, random }: PkiOptions): Promise<string> {
  const now = clock.now()
  const times = { notBefore: now - 5 * 60_000, notAfter: now + caLifetime }
  return selfSignedCa({ commonName: 'kubernetes', signer, random, ...times })
}

/** Throws KEY_MISMATCH that names the file. */
function signerIn(path: string, key: Secret): PrivateKeySigner {
  try {
    return loadSigner(key)
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error
    throw new RollcallError('KEY_MISMATCH', `${path}: ${error.message}; put the right key back.`, { path })
  }
}

function existingCa(pem: string, signer: Signer, files: PairFiles): CertificateAuthority {
  const [certificate, ...more] = parseCertificatesPem(pem)
  if (!certificate || more.length > 0) {
    // C-21: a signer takes exactly one certificate.
    throw new RollcallError(
      'KEY_MISMATCH',
      `${files.certificate}: expected 1 certificate, found ${more.length + (certificate ? 1 : 0)}`,
    )
  }
  if (!keyMatches(signer, certificate)) {
    throw new RollcallError(
      'KEY_MISMATCH',
      `the CA's key (${files.key}, or what --signing-key names) is not the key of ${files.certificate}; put back the pair that belongs together.`,
    )
  }
  return { pem, certificate, signer }
}

async function openLeaf(
  name: string,
  request: PairRequest,
  ca: CertificateAuthority,
  options: PkiOptions,
): Promise<KeyPair> {
  const files = pairFiles(options.directory, name)
  const certificate = await readIfThere(options.disk, files.certificate)
  const key = await readIfThere(options.disk, files.key)
  if (
    certificate !== undefined &&
    key !== undefined &&
    stillServes(certificate, signerIn(files.key, new Secret(key)), request, ca)
  ) {
    return { certificate, key: new Secret(key) }
  }
  const pair = await issuePair(ca, request, options.random)
  await writePair(options.disk, files, pair)
  return pair
}

function stillServes(pem: string, signer: Signer, request: PairRequest, ca: CertificateAuthority): boolean {
  const [leaf] = parseCertificatesPem(pem)
  if (!leaf || !keyMatches(signer, leaf)) return false
  if (Buffer.compare(leaf.issuer.raw, ca.certificate.subject.raw) !== 0) return false
  // Made by an earlier version: it may be somebody with other rights.
  const sameHolder =
    commonName(leaf.subject) === request.commonName &&
    organizations(leaf.subject).join() === request.organizations.join()
  const left = leaf.notAfter - request.now
  const covered = new Set(leaf.subjectAltName.ipAddresses.map(formatIp))
  return (
    sameHolder &&
    left > (leaf.notAfter - leaf.notBefore) / 3 &&
    (request.ipAddresses ?? []).every(address => covered.has(address))
  )
}

/** kubeadm's sa.key and sa.pub: the key that service-account tokens are signed with. */
async function openServiceAccountKey({ directory, disk, random }: PkiOptions): Promise<Signer> {
  const files = { key: join(directory, 'sa.key'), publicKey: join(directory, 'sa.pub') }
  const stored = await readIfThere(disk, files.key)
  const signer =
    stored === undefined ? generateSigner('ECDSA-P256', random) : signerIn(files.key, new Secret(stored))
  if (stored === undefined) await replaceFile(disk, files.key, signer.exportPem().reveal(), 0o600)
  const publicKey = encodePem('PUBLIC KEY', signer.publicKey)
  if ((await readIfThere(disk, files.publicKey)) !== publicKey)
    await replaceFile(disk, files.publicKey, publicKey, 0o644)
  return signer
}
