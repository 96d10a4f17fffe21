/** What programs write to their logs when certificates fail them, and the diagnoses to look at. */
import { allChecks } from './all-checks.ts'
import type { Check } from './check.ts'
import { logPatterns } from './log-patterns.ts'

/** Texts of Kubernetes 1.36 and of Go's TLS; the first that is in the line counts. */
const lines: readonly [RegExp, string][] = [
  [/tls: internal error|no serving certificate available/i, 'G01 C04 C05 B10'],
  [/certificate has expired or is not yet valid: current time .* is before/i, 'E12 E13'],
  [
    /certificate has expired|client certificate has expired|expired, but the server is not responsive/i,
    'E11 G07 A20',
  ],
  [/(doesn't|does not) contain any IP SANs/i, 'G04 B11'],
  [/certificate is valid for .*, not /i, 'G05 A13'],
  [/signed by unknown authority/i, 'B11 I01 I02 I05 A11 G10'],
  [/subject access review was not approved/i, 'C01 C02'],
  [/can only create a node CSR with CN=/i, 'B02 B03'],
  [/cannot modify node|can only access node with the same name/i, 'B03'],
  [/system:anonymous" cannot create/i, 'A15'],
  [/cannot create resource "?certificatesigningrequests/i, 'B01'],
  [
    /cannot create certificate signing request: Unauthorized|token id .* (invalid|expired)/i,
    'A01 A02 A04 A06 A07',
  ],
  [/invalid value for key token-secret|invalid bearer token/i, 'A02 A01'],
  [/not marked usage-bootstrap-authentication/i, 'A04'],
  [/invalid value for key auth-extra-groups/i, 'A06'],
  [/failed to verify JWS|no JWS|jws-kubeconfig/i, 'A08'],
  [/unable to load bootstrap kubeconfig/i, 'A10'],
  [/Failed to connect to apiserver|timed out waiting to connect|connection refused/i, 'A12'],
  [/expected .* to be a symlink but it is a file/i, 'E02'],
  [/could not convert data from .* into cert\/key pair/i, 'E04 E05'],
  [/private key does not match public key/i, 'E05 D04'],
  [/Unable to store the new cert\/key pair|no space left on device|read-only file system/i, 'E06 E07'],
  [/Unable to authenticate the request/i, 'G08'],
  [/the signer has expired: NotAfter/i, 'D03'],
  [/expected 1 certificate, found/i, 'D05'],
  [
    /Skipping CSR signer controller|no csr cert\/key was specified|specific files were specified for other signers/i,
    'D01',
  ],
  [/CKR_|PKCS ?#?11/i, 'D10'],
  [
    /subject organization is not system:nodes|usages did not match|common name does not begin with/i,
    'D06 C07',
  ],
  [/configmap "?kube-root-ca.crt"? not found/i, 'I03'],
  [/no such host/i, 'C06 A12'],
  [logPatterns.B06, 'B06'],
  [logPatterns.B07, 'B07'],
  [logPatterns.B08, 'B08'],
  [logPatterns.B09, 'B09'],
  [logPatterns.C12, 'C12'],
  [logPatterns.C13, 'C13'],
  [logPatterns.C14, 'C14'],
  [/none of the \d+ CAs in kube-public\/cluster-info is pinned|is not pinned/i, 'A09'],
  [/exec: executable|unable to load a client to request certificates/i, 'A17'],
  [/invalid signature, no keys found|error in cryptographic primitive/i, 'I17'],
  [logPatterns.unauthorized, 'E11 E14 E16 A01'],
]

/** The checks to look at for a line of a log, the likeliest first; none where the line is not known. */
export function checksTold(line: string): Check[] {
  const [, ids = ''] = lines.find(([pattern]) => pattern.test(line)) ?? []
  const byId = new Map(allChecks.map(check => [check.meta.id, check]))
  return ids.split(' ').flatMap(id => byId.get(id) ?? [])
}

/** Every id that a line leads to, for the test that each is known. */
export const toldIds: readonly string[] = lines.flatMap(([, ids]) => ids.split(' '))
