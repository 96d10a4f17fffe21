/** The client certificate in a kubeconfig of this machine, made anew by another CA: same user, same groups, same life. */
import { RollcallError } from '../../errors.ts'
import type { Clock, Disk, Random } from '../../ports.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { commonName, organizations } from '../../x509/name.ts'
import { type CertificateAuthority, issuePair } from '../issue-pair.ts'
import { clientCertificateIn, withClientCertificate } from './kubeconfig-text.ts'
import { rewriteFile, textAt } from './sinks.ts'

export async function renewKubeconfig(
  path: string,
  ca: CertificateAuthority,
  { disk, clock, random }: { disk: Disk; clock: Clock; random: Random },
): Promise<void> {
  const text = (await textAt(disk, path)) ?? ''
  const [leaf] = parseCertificatesPem(clientCertificateIn(text) ?? '')
  if (!leaf)
    throw new RollcallError('KUBECONFIG_INVALID', `${path} holds no client certificate of its own`, { path })
  const pair = await issuePair(
    ca,
    {
      commonName: commonName(leaf.subject),
      organizations: organizations(leaf.subject),
      usage: 'client auth',
      lifetime: leaf.notAfter - leaf.notBefore,
      now: clock.now(),
    },
    random,
  )
  await rewriteFile(disk, path, now => withClientCertificate(now, pair, path))
}
