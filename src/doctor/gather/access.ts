/** Who may ask for and be given certificates, by SubjectAccessReview: a question, which changes nothing. */
import type { KubeClient } from '../../kube/client.ts'
import {
  type CertificateSigningRequest,
  resources,
  type SubjectAccessReview,
  signerNames,
} from '../../kube/types.ts'
import { isUndecided } from '../../survey/cluster-survey.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import type { AccessAnswer, AccessPurpose, BootstrapTokenFacts } from '../artifacts/cluster-artifacts.ts'
import { type RequestFacts, readRequests } from '../request-facts.ts'

const defaultBootstrapGroup = 'system:bootstrappers:kubeadm:default-node-token'
/** A node that need not exist: what counts is the group. */
const anyNode = 'system:node:rollcall-doctor'
const nodeGroups = ['system:authenticated', 'system:nodes']

export type AccessQuestion = Omit<AccessAnswer, 'allowed'>

/** Whoever asks as this one is judged alike: RBAC binds nodes and tokens by group. */
export function questionOf(request: RequestFacts): AccessQuestion | undefined {
  const { kind, node, csr } = request
  if (kind !== 'client' || node === undefined) return undefined
  const user = csr.spec.username ?? ''
  const groups = [...(csr.spec.groups ?? [])].sort()
  const self = nodeOfUser(user)
  return self === node
    ? { purpose: 'selfnodeclient', user: anyNode, groups }
    : { purpose: 'nodeclient', user: self === undefined ? user : anyNode, groups }
}

/** The questions that a cluster joined by bootstrap tokens must answer with yes, as kubeadm binds them. */
export function joinQuestions(tokens: readonly BootstrapTokenFacts[] | undefined): AccessQuestion[] {
  const groups = new Set(tokens?.filter(token => token.authentication).flatMap(token => token.groups))
  if (groups.size === 0) groups.add(defaultBootstrapGroup)
  const asked = [...groups].flatMap(group => {
    const asker = {
      user: 'system:bootstrap:rollcall-doctor',
      groups: ['system:authenticated', 'system:bootstrappers', group],
    }
    return [
      { purpose: 'join' as const, ...asker },
      { purpose: 'nodeclient' as const, ...asker },
    ]
  })
  return [...asked, { purpose: 'selfnodeclient', user: anyNode, groups: nodeGroups }]
}

/** Kinds of requesters asked about at most; a cluster has two or three. */
const mostQuestions = 20

/** The questions about those whose requests wait: one for each kind of requester. */
export function requesterQuestions(
  requests: readonly CertificateSigningRequest[],
  now: number,
): AccessQuestion[] {
  const open = requests.filter(csr => csr.spec.signerName === signerNames.kubeletClient && isUndecided(csr))
  const waiting = readRequests(open, undefined, now)
  const questions = waiting.flatMap(request => questionOf(request) ?? [])
  const distinct = new Map(questions.map(question => [accessKey(question), question]))
  return [...distinct.values()].slice(0, mostQuestions)
}

/** Asks by SubjectAccessReview. */
export function askAccess(client: KubeClient, questions: readonly AccessQuestion[]): Promise<AccessAnswer[]> {
  return Promise.all(questions.map(question => ask(client, question)))
}

export function accessKey({ purpose, user, groups }: AccessQuestion): string {
  return JSON.stringify([purpose, user, groups])
}

async function ask(client: KubeClient, question: AccessQuestion): Promise<AccessAnswer> {
  const review: SubjectAccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: { name: '' },
    spec: {
      user: question.user,
      groups: question.groups,
      resourceAttributes: attributesOf(question.purpose),
    },
  }
  const { status } = await client.create(resources.subjectAccessReviews, review)
  return { ...question, allowed: status?.allowed ?? false }
}

/** C-12: no name, no namespace. */
function attributesOf(
  purpose: AccessPurpose,
): NonNullable<SubjectAccessReview['spec']['resourceAttributes']> {
  return {
    verb: 'create',
    group: 'certificates.k8s.io',
    version: '*',
    resource: 'certificatesigningrequests',
    ...(purpose !== 'join' && { subresource: purpose }),
  }
}
