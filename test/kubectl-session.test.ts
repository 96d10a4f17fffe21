import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from './support/eventually.ts'
import { cells, clusterOfFile, type Kubectl, noKubectl, noOldKubectl, oldKubectl } from './support/kubectl.ts'

// A whole session, the same with an old and a new kubectl. What they print is what they print against Kubernetes.

const { cluster } = clusterOfFile(['server'], noKubectl && noOldKubectl)

const versions: readonly [version: string, skip: string | false, kubectl: () => Kubectl][] = [
  ['1.32', noKubectl, () => cluster().kubectl],
  [
    '1.20',
    noOldKubectl,
    () => cluster().as({ program: oldKubectl, home: join(cluster().folder, '..', 'old') }),
  ],
]

for (const [version, skip, kubectlOf] of versions) {
  describe(`a session with kubectl ${version}`, () => {
    const suffix = version.replace('.', '-')
    const name = `session-${suffix}`
    const configMap = (data: Record<string, string>, more: object = {}) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default', ...more },
      data,
    })

    test('apply, diff, dry run, three kinds of patch, wait and delete', { skip }, async () => {
      const kubectl = kubectlOf()
      const full = `configmap/${name}`
      assert.equal(await kubectl.ok('apply -f -', configMap({ a: '1' })), `${full} created\n`)
      assert.equal((await kubectl.run('diff -f -', configMap({ a: '1' }))).code, 0)
      const diff = await kubectl.run('diff -f -', configMap({ a: '2' }))
      assert.equal(diff.code, 1)
      assert.match(diff.stdout, /^- {2}a: "1"\n\+ {2}a: "2"\n/m)
      assert.equal(
        await kubectl.ok('apply --dry-run=server -f -', configMap({ a: '2' })),
        `${full} configured (server dry run)\n`,
      )
      for (const [type, patch] of [
        ['strategic', '{"data":{"b":"1"}}'],
        ['merge', '{"data":{"a":null}}'],
        ['json', '[{"op":"add","path":"/data/c","value":"1"}]'],
      ] as const)
        assert.equal(
          await kubectl.ok(['patch', 'cm', name, `--type=${type}`, '-p', patch]),
          `${full} patched\n`,
        )
      assert.deepEqual(JSON.parse(await kubectl.ok(['get', 'cm', name, '-o', 'jsonpath={.data}'])), {
        b: '1',
        c: '1',
      })
      assert.match(await kubectl.ok(`get cm ${name} -o yaml`), /^data:\n {2}b: "1"\n {2}c: "1"\n/m)
      const wide = cells(await kubectl.ok(`get cm ${name} -o wide`))
      assert.deepEqual(wide, [
        ['NAME', 'DATA', 'AGE'],
        [name, '2', 'AGE'],
      ])
      assert.equal(await kubectl.ok(`delete cm ${name}`), `configmap "${name}" deleted\n`)
      assert.equal(
        await kubectl.fails(`delete cm ${name}`),
        `Error from server (NotFound): configmaps "${name}" not found\n`,
      )
    })

    test('delete waits for finalizers, and takes, leaves or follows what is owned', { skip }, async () => {
      const kubectl = kubectlOf()
      const owner = `owner-${suffix}`
      const child = `child-${suffix}`
      const create = async (finalizers: string[] = []) => {
        await kubectl.ok('create -f -', configMap({}, { name: owner, finalizers }))
        const uid = await kubectl.ok(['get', 'cm', owner, '-o', 'jsonpath={.metadata.uid}'])
        const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid, blockOwnerDeletion: true }
        await kubectl.ok('create -f -', configMap({}, { name: child, ownerReferences: [reference] }))
      }
      const left = async () =>
        (await kubectl.ok(`get cm ${owner} ${child} --ignore-not-found -o name`)).trim()

      await create(['example.com/kept'])
      const deleting = kubectl.ok(`delete cm ${owner} --timeout=20s`)
      await eventually('it is being deleted', async () =>
        /^ {2}deletionTimestamp: /m.test(await kubectl.ok(`get cm ${owner} -o yaml`)),
      )
      await kubectl.ok(['patch', 'cm', owner, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
      assert.equal(await deleting, `configmap "${owner}" deleted\n`)
      await eventually('its dependent is gone', async () => (await left()) === '')

      await create()
      await kubectl.ok(`delete cm ${owner} --cascade=orphan`)
      assert.equal(await left(), `configmap/${child}`)
      assert.equal(await kubectl.ok(['get', 'cm', child, '-o', 'jsonpath={.metadata.ownerReferences}']), '')
      await kubectl.ok(`delete cm ${child}`)

      await create()
      await kubectl.ok(`delete cm ${owner} --cascade=foreground`)
      assert.equal(await left(), '')
    })

    test('what there is, what it means, who may, and lists in order and in pages', { skip }, async () => {
      const kubectl = kubectlOf()
      const wide = await kubectl.ok('api-resources -o wide --no-headers')
      assert.match(wide, /^nodes +no +v1 +false +Node +\S*create\S*/m)
      assert.match(wide, /^customresourcedefinitions +crd,crds +apiextensions\.k8s\.io\/v1 +false /m)
      assert.match(await kubectl.ok('explain node.spec.taints.effect'), /Valid effects are NoSchedule/)
      assert.match(await kubectl.ok('auth can-i --list'), /^\*\.\* +\[\] +\[\] +\[\*\]$/m)
      if (version === '1.32')
        assert.match(await kubectl.ok('create token default'), /^(\w|-)+\.(\w|-)+\.(\w|-)+/)
      await kubectl.ok(`create ns pages-${suffix}`)
      const items = ['b', 'c', 'a'].map(one =>
        configMap({}, { name: one, namespace: `pages-${suffix}`, labels: { page: 'yes' } }),
      )
      await kubectl.ok('create -f -', { apiVersion: 'v1', kind: 'List', items })
      const sorted = await kubectl.ok(
        `get cm -n pages-${suffix} -l page --chunk-size=1 --sort-by=.metadata.creationTimestamp -o name`,
      )
      assert.deepEqual(sorted.trim().split('\n').sort(), ['configmap/a', 'configmap/b', 'configmap/c'])
      const paged = await kubectl.ok(`get cm -n pages-${suffix} -l page --chunk-size=2 -o name`)
      assert.equal(paged, 'configmap/a\nconfigmap/b\nconfigmap/c\n')
    })
  })
}
