/** Certificates that the control plane made for itself and its administrator, and how each comes from another CA. */
import { encodeKubeconfig } from '../../kube/encode-kubeconfig.ts'
import type { Clock, Disk, Random } from '../../ports.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { identities } from '../identities.ts'
import { type CertificateAuthority, issuePair, type KeyPair, type PairRequest } from '../issue-pair.ts'
import type { LoopbackClient } from '../loopback-client.ts'
import { leafLifetime, type Pki } from '../pki.ts'
import { replaceFile } from '../pki-files.ts'
import type { OwnLeaf } from './embedded-control.ts'
import type { EmbeddedTrust } from './embedded-trust.ts'

export interface OwnCredentialOptions {
  trust: EmbeddedTrust
  pki: Pki
  /** Which CA of the role client issued a leaf. */
  issuerOf(leaf: Certificate): number | undefined
  /** Clients inside the process, by name. */
  loopbacks: Readonly<Record<string, LoopbackClient>>
  server: string
  adminKubeconfig: string
  clock: Clock
  random: Random
  disk: Disk
}

export interface OwnCredentials {
  leaves: Readonly<Record<string, OwnLeaf>>
  /** Serial numbers (hexadecimal) of what the administrator was given since this process is there. */
  issued: ReadonlySet<string>
  /** Writes the administrator's kubeconfig: his certificate, and the CAs that its place should hold. */
  writeAdminKubeconfig(): Promise<void>
}

export async function ownCredentials(options: OwnCredentialOptions): Promise<OwnCredentials> {
  const { trust, pki, issuerOf, loopbacks, server, disk, clock, random, adminKubeconfig } = options
  const signing = (): CertificateAuthority => trust.signing('client') ?? pki.ca
  const issue = (request: Pick<PairRequest, 'commonName' | 'organizations'>, ca = signing()) =>
    issuePair(ca, { ...request, usage: 'client auth', lifetime: leafLifetime, now: clock.now() }, random)
  const issuerIn = ({ certificate }: KeyPair) => {
    const [leaf] = parseCertificatesPem(certificate)
    return leaf && issuerOf(leaf)
  }
  const issued = new Set<string>()
  const issueAdmin = async (ca?: CertificateAuthority) => {
    const pair = await issue(identities.admin, ca)
    for (const { serialNumber } of parseCertificatesPem(pair.certificate))
      issued.add(Buffer.from(serialNumber).toString('hex'))
    return pair
  }
  let admin = await issueAdmin()

  let writing: Promise<void> = Promise.resolve()

  /** One after the other, with what is true when its turn comes: a new certificate and new CAs may be written at once. */
  function writeAdminKubeconfig(): Promise<void> {
    const turn = writing.then(writeNow)
    writing = turn.catch(() => {}) // who asked is told
    return turn
  }

  async function writeNow(): Promise<void> {
    const text = encodeKubeconfig({
      server,
      certificateAuthority: { pem: trust.inSink('apiserver-serving', 'admin.kubeconfig') },
      user: { clientCertificate: { pem: admin.certificate }, clientKey: { pem: admin.key } },
      names: { cluster: 'kubernetes', user: 'kubernetes-admin', context: 'kubernetes-admin@kubernetes' },
    })
    await replaceFile(disk, adminKubeconfig, text.reveal(), 0o600)
  }

  const inProcess = Object.entries(loopbacks).map(([name, client]): [string, OwnLeaf] => [
    name,
    // The CA's own certificate is self-signed, so that its issuer is itself.
    { issuer: () => issuerOf(client.issuer().certificate), renew: (ca = signing()) => client.renew(ca) },
  ])
  const leaves: Record<string, OwnLeaf> = {
    ...Object.fromEntries(inProcess),
    'admin.kubeconfig': {
      issuer: () => issuerIn(admin),
      async renew(ca) {
        admin = await issueAdmin(ca)
        await writeAdminKubeconfig()
      },
    },
    'apiserver-kubelet-client': {
      issuer: () => issuerIn(pki.apiserverKubeletClient),
      async renew(ca) {
        pki.apiserverKubeletClient = await issue(identities.apiserverKubeletClient, ca)
      },
    },
  }
  return { leaves, issued, writeAdminKubeconfig }
}
