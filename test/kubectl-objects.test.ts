import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { cells, clusterOfFile, noKubectl } from './support/kubectl.ts'

// kubectl itself is the judge: what it prints here is what it prints against Kubernetes 1.36.

const skip = noKubectl
const { cluster, kubectl } = clusterOfFile(['server'])

const configMap = (name: string, data: Record<string, unknown>, metadata: Record<string, unknown> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
  data,
})

const dataOf = async (name: string) =>
  JSON.parse(await kubectl.ok(['get', 'cm', name, '-o', 'jsonpath={.data}']))

describe('kubectl apply and diff', { concurrency: 3 }, () => {
  test('apply creates, changes, removes what is no longer said, and leaves alone', { skip }, async () => {
    const apply = (...documents: unknown[]) => kubectl.ok('apply -f -', documents)
    const first = configMap('applied-1', { a: '1', b: '2' })
    const second = configMap('applied-2', { a: '1' })
    assert.equal(await apply(first, second), 'configmap/applied-1 created\nconfigmap/applied-2 created\n')
    assert.equal(await apply(first, second), 'configmap/applied-1 unchanged\nconfigmap/applied-2 unchanged\n')
    const changed = configMap('applied-1', { a: '3', c: '4' })
    assert.equal(
      await apply(changed, second),
      'configmap/applied-1 configured\nconfigmap/applied-2 unchanged\n',
    )
    assert.deepEqual(await dataOf('applied-1'), { a: '3', c: '4' })
    assert.equal(
      await kubectl.ok('apply -f - --dry-run=server', first),
      'configmap/applied-1 configured (server dry run)\n',
    )
    assert.deepEqual(await dataOf('applied-1'), { a: '3', c: '4' })
  })

  test('diff shows what apply would change, and ends with 0 when that is nothing', { skip }, async () => {
    const document = configMap('compared', { a: 'b' })
    await kubectl.ok('apply -f -', document)
    assert.deepEqual(await kubectl.run('diff -f -', document), { code: 0, stdout: '', stderr: '' })
    const { code, stdout } = await kubectl.run('diff -f -', configMap('compared', { a: 'c' }))
    assert.equal(code, 1)
    assert.match(stdout, /^ data:\n- {2}a: b\n\+ {2}a: c\n/m)
    assert.doesNotMatch(stdout, /^[+-] .*(resourceVersion|uid|generation)/m)
  })

  test('apply of what was created otherwise warns and takes it over', { skip }, async () => {
    await kubectl.ok('create cm foundling --from-literal=a=1')
    const { code, stdout, stderr } = await kubectl.run('apply -f -', configMap('foundling', { b: '2' }))
    assert.deepEqual({ code, stdout }, { code: 0, stdout: 'configmap/foundling configured\n' })
    assert.match(
      stderr,
      /^Warning: resource configmaps\/foundling is missing the kubectl\.kubernetes\.io\/last-applied-configuration annotation/,
    )
    assert.deepEqual(await dataOf('foundling'), { a: '1', b: '2' })
  })

  test('server-side apply is refused with what to do instead', { skip }, async () => {
    assert.match(
      await kubectl.fails('apply --server-side -f -', configMap('sided', {})),
      /server-side apply is not supported by this server: use kubectl apply without --server-side/,
    )
  })

  test('a mistyped field is refused, warned of, or dropped, as --validate says', { skip }, async () => {
    const mistyped = {
      ...configMap('mistyped', { a: 'b' }, { namespac: 'x' }),
      dta: { a: 'b' },
    }
    assert.equal(
      await kubectl.fails('create -f -', mistyped),
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta", unknown field "metadata.namespac"\n',
    )
    assert.deepEqual(await kubectl.run('create --validate=warn -f -', mistyped), {
      code: 0,
      stdout: 'configmap/mistyped created\n',
      stderr: 'Warning: unknown field "dta"\nWarning: unknown field "metadata.namespac"\n',
    })
    assert.equal(
      await kubectl.ok('replace --validate=ignore -f -', mistyped),
      'configmap/mistyped replaced\n',
    )
    assert.doesNotMatch(await kubectl.ok('get cm mistyped -o json'), /dta|namespac"/)
  })
})

describe('kubectl patch, label, annotate, edit, replace and delete', { concurrency: 3 }, () => {
  test('patch works with all three kinds of patch and says when nothing changed', { skip }, async () => {
    await kubectl.ok('create cm patched --from-literal=a=1')
    const patch = (type: string, text: string) =>
      kubectl.run(['patch', 'cm', 'patched', '--type', type, '-p', text])
    const steps: [string, string, string][] = [
      ['strategic', '{"data":{"b":"2"}}', 'configmap/patched patched\n'],
      ['strategic', '{"data":{"b":"2"}}', 'configmap/patched patched (no change)\n'],
      ['merge', '{"data":{"b":null,"c":"3"}}', 'configmap/patched patched\n'],
      ['json', '[{"op":"move","from":"/data/c","path":"/data/d"}]', 'configmap/patched patched\n'],
    ]
    for (const [type, text, printed] of steps) {
      assert.deepEqual(await patch(type, text), { code: 0, stdout: printed, stderr: '' })
    }
    assert.deepEqual(await dataOf('patched'), { a: '1', d: '3' })
    const test = await patch('json', '[{"op":"test","path":"/data/a","value":"2"}]')
    assert.match(test.stderr, /^The request is invalid: .*test failed$/m)
    const remove = await patch('json', '[{"op":"remove","path":"/data/z"}]')
    assert.match(remove.stderr, /^The request is invalid: .*missing path: \/data\/z/)
    const mistyped = await patch('merge', '{"data":{"a":1}}')
    assert.match(
      mistyped.stderr,
      /^The request is invalid: patch: Invalid value: .*: json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/m,
    )
    assert.deepEqual([test.code, remove.code, mistyped.code], [1, 1, 1])
    assert.equal(
      await kubectl.fails(['patch', 'cm', 'nowhere', '-p', '{}']),
      'Error from server (NotFound): configmaps "nowhere" not found\n',
    )
  })

  test('label, annotate and edit change an object', { skip }, async () => {
    await kubectl.ok('create cm tagged --from-literal=a=1')
    assert.equal(await kubectl.ok('label cm tagged x=y'), 'configmap/tagged labeled\n')
    assert.equal(
      await kubectl.fails('label cm tagged x=z'),
      "error: 'x' already has a value (y), and --overwrite is false\n",
    )
    assert.equal(await kubectl.ok('label cm tagged x=z --overwrite'), 'configmap/tagged labeled\n')
    assert.match(
      await kubectl.fails('label cm tagged node-restriction..io/x=y'),
      /^The ConfigMap "tagged" is invalid: metadata\.labels: Invalid value: "node-restriction\.\.io\/x": prefix part a lowercase RFC 1123 subdomain must consist of/,
    )
    assert.equal(await kubectl.ok('annotate cm tagged note=short'), 'configmap/tagged annotated\n')
    const editor = cluster().as({ environment: { KUBE_EDITOR: 'sed -i s/short/long/' } })
    assert.equal(await editor.ok('edit cm tagged'), 'configmap/tagged edited\n')
    const untouched = cluster().as({ environment: { KUBE_EDITOR: 'true' } })
    assert.equal((await untouched.run('edit cm tagged')).stderr, 'Edit cancelled, no changes made.\n')
    assert.equal(
      await kubectl.ok(['get', 'cm', 'tagged', '-o', 'jsonpath={.metadata.annotations.note}']),
      'long',
    )
    assert.deepEqual(cells(await kubectl.ok('get cm tagged --show-labels --no-headers'))[0]?.at(-1), 'x=z')
  })

  test('replace of an outdated copy is a conflict; without a version it is not', { skip }, async () => {
    await kubectl.ok('create cm contested --from-literal=a=1')
    const outdated = JSON.parse(await kubectl.ok('get cm contested -o json'))
    await kubectl.ok('annotate cm contested newer=yes')
    assert.equal(
      await kubectl.fails('replace -f -', outdated),
      'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "contested": the object has been modified; please apply your changes to the latest version and try again\n',
    )
    assert.equal(
      await kubectl.ok('replace -f -', configMap('contested', { a: '2' })),
      'configmap/contested replaced\n',
    )
    assert.match(
      await kubectl.fails('replace -f -', configMap('nobody', {})),
      /^Error from server \(NotFound\): error when replacing "STDIN": configmaps "nobody" not found$/m,
    )
  })

  test('delete --all takes the kind in that namespace; a deleted namespace takes all of it', {
    skip,
  }, async () => {
    await kubectl.ok('create ns doomed')
    await kubectl.ok('create cm a -n doomed')
    await kubectl.ok('create secret generic s -n doomed')
    const deleted = await kubectl.ok('delete cm --all -n doomed')
    assert.match(deleted, /^configmap "a" deleted\n/)
    assert.equal((await kubectl.run('get cm a -n doomed')).code, 1)
    assert.equal(await kubectl.ok('get secret -n doomed -o name'), 'secret/s\n')
    assert.equal(await kubectl.ok('delete ns doomed'), 'namespace "doomed" deleted\n')
    assert.deepEqual(await kubectl.run('get secret,cm -n doomed'), {
      code: 0,
      stdout: '',
      stderr: 'No resources found in doomed namespace.\n',
    })
    assert.equal(
      await kubectl.fails('delete ns default'),
      'Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted\n',
    )
  })
})

describe('kubectl create', { concurrency: 3 }, () => {
  test('create sa, secret, configmap, namespace and RBAC objects, which it sends as protobuf', {
    skip,
  }, async () => {
    const created: [string, string][] = [
      ['sa robot', 'serviceaccount/robot'],
      ['secret generic pair --from-literal=a=1 --from-literal=b=2', 'secret/pair'],
      ['configmap plain --from-literal=a=1', 'configmap/plain'],
      ['namespace made', 'namespace/made'],
      ['clusterrole reader --verb=get,list --resource=csr', 'clusterrole.rbac.authorization.k8s.io/reader'],
      ['role reader --verb=get --resource=cm --resource-name=plain', 'role.rbac.authorization.k8s.io/reader'],
      [
        'rolebinding reader --role=reader --serviceaccount=default:robot',
        'rolebinding.rbac.authorization.k8s.io/reader',
      ],
      [
        'clusterrolebinding reader --clusterrole=reader --user=joe --group=crowd',
        'clusterrolebinding.rbac.authorization.k8s.io/reader',
      ],
    ]
    const printed = await Promise.all(created.map(([what]) => kubectl.ok(`create ${what}`)))
    assert.deepEqual(
      printed,
      created.map(([, name]) => `${name} created\n`),
    )
    const [inDefault, everywhere] = await Promise.all([
      kubectl.ok('get sa/robot secret/pair cm/plain role/reader rolebinding/reader -o wide'),
      kubectl.ok('get ns/made clusterrole/reader clusterrolebinding/reader -o wide'),
    ])
    const tables = [...inDefault.split('\n\n'), ...everywhere.split('\n\n')].map(cells)
    const created8601 = tables[3]?.[1]?.[1]
    assert.match(created8601 ?? '', /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(tables.slice(0, 5), [
      [
        ['NAME', 'SECRETS', 'AGE'],
        ['serviceaccount/robot', '0', 'AGE'],
      ],
      [
        ['NAME', 'TYPE', 'DATA', 'AGE'],
        ['secret/pair', 'Opaque', '2', 'AGE'],
      ],
      [
        ['NAME', 'DATA', 'AGE'],
        ['configmap/plain', '1', 'AGE'],
      ],
      [
        ['NAME', 'CREATED AT'],
        ['role.rbac.authorization.k8s.io/reader', created8601],
      ],
      [
        ['NAME', 'ROLE', 'AGE', 'USERS', 'GROUPS', 'SERVICEACCOUNTS'],
        // Nothing in the columns of users and groups.
        ['rolebinding.rbac.authorization.k8s.io/reader', 'Role/reader', 'AGE', 'default/robot'],
      ],
    ])
    assert.deepEqual(tables[5], [
      ['NAME', 'STATUS', 'AGE'],
      ['namespace/made', 'Active', 'AGE'],
    ])
    assert.deepEqual(tables[7]?.[1]?.slice(1), ['ClusterRole/reader', 'AGE', 'joe', 'crowd'])
    assert.equal(
      await kubectl.ok('auth can-i get cm/plain --as system:serviceaccount:default:robot'),
      'yes\n',
    )
    assert.equal(
      (await kubectl.run('auth can-i get cm/other --as system:serviceaccount:default:robot')).stdout,
      'no\n',
    )
  })

  test('describe shows data, secrets only by their length', { skip }, async () => {
    await kubectl.ok('create secret generic hidden --from-literal=password=swordfish')
    await kubectl.ok('create configmap shown --from-literal=colour=red')
    const [secret, shown] = await Promise.all([
      kubectl.ok('describe secret hidden'),
      kubectl.ok('describe cm shown'),
    ])
    assert.match(secret, /^Type: +Opaque\n\nData\n====\npassword: +9 bytes$/m)
    assert.doesNotMatch(secret, /swordfish/)
    assert.match(shown, /^Data\n====\ncolour:\n----\nred\n/m)
  })

  test('what cannot be created is refused in Kubernetes’ words', { skip }, async () => {
    const texts = await Promise.all([
      kubectl.fails('create cm Bad_Name'),
      kubectl.fails('create cm lost -n nowhere'),
      kubectl.fails('create ns default'),
      kubectl.fails('create -f -', configMap('bad-key', { 'a b': 'c' })),
      kubectl.fails('create -f -', { ...configMap('bad-type', {}), data: { a: 1 } }),
      kubectl.fails('create -f -', { ...configMap('', {}), metadata: { namespace: 'default' } }),
      kubectl.fails('create -f -', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'no-base64' },
        data: { a: '%' },
      }),
      kubectl.fails('create token nobody'),
      kubectl.fails('create cm mine --as stranger'),
    ])
    assert.deepEqual(
      texts.map(text => text.trimEnd()),
      [
        `error: failed to create configmap: ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
        'error: failed to create configmap: namespaces "nowhere" not found',
        'Error from server (AlreadyExists): namespaces "default" already exists',
        `The ConfigMap "bad-key" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
        'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
        'The ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        'Error from server (BadRequest): error when creating "STDIN": Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0',
        'error: failed to create token: serviceaccounts "nobody" not found',
        'error: failed to create configmap: configmaps is forbidden: User "stranger" cannot create resource "configmaps" in API group "" in the namespace "default"',
      ],
    )
  })

  test('create token gives a service account a token that says who it is', { skip }, async () => {
    await kubectl.ok('create sa courier')
    const token = (await kubectl.ok('create token courier --duration=15m')).trim()
    const server = (await cluster().process.ready).replace(/^ready /, '')
    const authority = join(cluster().folder, 'pki/ca.crt')
    const bearer = cluster().as({ kubeconfig: '/dev/null' })
    const who = await bearer.ok(
      `auth whoami --server ${server} --certificate-authority ${authority} --token ${token}`,
    )
    assert.match(who, /^Username +system:serviceaccount:default:courier$/m)
    assert.match(
      who,
      /^Groups +\[system:serviceaccounts system:serviceaccounts:default system:authenticated\]$/m,
    )
  })

  test('get lists three hundred objects page by page', { skip }, async () => {
    await kubectl.ok('create ns many')
    const names = Array.from({ length: 300 }, (_, i) => `cm-${String(i).padStart(3, '0')}`)
    const items = names.map(name => configMap(name, {}, { namespace: 'many', labels: { of: 'many' } }))
    await kubectl.ok('create -f -', { apiVersion: 'v1', kind: 'List', items })
    const paged = await kubectl.run('get cm -n many -l of=many -o name --chunk-size=60 -v=6')
    assert.deepEqual(
      paged.stdout.trimEnd().split('\n'),
      names.map(name => `configmap/${name}`),
    )
    const pages = paged.stderr.match(/GET https:\S+\/configmaps\?(\S*)/g) ?? []
    assert.deepEqual(
      pages.map(page => /[?&]continue=/.test(page)),
      [false, true, true, true, true],
    )
    const whole = await kubectl.ok('get cm -n many -l of=many --no-headers --chunk-size=0')
    assert.equal(cells(whole).length, 300)
  })
})
