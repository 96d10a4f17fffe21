import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cells, clusterOfFile, type Kubectl, noKubectl, noOldKubectl, oldKubectl } from './support/kubectl.ts'

// Kinds of rollcall.dev and their CustomResourceDefinitions, and kinds that are not there, as kubectl shows them.

const { cluster } = clusterOfFile(['server', '--no-controllers'], noKubectl && noOldKubectl)

const versions: readonly [version: string, skip: string | false, kubectl: () => Kubectl][] = [
  ['1.32', noKubectl, () => cluster().kubectl],
  [
    '1.20',
    noOldKubectl,
    () => cluster().as({ program: oldKubectl, home: join(cluster().folder, '..', 'old') }),
  ],
]

const stranger = { apiVersion: 'x/v1', kind: 'Foo', metadata: { name: 'x' } }
const policy = (name: string, spec: object) => ({
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name },
  spec,
})

for (const [version, skip, kubectl] of versions) {
  describe(`kubectl ${version} and kinds of our own`, { concurrency: 2 }, () => {
    test('an unknown kind is said to be unknown, as against Kubernetes', { skip }, async () => {
      // 1.20 says it in other words.
      const words =
        version === '1.20'
          ? 'error: unable to recognize "STDIN": no matches for kind "Foo" in version "x/v1"\n'
          : 'error: resource mapping not found for name: "x" namespace: "" from "STDIN": no matches for kind "Foo" in version "x/v1"\nensure CRDs are installed first\n'
      for (const verb of ['create', 'apply', 'replace', 'diff', 'delete'])
        assert.equal((await kubectl().run(`${verb} -f -`, stranger)).stderr, words, verb)
    })

    test('get crd and explain show our kinds as any others', { skip }, async () => {
      const definitions = cells(await kubectl().ok('get crd'))
      assert.deepEqual(definitions[0], ['NAME', 'CREATED AT'])
      const row = definitions.find(([name]) => name === 'certificatepolicies.rollcall.dev')
      assert.match(row?.[1] ?? '', /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      await kubectl().ok('wait --for=condition=Established crd/certificatepolicies.rollcall.dev --timeout=5s')
      assert.match(await kubectl().ok('explain certificatepolicies.spec'), /^ {2,3}evidence\t<string>/m)
      assert.match(await kubectl().ok('explain crd.spec.versions.schema'), /openAPIV3Schema/)
    })

    test('deploy/crds are applied as on any cluster and change nothing; other definitions are refused with the reason', {
      skip,
    }, async () => {
      const files = fileURLToPath(new URL('../deploy/crds', import.meta.url))
      const before = await kubectl().ok('get crd -o json')
      await kubectl().ok(['apply', '-f', files])
      const said = (await kubectl().ok(['apply', '-f', files])).trim().split('\n')
      assert.ok(said.length >= 5)
      for (const line of said)
        assert.match(line, /^customresourcedefinition\.apiextensions\.k8s\.io\/\S+ unchanged$/)
      const specs = (text: string) => JSON.parse(text).items.map(({ spec }: { spec: unknown }) => spec)
      assert.deepEqual(specs(await kubectl().ok('get crd -o json')), specs(before))
      const foreign = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'foos.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Cluster',
          names: { plural: 'foos', kind: 'Foo' },
          versions: [],
        },
      }
      assert.match(
        await kubectl().fails('apply -f -', foreign),
        /spec: Forbidden: the kinds of this server are built into it/,
      )
      const [own] = JSON.parse(before).items
      own.metadata = { name: own.metadata.name }
      own.spec.scope = 'Namespaced'
      assert.match(
        await kubectl().fails('apply -f -', own),
        /spec: Forbidden: the kinds of this server are built into it/,
      )
    })

    test('a kind of ours is applied, compared, patched, shown and deleted', { skip }, async () => {
      const name = `p${version}`
      const full = `certificatepolicy.rollcall.dev/${name}`
      const apply = (spec: object) => kubectl().ok('apply -f -', policy(name, spec))
      assert.equal(await apply({ evidence: 'NodeStatus' }), `${full} created\n`)
      assert.equal(await apply({ evidence: 'NodeStatus' }), `${full} unchanged\n`)
      const changed = policy(name, { evidence: 'NodeStatus', mode: 'dryRun' })
      const { code, stdout } = await kubectl().run('diff -f -', changed)
      assert.equal(code, 1)
      assert.match(stdout, /^\+ {2}mode: dryRun\n/m)
      assert.equal(
        await kubectl().ok('apply --dry-run=server -f -', changed),
        `${full} configured (server dry run)\n`,
      )
      assert.equal(await apply({ evidence: 'NodeStatus', mode: 'dryRun' }), `${full} configured\n`)
      assert.match(
        await kubectl().fails(['patch', 'certpolicy', name, '-p', '{"spec":{"mode":"manual"}}']),
        /^(error: application\/strategic-merge-patch\+json is not supported by rollcall\.dev\/v1alpha1, Kind=CertificatePolicy|Error from server \(UnsupportedMediaType\)): the body of the request was in an unknown format/,
      )
      const patch = ['patch', 'certpolicy', name, '--type=merge', '-p', '{"spec":{"mode":"manual"}}']
      assert.equal(await kubectl().ok(patch), `${full} patched\n`)
      const shown = cells(await kubectl().ok(`get certpolicy ${name}`))
      assert.equal(shown[0]?.[0], 'NAME')
      assert.ok(shown[1]?.includes('manual'))
      assert.match(await kubectl().ok(`describe certpolicy ${name}`), /^ +Mode: +manual$/m)
      assert.match(
        await kubectl().fails('create -f -', policy('wrong', { mode: 'perhaps' })),
        /spec\.mode: Unsupported value: "perhaps": supported values: /,
      )
      assert.equal(
        await kubectl().ok(`delete certpolicy ${name}`),
        `certificatepolicy.rollcall.dev "${name}" deleted\n`,
      )
    })
  })
}
