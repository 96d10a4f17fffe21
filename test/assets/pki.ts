/** A CA and what it gives to the parts of a control plane, in files as kubeadm names them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { type CertificateAuthority, issuePair, type KeyPair } from '../../src/cluster/issue-pair.ts'
import { generateSigner } from '../../src/keys/private-key.ts'
import { selfSignedCa } from '../../src/keys/self-signed.ts'
import { encodeKubeconfig } from '../../src/kube/encode-kubeconfig.ts'
import { parseCertificatesPem } from '../../src/x509/certificate.ts'
import { encodePem } from '../../src/x509/pem.ts'

const { clock, random } = hostPorts
const day = 86_400_000

export interface TestPki {
  ca: CertificateAuthority
  /** Path of a file: `ca.crt`, `ca.key`, `apiserver.crt`, `apiserver.key`, `sa.key`, `sa.pub` and the pairs asked for. */
  file(name: string): string
  /** Writes NAME.crt and NAME.key. */
  issue(name: string, commonName: string, organizations?: string[], usage?: 'client auth'): Promise<KeyPair>
  /** Writes NAME.kubeconfig of a client certificate; its path. */
  kubeconfig(name: string, server: string, commonName: string, organizations?: string[]): Promise<string>
}

export async function createPki(folder: string): Promise<TestPki> {
  mkdirSync(folder, { recursive: true })
  const file = (name: string) => join(folder, name)
  const write = (name: string, text: string) => writeFileSync(file(name), text, { mode: 0o600 })
  const signer = generateSigner('ECDSA-P256', random)
  const times = { notBefore: clock.now() - day, notAfter: clock.now() + 30 * day }
  const pem = await selfSignedCa({ commonName: 'kubernetes', signer, random, ...times })
  const [certificate] = parseCertificatesPem(pem)
  if (!certificate) throw new TypeError('a CA without a certificate')
  const ca = { pem, certificate, signer }
  write('ca.crt', pem)
  write('ca.key', signer.exportPem().reveal())
  const pairOf = async (name: string, wanted: Partial<Parameters<typeof issuePair>[1]>) => {
    const common = { commonName: name, organizations: [], usage: 'client auth' as const }
    const pair = await issuePair(ca, { ...common, lifetime: day, now: clock.now(), ...wanted }, random)
    write(`${name}.crt`, pair.certificate)
    write(`${name}.key`, pair.key.reveal())
    return pair
  }
  await pairOf('apiserver', {
    commonName: 'kube-apiserver',
    usage: 'server auth',
    dnsNames: ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost'],
    ipAddresses: ['127.0.0.1', '10.96.0.1'],
  })
  await pairOf('apiserver-kubelet-client', {
    commonName: 'kube-apiserver-kubelet-client',
    organizations: ['kubeadm:cluster-admins'],
  })
  const accounts = generateSigner('ECDSA-P256', random)
  write('sa.key', accounts.exportPem().reveal())
  write('sa.pub', encodePem('PUBLIC KEY', accounts.publicKey))
  const issue: TestPki['issue'] = (name, commonName, organizations = [], usage = 'client auth') =>
    pairOf(name, { commonName, organizations, usage })
  return {
    ca,
    file,
    issue,
    async kubeconfig(name, server, commonName, organizations = []) {
      const pair = await issue(name, commonName, organizations)
      const user = { clientCertificate: { pem: pair.certificate }, clientKey: { pem: pair.key } }
      const text = encodeKubeconfig({ server, certificateAuthority: { file: file('ca.crt') }, user })
      write(`${name}.kubeconfig`, text.reveal())
      return file(`${name}.kubeconfig`)
    },
  }
}
