import { csrCondition, isApproved, isDenied, isFailed, isIssued } from '../kube/csr-conditions.ts'
import { formatAge, formatTime } from '../kube/time-format.ts'
import { signerNames } from '../kube/types.ts'
import { formatName } from '../x509/name.ts'
import { serialDecimal } from '../x509/serial-number.ts'
import { CONTROLLER_PATIENCE, type CsrFacts, leaseEvidence } from './csr-facts.ts'
import { explainPending } from './explain-pending.ts'
import { type Evidence, type Explanation, shellWord } from './explanation.ts'
import { nodeOfRequest, readIssued, readSpecRequest } from './request-facts.ts'

/** Who waits for whom with this request, and why. */
export function explainCsr(facts: CsrFacts): Explanation {
  const { csr } = facts
  if (isIssued(csr)) return explainIssued(facts)
  if (isFailed(csr)) return explainFailed(facts)
  if (isDenied(csr)) return explainDenied(facts)
  if (isApproved(csr)) return explainUnsigned(facts)
  return explainPending(facts)
}

function explainIssued({ csr, now, unchecked }: CsrFacts): Explanation {
  const request = csr.metadata.name
  const base = {
    request,
    state: 'Issued',
    evidence: [],
    commands: [],
    unchecked,
  } satisfies Partial<Explanation>
  const issued = readIssued(csr)
  if (!issued?.ok) {
    const evidence = [{ fact: issued?.problem ?? 'it is empty', source: 'status.certificate' }]
    const summary = 'A certificate was issued, but it cannot be read.'
    return { ...base, code: 'CertificateUnreadable', summary, evidence, waitsFor: 'the signer' }
  }
  const { notBefore, notAfter, issuer, serialNumber, spki } = issued.value
  const evidence: Evidence[] = [
    { fact: `valid ${formatTime(notBefore)} to ${formatTime(notAfter)}`, source: 'status.certificate' },
    {
      fact: `issuer ${formatName(issuer)}, serial ${serialDecimal(serialNumber)}`,
      source: 'status.certificate',
    },
  ]
  const asked = readSpecRequest(csr)
  if (asked.ok && Buffer.compare(asked.value.spki, spki) !== 0) {
    const summary = 'The certificate is for another key than the request: nobody can use it.'
    evidence.push({ fact: 'the public keys differ', source: 'spec.request and status.certificate' })
    return { ...base, code: 'CertificateForOtherKey', summary, evidence, waitsFor: 'a new request' }
  }
  if (now > notAfter) {
    const summary = `The certificate expired ${formatAge(now - notAfter)} ago.`
    return { ...base, code: 'CertificateExpired', summary, evidence, waitsFor: 'a new request of the node' }
  }
  return {
    ...base,
    summary: `All is well: the certificate is valid until ${formatTime(notAfter)}, ${formatAge(notAfter - now)} from now.`,
    evidence,
  }
}

function explainFailed({ csr, unchecked }: CsrFacts): Explanation {
  const { reason = 'no reason', message = 'no message', lastUpdateTime } = csrCondition(csr, 'Failed') ?? {}
  return {
    request: csr.metadata.name,
    state: 'Failed',
    code: 'SignerRefused',
    summary: `The signer refused the approved request: ${reason}: ${message}. It stays refused; only a new request helps.`,
    waitsFor: `a request that ${csr.spec.signerName} accepts`,
    evidence: [
      { fact: `Failed, ${reason}: ${message}${since(lastUpdateTime)}`, source: 'status.conditions' },
      { fact: `usages ${csr.spec.usages.join(', ')}`, source: 'spec.usages' },
    ],
    commands: [
      {
        run: `kubectl delete csr ${shellWord(csr.metadata.name)}`,
        purpose: 'removes it, once the cause is mended',
      },
    ],
    unchecked,
  }
}

function explainDenied({ csr, unchecked }: CsrFacts): Explanation {
  const { reason = 'no reason', message = 'no message', lastUpdateTime } = csrCondition(csr, 'Denied') ?? {}
  const node = nodeOfRequest(csr)
  return {
    request: csr.metadata.name,
    state: 'Denied',
    code: 'Denied',
    summary: `Denied: ${reason}: ${message}`,
    // A kubelet that was denied asks again about every 32 s, so what is mended shows by itself.
    waitsFor: node ? `node ${node} to ask again, after the cause is mended` : 'a new request',
    evidence: [
      { fact: `Denied, ${reason}: ${message}${since(lastUpdateTime)}`, source: 'status.conditions' },
    ],
    commands: node
      ? [{ run: `rollcall csr ls --node ${shellWord(node)}`, purpose: 'shows its next request' }]
      : [],
    unchecked,
  }
}

function explainUnsigned({ csr, now, leases, unchecked }: CsrFacts): Explanation {
  const { signerName } = csr.spec
  const { reason = 'no reason', lastUpdateTime } = csrCondition(csr, 'Approved') ?? {}
  const waited = now - Date.parse(lastUpdateTime ?? csr.metadata.creationTimestamp ?? formatTime(now))
  const evidence: Evidence[] = [
    { fact: `Approved, ${reason}${since(lastUpdateTime)}`, source: 'status.conditions' },
    { fact: 'empty', source: 'status.certificate' },
    ...leaseEvidence(leases),
  ]
  const base = {
    request: csr.metadata.name,
    state: 'ApprovedUnsigned',
    evidence,
    unchecked,
  } satisfies Partial<Explanation>
  if (waited <= CONTROLLER_PATIENCE) {
    const summary = `Approved ${formatAge(waited)} ago; the signer should have it within seconds.`
    return { ...base, summary, waitsFor: `the signer ${signerName}`, commands: [] }
  }
  const ours = Object.values<string>(signerNames).includes(signerName)
  const runs = leases?.some(lease => lease.live) ?? false
  const what = `Approved ${formatAge(waited)} ago and not signed:`
  const summary = !ours
    ? `${what} the signer ${signerName} is not part of Kubernetes; its program does not run or does not want it.`
    : runs
      ? `${what} a controller runs, but does not sign for ${signerName}.`
      : `${what} no running signer for ${signerName} was seen.`
  return {
    ...base,
    code: ours && runs ? 'SignerSlow' : 'NoSigner',
    summary,
    waitsFor: `the signer ${signerName}`,
    commands: ours ? signerCommands : [],
  }
}

const signerCommands = [
  {
    run: 'kubectl -n kube-system get lease',
    purpose: 'shows who runs',
  },
  {
    run: "kubectl -n kube-system get pod -l component=kube-controller-manager -o yaml | grep -- '--cluster-signing\\|--controllers'",
    purpose: 'shows whether kube-controller-manager has a CA to sign with, and for which signers',
  },
]

function since(time: string | undefined): string {
  return time ? ` (${time})` : ''
}
