/** Who may update approvals of requests, and whether he may approve for the signers of kubelets (A-33). */
import { type KubeClient, listAll } from '../../kube/client.ts'
import {
  type ClusterRole,
  type PolicyRule,
  type RbacSubject,
  type RoleBinding,
  resources,
  type SubjectAccessReview,
  signerNames,
} from '../../kube/types.ts'
import type { Approver } from '../artifacts/cluster-artifacts.ts'

/** Subjects asked about at most; a cluster has two or three approvers. */
const most = 30

/** Roles of Kubernetes itself, and those that may do everything, are no approvers. */
export async function listApprovers(client: KubeClient): Promise<Approver[]> {
  const [roles, bindings] = await Promise.all([
    listAll<ClusterRole>(client, resources.clusterRoles),
    listAll<RoleBinding>(client, resources.clusterRoleBindings),
  ])
  const approving = new Set(
    roles.items
      .filter(({ metadata, rules }) => !metadata.name.startsWith('system:') && rules?.some(updatesApprovals))
      .map(({ metadata }) => metadata.name),
  )
  const bound = bindings.items
    .filter(({ roleRef }) => approving.has(roleRef.name))
    .flatMap(({ metadata, roleRef, subjects = [] }) =>
      subjects.map(subject => ({ subject, role: roleRef.name, binding: metadata.name })),
    )
  return Promise.all(
    bound.slice(0, most).map(async ({ subject, ...of }) => ({
      subject: shown(subject),
      ...of,
      signers: await signersOf(client, subject),
    })),
  )
}

function updatesApprovals({ apiGroups = [], resources: of = [], verbs }: PolicyRule): boolean {
  return (
    apiGroups.includes('certificates.k8s.io') &&
    of.includes('certificatesigningrequests/approval') &&
    verbs.some(verb => ['update', 'patch', '*'].includes(verb))
  )
}

async function signersOf(client: KubeClient, subject: RbacSubject): Promise<string[]> {
  const signers = [signerNames.kubeletServing, signerNames.kubeletClient]
  const answers = await Promise.all(signers.map(signer => mayApprove(client, subject, signer)))
  return signers.filter((_, n) => answers[n])
}

async function mayApprove(client: KubeClient, subject: RbacSubject, signer: string): Promise<boolean> {
  const review: SubjectAccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: { name: '' },
    spec: {
      ...identityOf(subject),
      resourceAttributes: {
        verb: 'approve',
        group: 'certificates.k8s.io',
        version: '*',
        resource: 'signers',
        name: signer,
      },
    },
  }
  const { status } = await client.create(resources.subjectAccessReviews, review)
  return status?.allowed ?? false
}

function identityOf({ kind, name, namespace = '' }: RbacSubject): { user: string; groups: string[] } {
  if (kind === 'Group') return { user: 'rollcall-doctor', groups: [name, 'system:authenticated'] }
  if (kind === 'User') return { user: name, groups: ['system:authenticated'] }
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}

const shown = ({ kind, name, namespace }: RbacSubject) =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
