import { type Check, view } from '../check.ts'
import { deleteRequest, watchRequests } from '../commands.ts'
import { objectedRequests } from '../objections.ts'

export const c10: Check = {
  meta: {
    id: 'C10',
    severity: 'warning',
    title: 'Nodes that ask for serving certificates exist',
    failureTitle: 'A serving certificate is asked for by a node that does not exist',
    symptom: 'The request waits for ever; or dozens of them are left behind by nodes that are gone.',
    description:
      'Names can be proven only by a Node. A Node that was just made may appear seconds after its request; one that was deleted leaves its requests behind for a day.',
    remedy: 'See why the Node was not registered; delete what nodes that are gone left behind.',
    explains: ['B14'],
    reports: ['openshift/cluster-machine-approver#40'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      audit: ({ requests }, now) =>
        objectedRequests(requests, ['NodeNotFound'], now).map(({ request: { name, node }, evidence }) => ({
          object: `CertificateSigningRequest ${name}`,
          ...(node !== undefined && { node }),
          evidence,
          cause: 'There is no Node of that name.',
          fix: [deleteRequest(name)],
          verify: watchRequests,
        })),
    }),
  ],
}
