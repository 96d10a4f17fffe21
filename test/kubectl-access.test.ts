import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { requestObject, type Wanted } from './support/certificate-request.ts'
import { cells, clusterOfFile, type Kubectl, noKubectl } from './support/kubectl.ts'

// kubectl itself is the judge: what it prints here is what it prints against Kubernetes 1.36.

const skip = noKubectl
const admin = 'kubernetes-admin'
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet'
/** Nobody here signs for it. */
const foreign = 'example.com/turnstile'
const resource = 'certificatesigningrequest.certificates.k8s.io'

const { cluster, kubectl } = clusterOfFile(['up', '--nodes', '1'])

const create = async (wanted: Wanted) => kubectl.ok('create -f -', await requestObject(wanted))

describe('kubectl and who may do what', { concurrency: 3 }, () => {
  const node = (name: string) => ['--as', `system:node:${name}`, '--as-group', 'system:nodes']

  test('auth can-i answers yes with 0 and no with 1, for oneself and for a node', { skip }, async () => {
    const asked: [string[], number, string][] = [
      [['approve', 'signers.certificates.k8s.io/kubernetes.io/kubelet-serving'], 0, 'yes\n'],
      [['create', 'csr', ...node('x')], 0, 'yes\n'],
      [['update', 'csr', '--subresource=approval', ...node('x')], 1, 'no\n'],
      [['delete', 'secrets', '-A', ...node('x')], 1, 'no - can only read resources of this type\n'],
      [['get', '/metrics', '--as', 'joe'], 1, 'no\n'],
    ]
    const answers = await Promise.all(asked.map(([args]) => kubectl.run(['auth', 'can-i', ...args])))
    assert.deepEqual(
      answers.map(({ code, stdout }, i) => [asked[i]?.[0], code, stdout]),
      asked,
    )
  })

  test('auth can-i --list and auth whoami show rights and identity', { skip }, async () => {
    const [own, nodes, who] = await Promise.all([
      kubectl.ok('auth can-i --list'),
      kubectl.ok(['auth', 'can-i', '--list', ...node('x'), '--as-group', 'system:authenticated']),
      kubectl.ok('auth whoami'),
    ])
    assert.match(own, /^Resources +Non-Resource URLs +Resource Names +Verbs\n\*\.\* +\[\] +\[\] +\[\*\]\n/)
    assert.match(own, /^ +\[\*\] +\[\] +\[\*\]$/m)
    assert.match(own, /^ +\[\/api\/\*\] +\[\] +\[get\]$/m)
    assert.match(
      nodes,
      /^certificatesigningrequests\.certificates\.k8s\.io\/selfnodeclient +\[\] +\[\] +\[create\]$/m,
    )
    assert.doesNotMatch(nodes, /\*\.\*/)
    assert.deepEqual(cells(who).slice(0, 3), [
      ['ATTRIBUTE', 'VALUE'],
      ['Username', admin],
      ['Groups', '[kubeadm:cluster-admins system:authenticated]'],
    ])
  })

  test('as a node one may ask for that node only, and a node’s own renewal is approved', {
    skip,
  }, async () => {
    const of = (name: string, commonName: string) =>
      requestObject({
        name,
        commonName,
        organizations: ['system:nodes'],
        signerName: kubelet,
        labels: { app: 'x' },
      })
    assert.equal(
      await kubectl.fails(['create', '-f', '-', ...node('x')], await of('foul', 'system:node:y')),
      'Error from server (Forbidden): error when creating "STDIN": certificatesigningrequests.certificates.k8s.io "foul" is forbidden: can only create a node CSR with CN=system:node:x\n',
    )
    await kubectl.ok(['create', '-f', '-', ...node('x')], await of('fair', 'system:node:x'))
    await kubectl.ok(['wait', '--for=jsonpath={.status.certificate}', 'csr/fair', '--timeout=10s'])
    assert.deepEqual(cells(await kubectl.ok(['get', 'csr', 'fair', '--no-headers', ...node('x')])), [
      ['fair', 'AGE', kubelet, 'system:node:x', '<none>', 'Approved,Issued'],
    ])
    await create({ name: 'unfair', signerName: foreign, labels: { app: 'x' } })
    assert.match(
      await kubectl.fails(['certificate', 'approve', 'unfair', ...node('x')]),
      /^Error from server \(Forbidden\): certificatesigningrequests\.certificates\.k8s\.io "unfair" is forbidden: User "system:node:x" cannot update resource "certificatesigningrequests\/approval" in API group "certificates\.k8s\.io" at the cluster scope/,
    )
    assert.match(
      await kubectl.fails(['get', 'nodes', ...node('x')]),
      /^Error from server \(Forbidden\): nodes is forbidden: User "system:node:x" cannot list resource "nodes" in API group "" at the cluster scope/,
    )
    assert.match(
      await kubectl.fails(['delete', 'node', 'worker-1', ...node('worker-1')]),
      /^Error from server \(Forbidden\): nodes "worker-1" is forbidden: User "system:node:worker-1" cannot delete resource "nodes" in API group "" at the cluster scope/,
    )
  })

  test('who may update approvals still needs the right to approve for that signer', { skip }, async () => {
    await kubectl.ok('create clusterrole clerk --verb=get,list,update --resource=csr,csr/approval')
    await kubectl.ok('create clusterrolebinding clerk --clusterrole=clerk --user=clerk')
    await create({ name: 'judged', signerName: foreign, labels: { app: 'x' } })
    assert.equal(
      await kubectl.fails('certificate approve judged --as clerk'),
      'Error from server (Forbidden): certificatesigningrequests.certificates.k8s.io "judged" is forbidden: user not permitted to approve requests with signerName "example.com/turnstile"\n',
    )
    // Signers are no resource that is served: `create clusterrole` does not take them, a file does.
    await kubectl.ok('create -f -', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'gatekeeper' },
      rules: [
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['signers'],
          resourceNames: ['example.com/*'],
          verbs: ['approve'],
        },
      ],
    })
    await kubectl.ok('create clusterrolebinding gatekeeper --clusterrole=gatekeeper --user=clerk')
    assert.equal(await kubectl.ok('certificate approve judged --as clerk'), `${resource}/judged approved\n`)
  })

  test('impersonation is refused to who has no right to it', { skip }, async () => {
    const node = cluster().as({ kubeconfig: join(cluster().folder, 'nodes/worker-1/kubeconfig') })
    assert.equal(
      await node.fails('get csr --as kubernetes-admin'),
      'Error from server (Forbidden): users "kubernetes-admin" is forbidden: User "system:node:worker-1" cannot impersonate resource "users" in API group "" at the cluster scope\n',
    )
    assert.match(await node.ok('auth whoami'), /^Username +system:node:worker-1$/m)
    assert.match(await node.ok('get node worker-1'), /^worker-1 +Ready /m)
    assert.equal((await node.run('get nodes')).code, 1)
    const bootstrap = cluster().as({ kubeconfig: join(cluster().folder, 'bootstrap.kubeconfig') })
    assert.match(
      await bootstrap.ok('auth whoami'),
      /^Groups +\[system:bootstrappers system:bootstrappers:kubeadm:default-node-token system:authenticated\]$/m,
    )
    assert.equal(
      await bootstrap.fails('get secrets'),
      `Error from server (Forbidden): secrets is forbidden: User "${await tokenUser(bootstrap)}" cannot list resource "secrets" in API group "" in the namespace "default"\n`,
    )
  })
})

async function tokenUser(bootstrap: Kubectl): Promise<string> {
  return bootstrap.ok(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'])
}
