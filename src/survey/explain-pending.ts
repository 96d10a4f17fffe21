import { csrCondition } from '../kube/csr-conditions.ts'
import {
  firstApprovalCondition,
  firstApprovalOf,
  fourEyesCondition,
  heldCondition,
} from '../kube/held-conditions.ts'
import { formatAge, formatTime } from '../kube/time-format.ts'
import { signerNames } from '../kube/types.ts'
import { formatName } from '../x509/name.ts'
import { CONTROLLER_PATIENCE, type CsrFacts, isRollcall, leaseEvidence } from './csr-facts.ts'
import { type Command, type Evidence, type Explanation, shellWord } from './explanation.ts'
import { createdAt, readSpecRequest } from './request-facts.ts'

/** What keeps an undecided request undecided. */
export function explainPending(facts: CsrFacts): Explanation {
  const { csr, now, newer, unchecked } = facts
  const request = csr.metadata.name
  const age = now - createdAt(csr, now)
  const asked = readSpecRequest(csr)
  const evidence: Evidence[] = [
    { fact: 'neither Approved nor Denied', source: 'status.conditions' },
    {
      fact: `asked by ${csr.spec.username || 'nobody known'} ${formatAge(age)} ago`,
      source: 'spec.username',
    },
  ]
  if (asked.ok) evidence.push({ fact: formatName(asked.value.subject), source: 'subject in spec.request' })
  const base = { request, state: 'Pending', evidence, unchecked } satisfies Partial<Explanation>

  if (!asked.ok) {
    evidence.push({ fact: asked.problem, source: 'spec.request' })
    const summary = 'No approver can read the request.'
    return { ...base, code: 'Unreadable', summary, waitsFor: 'a new request', commands: [deny(request)] }
  }
  if (newer) {
    evidence.push({ fact: `${newer} asks for the same, later`, source: 'CertificateSigningRequests' })
    const summary = `Superseded by ${newer}: a kubelet gives a request up after 15 minutes and makes a new one.`
    const commands = [
      { run: `rollcall csr explain ${shellWord(newer)}`, purpose: 'explains the one that counts' },
    ]
    return { ...base, code: 'Superseded', summary, commands }
  }
  const held = heldReason(facts)
  if (held) return withReason(base, held)
  const { signerName } = csr.spec
  if (signerName === signerNames.kubeletClient) return withReason(base, clientReason(facts, age))
  if (signerName === signerNames.kubeletServing) return withReason(base, servingReason(facts, age))
  return {
    ...base,
    code: 'NeedsOperator',
    summary: `Nothing in Kubernetes or Rollcall approves requests for ${signerName}.`,
    waitsFor: 'an operator, or an approver of your own',
    commands: [show(request), approve(request), deny(request)],
  }
}

/** It says itself that it waits for people, and for what. */
function heldReason({ csr, now }: CsrFacts): Reason | undefined {
  const held = csrCondition(csr, heldCondition)
  if (!held) return undefined
  const request = csr.metadata.name
  const two = csrCondition(csr, fourEyesCondition) !== undefined
  const first = firstApprovalOf(csr)
  const counts = first !== undefined && first.until > now
  return {
    code: 'Held',
    summary: `Held for a person: ${held.reason}: ${held.message}`,
    waitsFor: two
      ? counts
        ? `a second approver beside ${first.by}`
        : 'two different approvers'
      : 'an approver',
    evidence: [
      { fact: `${held.reason}: ${held.message}`, source: `condition ${heldCondition}` },
      ...(first
        ? [
            {
              fact: `approved by ${first.by}: ${first.reason} (${counts ? 'counts' : 'counted'} until ${formatTime(first.until)})`,
              source: `condition ${firstApprovalCondition}`,
            },
          ]
        : []),
    ],
    commands: [
      show(request),
      { run: `rollcall csr approve ${shellWord(request)} --reason 'why'`, purpose: 'approves it' },
      deny(request),
    ],
  }
}

type Reason = Pick<Explanation, 'summary' | 'commands'> &
  Partial<Pick<Explanation, 'code' | 'waitsFor' | 'evidence'>>

function withReason<Base extends Pick<Explanation, 'evidence'>>(base: Base, reason: Reason): Base & Reason {
  return { ...base, ...reason, evidence: [...base.evidence, ...(reason.evidence ?? [])] }
}

