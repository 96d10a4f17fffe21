// Certificates a second through the pure core: prepare, lint and issue requests that are verified already, and the whole
// way: read and verify the request, judge it, prepare, lint, issue.
import { AddressIndex } from '../src/approve/address-index.ts'
import { judge } from '../src/approve/judge.ts'
import { policyOf } from '../src/approve/policy-presets.ts'
import { readRequest as readToJudge } from '../src/approve/read-request.ts'
import { defaultPolicySpec } from '../src/cluster/approval-policy.ts'
import { systemRandom } from '../src/host/random.ts'
import { generateSigner } from '../src/keys/private-key.ts'
import { selfSignedCa } from '../src/keys/self-signed.ts'
import type { CertificateSigningRequest } from '../src/kube/types.ts'
import { authorityOf } from '../src/sign/authority.ts'
import { issue } from '../src/sign/issue.ts'
import { prepare } from '../src/sign/prepare.ts'
import { readRequest as readToSign } from '../src/sign/read-request.ts'
import type { CertificateRequest } from '../src/x509/request.ts'
import { randomSerialNumber } from '../src/x509/serial-number.ts'
import { line, measured, micros, opensslSpeed, percent, whole } from './measure.ts'
import { type Asked, requests } from './requests.ts'

const COUNT = 5000
/** Of other requests, until the code is compiled. */
const WARM_UP = 8000

const now = Date.now()
const signer = generateSigner('ECDSA-P256', systemRandom)
const times = { notBefore: now - 60_000, notAfter: now + 3650 * 86_400_000 }
const authority = authorityOf(
  await selfSignedCa({ commonName: 'kubernetes', signer, random: systemRandom, ...times }),
  signer,
)
const policy = policyOf(defaultPolicySpec([]))

async function issued(csr: CertificateSigningRequest, request: CertificateRequest): Promise<void> {
  const { prepared, refusal } = prepare({
    csr,
    request,
    authority,
    now,
    certificateLifetimeSeconds: 86_400,
    serialNumber: randomSerialNumber(systemRandom),
  })
  if (!prepared) throw new Error(refusal)
  await issue(prepared)
}

async function certify({ csr, node }: Asked): Promise<void> {
  const verdict = judge({ csr, reading: readToJudge(csr), now, node, claims, policy })
  if (verdict.outcome !== 'Approve') throw new Error(`${csr.metadata.name}: ${verdict.reasons[0]?.message}`)
  await issued(csr, readToSign(csr))
}

// As they come from an API: out of JSON.
const asked: Asked[] = JSON.parse(JSON.stringify(await requests(WARM_UP + 2 * COUNT, 'serving')))
const claims = new AddressIndex()
for (const { node } of asked) claims.set(node)
for (const each of asked.splice(0, WARM_UP)) await certify(each)
const { wall, cpu } = await measured(async () => {
  for (const each of asked.splice(0, COUNT)) await certify(each)
})
const verified = asked.map(({ csr }) => ({ csr, request: readToSign(csr) }))
const signing = await measured(async () => {
  for (const { csr, request } of verified) await issued(csr, request)
})
const { signs, verifies } = await opensslSpeed()
const limit = 1 / (1 / signs + 1 / verifies)
const rate = (1000 * COUNT) / cpu
line(
  'signing (core)',
  `${whole((1000 * COUNT) / signing.cpu)} prepared, linted and issued a CPU second (${micros(signing.cpu / COUNT)} each; P-256 key in a file)`,
  `openssl speed: ${whole(signs / 2)}/s with two signatures each, one of them thrown away; target ≥ 8,000`,
)
line(
  'issuance (core)',
  `${whole(rate)} certificates a CPU second (${micros(cpu / COUNT)} each; ${whole((1000 * COUNT) / wall)}/s on the clock)`,
  `openssl speed: verify ${whole(verifies)}/s + sign ${whole(signs)}/s = ${whole(limit)}/s; reached ${percent(rate, limit)}`,
)
