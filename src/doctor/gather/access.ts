/** Who may ask for and be given certificates, by SubjectAccessReview: a question, which changes nothing. */
import type { KubeClient } from '../../kube/client.ts'
import { type CertificateSigningRequest, resources, type SubjectAccessReview } from '../../kube/types.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import type { AccessAnswer, AccessPurpose, BootstrapTokenFacts } from '../artifacts.ts'
import { type RequestFacts, readRequests } from '../request-facts.ts'

export const defaultBootstrapGroup = 'system:bootstrappers:kubeadm:default-node-token'
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

/** Asks for joining, where the cluster is joined by tokens, and for each kind of requester that waits. */
export async function askAccess(
  client: KubeClient,
  joining: readonly AccessQuestion[],
  requests: readonly CertificateSigningRequest[],
  now: number,
): Promise<AccessAnswer[]> {
  const waiting = readRequests(requests, undefined, now).filter(({ state }) => state === 'undecided')
  const questions = new Map<string, AccessQuestion>()
  for (const question of [...joining, ...waiting.map(questionOf)]) {
    if (question && questions.size < mostQuestions) questions.set(accessKey(question), question)
  }
  return Promise.all([...questions.values()].map(question => ask(client, question)))
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