/** C-10 to C-13: kube-controller-manager and Rollcall approve when a SubjectAccessReview allows it. */
function clientReason(facts: CsrFacts, age: number): Reason {
  const { csr, access } = facts
  const request = csr.metadata.name
  if (access && !access.allowed) {
    const self = access.tried.includes('selfnodeclient')
    return {
      code: 'NotAuthorised',
      summary: `${csr.spec.username} may not have node client certificates approved: ${access.tried.join(' and ')} denied.`,
      waitsFor: 'an operator to bind the role, or to approve it',
      evidence: [
        {
          fact: `denied for groups ${(csr.spec.groups ?? []).join(', ') || 'none'}`,
          source: `SubjectAccessReview create certificatesigningrequests/${access.tried.join(', ')}`,
        },
      ],
      commands: [self ? bindRenewal : bindBootstrap, approve(request)],
    }
  }
  const refused = wouldBeRefused(facts)
  if (refused) return refused
  return waitingForController(facts, age, access?.allowed && `${access.allowed} is allowed`)
}

/** Kubernetes itself never approves these; Rollcall does, by policy. */
function servingReason(facts: CsrFacts, age: number): Reason {
  const refused = wouldBeRefused(facts)
  if (refused) return refused
  const proven = facts.verdict?.outcome === 'Approve' ? facts.verdict.reasons[0]?.message : undefined
  const ours = facts.leases?.filter(lease => isRollcall(lease.name))
  return waitingForController({ ...facts, ...(ours && { leases: ours }) }, age, proven)
}

/** What the policy in force has against it; Rollcall's approver leaves it pending or denies it for that. */
function wouldBeRefused({ csr, verdict }: CsrFacts): Reason | undefined {
  if (!verdict || verdict.outcome === 'Approve') return undefined
  const [reason] = verdict.reasons
  if (verdict.outcome === 'Ignore' && reason?.code !== 'DryRun') return undefined
  if (reason?.code === 'NoPolicy') return withoutPolicy(csr.metadata.name)
  const rule = verdict.rules.find(({ outcome }) => outcome === verdict.outcome)
  const request = csr.metadata.name
  return {
    code: 'WouldBeRefused',
    summary: `Approval stands against: ${reason?.code}: ${reason?.message}`,
    waitsFor: verdict.outcome === 'Wait' ? 'that to become right, or an operator' : 'an operator',
    evidence: [
      {
        fact: `${rule?.rule ?? 'a rule'} says ${verdict.outcome}: ${reason?.message}`,
        source: 'the policy in force',
      },
    ],
    commands: [show(request), deny(request)],
  }
}

function withoutPolicy(request: string): Reason {
  return {
    code: 'NoPolicy',
    summary:
      'No CertificatePolicy named default that can be used says how it is judged, so it stays pending.',
    waitsFor: 'a policy, or an operator',
    evidence: [{ fact: 'there is none that can be used', source: 'CertificatePolicy default' }],
    commands: [
      { run: 'rollcall policy ls', purpose: 'shows whether there is one, and whether it can be used' },
      {
        run: 'kubectl apply -f examples/policies/lab.yaml',
        purpose: 'where there is none: has requests judged by what Nodes say',
      },
      show(request),
      approve(request),
    ],
  }
}

function waitingForController(facts: CsrFacts, age: number, why: string | undefined): Reason {
  const { csr, leases } = facts
  const evidence = [...(why ? [{ fact: why, source: 'judgement' }] : []), ...leaseEvidence(leases)]
  if (age <= CONTROLLER_PATIENCE) {
    return {
      summary: 'New; an approver should decide within seconds.',
      waitsFor: 'the approver',
      evidence,
      commands: [],
    }
  }
  const runs = leases?.some(lease => lease.live)
  return {
    code: 'NoApprover',
    summary: runs
      ? `Nothing stands against it, and a controller runs, but it did not approve in ${formatAge(age)}.`
      : `Nothing stands against it, but no running approver for ${csr.spec.signerName} was seen.`,
    waitsFor: 'an approver, or an operator',
    evidence,
    commands: [
      approve(csr.metadata.name),
      { run: 'rollcall controller --only approval', purpose: 'approves by policy' },
    ],
  }
}

const show = (name: string): Command => ({
  run: `rollcall csr show ${shellWord(name)}`,
  purpose: 'shows it beside its Node',
})
const approve = (name: string): Command => ({
  run: `rollcall csr approve ${shellWord(name)}`,
  purpose: 'approves it',
})
const deny = (name: string): Command => ({
  run: `rollcall csr deny ${shellWord(name)} --reason 'why'`,
  purpose: 'denies it',
})

const csrRole = 'system:certificates.k8s.io:certificatesigningrequests'
const bindBootstrap: Command = {
  run: `kubectl create clusterrolebinding kubeadm:node-autoapprove-bootstrap --clusterrole=${csrRole}:nodeclient --group=system:bootstrappers:kubeadm:default-node-token`,
  purpose: 'lets bootstrap tokens have first certificates approved',
}
const bindRenewal: Command = {
  run: `kubectl create clusterrolebinding kubeadm:node-autoapprove-certificate-rotation --clusterrole=${csrRole}:selfnodeclient --group=system:nodes`,
  purpose: 'lets nodes have renewals approved',
}
