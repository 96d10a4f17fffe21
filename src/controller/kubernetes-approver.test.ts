import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeClient } from '../kube/client.ts'
import { type CertificateSigningRequest, resources, type SubjectAccessReview } from '../kube/types.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'
import { clusterControllers, controllerNamed } from './controller-name.ts'

test('C-1: each controller of kube-controller-manager that certificates need is one of ours, by its name and its short one', () => {
  const theirs = [
    ['certificatesigningrequest-approving-controller', 'csrapproving'],
    ['certificatesigningrequest-signing-controller', 'csrsigning'],
    ['certificatesigningrequest-cleaner-controller', 'csrcleaner'],
    ['root-ca-certificate-publisher-controller', 'root-ca-cert-publisher'],
    ['token-cleaner-controller', 'tokencleaner'],
    ['bootstrap-signer-controller', 'bootstrapsigner'],
  ]
  const ours = theirs.map(names => [...new Set(names.map(controllerNamed))])
  assert.deepEqual(ours.flat(), [...clusterControllers])
  assert.equal(controllerNamed('constructor'), undefined)
})

test(
  'C-2: what has a certificate is looked at no more, whatever happens to the request',
  onCluster(async cluster => {
    await cluster.start()
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    const before = (await cluster.read(name)).metadata.resourceVersion
    await cluster.admin.patch(resources.certificateSigningRequests, { name }, 'merge', {
      metadata: { labels: { a: 'b' } },
    })
    await calm()
    const after = await cluster.read(name)
    assert.equal(Number(after.metadata.resourceVersion), Number(before) + 1, 'nobody wrote after the label')
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'C-3: the user of kube-controller-manager may neither approve nor sign, its service account for certificates may both',
  onCluster(async cluster => {
    const manager = await cluster.as('system:kube-controller-manager')
    const account = await cluster.as('system:serviceaccount:kube-system:certificate-controller')
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    const csr = await cluster.read(name)
    const decide = (client: KubeClient) =>
      client.update<CertificateSigningRequest>(
        resources.certificateSigningRequests,
        { ...csr, status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x' }] } },
        { subresource: 'approval' },
      )
    await assert.rejects(decide(manager), /forbidden/)
    const approved = await decide(account)
    const sign = (client: KubeClient) =>
      client.update<CertificateSigningRequest>(
        resources.certificateSigningRequests,
        {
          ...approved,
          status: { ...approved.status, certificate: Buffer.from(cluster.ca.pem).toString('base64') },
        },
        { subresource: 'status' },
      )
    await assert.rejects(sign(manager), /forbidden/)
    await sign(account)
  }),
)

test(
  'C-12: access is asked for as whoever made the request, with his uid, groups and extra, for no name and no namespace',
  onCluster(async cluster => {
    const asked: SubjectAccessReview[] = []
    const client: KubeClient = {
      ...cluster.controllerClient,
      create: (async (resource, object, ...rest) => {
        if (resource.plural === resources.subjectAccessReviews.plural)
          asked.push(object as unknown as SubjectAccessReview)
        return cluster.controllerClient.create(resource, object, ...rest)
      }) as KubeClient['create'],
    }
    // Nobody may: so both are asked for, in this order.
    const binding = { name: 'kubeadm:node-autoapprove-certificate-rotation' }
    await cluster.admin.delete(resources.clusterRoleBindings, binding)
    await cluster.start({ client, only: ['approval'] })
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a' })
    const { spec } = await cluster.read(name)
    const attributes = {
      verb: 'create',
      group: 'certificates.k8s.io',
      version: '*',
      resource: 'certificatesigningrequests',
    }
    const identity = {
      user: 'system:node:a',
      groups: spec.groups,
      ...(spec.uid && { uid: spec.uid }),
      ...(spec.extra && { extra: spec.extra }),
    }
    assert.deepEqual(
      asked.slice(0, 2).map(review => review.spec),
      ['selfnodeclient', 'nodeclient'].map(subresource => ({
        ...identity,
        resourceAttributes: { ...attributes, subresource },
      })),
    )
  }),
)
