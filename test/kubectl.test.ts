import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { requestObject, type Wanted } from './support/certificate-request.ts'
import { cells, clusterOfFile, noKubectl } from './support/kubectl.ts'

// kubectl itself is the judge: what it prints here is what it prints against Kubernetes 1.36.

const skip = noKubectl
const admin = 'kubernetes-admin'
const client = 'kubernetes.io/kube-apiserver-client'
/** Nobody here signs for it. */
const foreign = 'example.com/turnstile'
const resource = 'certificatesigningrequest.certificates.k8s.io'

const { kubectl } = clusterOfFile(['up', '--nodes', '1'])

const create = async (wanted: Wanted) => kubectl.ok('create -f -', await requestObject(wanted))

describe('kubectl and certificate requests', { concurrency: 3 }, () => {
  test('A-20, A-21: get csr,nodes prints both requests of the node and the node', { skip }, async () => {
    const text = await kubectl.ok('get csr,nodes --field-selector metadata.name!=nothing -l !app')
    const [requests, nodes] = text.split('\n\n').map(cells)
    assert.deepEqual(requests?.[0], [
      'NAME',
      'AGE',
      'SIGNERNAME',
      'REQUESTOR',
      'REQUESTEDDURATION',
      'CONDITION',
    ])
    const rows = requests?.slice(1).map(([name, ...row]) => {
      assert.match(name ?? '', new RegExp(`^${resource}/csr-[a-z0-9]{5}$`))
      return row.join(' ').replace(/bootstrap:[a-z0-9]{6} /, 'bootstrap:TOKEN ')
    })
    assert.deepEqual(rows?.sort(), [
      'AGE kubernetes.io/kube-apiserver-client-kubelet system:bootstrap:TOKEN <none> Approved,Issued',
      'AGE kubernetes.io/kubelet-serving system:node:worker-1 <none> Approved,Issued',
    ])
    assert.deepEqual(nodes, [
      ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION'],
      ['node/worker-1', 'Ready', '<none>', 'AGE', 'v1.36.0+rollcall'],
    ])
  })

  test('get and describe show a node as they show a kubelet’s', { skip }, async () => {
    const [wide, described] = await Promise.all([
      kubectl.ok('get node worker-1 -o wide'),
      kubectl.ok('describe node worker-1'),
    ])
    assert.deepEqual(cells(wide)[0]?.slice(4), [
      'VERSION',
      'INTERNAL-IP',
      'EXTERNAL-IP',
      'OS-IMAGE',
      'KERNEL-VERSION',
      'CONTAINER-RUNTIME',
    ])
    assert.match(wide, /127\.0\.1\.1 +<none>/)
    assert.match(described, /^ {2}Ready +True .*KubeletReady +kubelet is posting ready status$/m)
    assert.match(described, /^Lease:\n {2}HolderIdentity: {2}worker-1$/m)
    assert.match(described, /^Addresses:\n {2}InternalIP: {2}127\.0\.1\.1\n {2}Hostname: {4}worker-1$/m)
    assert.match(described, /^Non-terminated Pods: +\(0 in total\)$/m)
  })

  test('get --raw reaches a node of the fleet through the API', { skip }, async () => {
    assert.equal(await kubectl.ok('get --raw /api/v1/nodes/worker-1/proxy/healthz'), 'ok')
  })

  test('create, approve, get and describe a request; its certificate is there', { skip }, async () => {
    const object = await requestObject({
      name: 'jane',
      signerName: client,
      expirationSeconds: 3600,
      labels: { app: 'jane' },
    })
    assert.equal(await kubectl.ok('create -f -', object), `${resource}/jane created\n`)
    assert.equal(
      await kubectl.fails('create -f -', object),
      'Error from server (AlreadyExists): error when creating "STDIN": certificatesigningrequests.certificates.k8s.io "jane" already exists\n',
    )
    assert.deepEqual(cells(await kubectl.ok('get csr jane'))[1], [
      'jane',
      'AGE',
      client,
      admin,
      '60m',
      'Pending',
    ])

    assert.equal(await kubectl.ok('certificate approve jane'), `${resource}/jane approved\n`)
    const wait = ['wait', '--for=jsonpath={.status.certificate}', '--timeout=10s', 'csr/jane']
    assert.equal(await kubectl.ok(wait), `${resource}/jane condition met\n`)
    const [row, described, conditions] = await Promise.all([
      kubectl.ok('get csr jane --no-headers'),
      kubectl.ok('describe csr jane'),
      kubectl.ok(['get', 'csr', 'jane', '-o', 'jsonpath={.status.conditions}']),
    ])
    assert.deepEqual(cells(row), [['jane', 'AGE', client, admin, '60m', 'Approved,Issued']])
    assert.match(described, /^Requesting User: {5}kubernetes-admin$/m)
    assert.match(described, /^Requested Duration: {2}60m$/m)
    assert.match(described, /^Status: {14}Approved,Issued$/m)
    assert.match(described, /^ +Common Name: {4}jane$/m)
    const [condition, ...others] = JSON.parse(conditions)
    assert.deepEqual(others, [])
    const { lastUpdateTime, lastTransitionTime, ...rest } = condition
    assert.match(lastUpdateTime, /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    // kubectl writes the one by its clock, then the API the other: a second may begin between them.
    assert.ok(lastTransitionTime >= lastUpdateTime, `${lastTransitionTime} is before ${lastUpdateTime}`)
    assert.deepEqual(rest, {
      type: 'Approved',
      status: 'True',
      reason: 'KubectlApprove',
      message: 'This CSR was approved by kubectl certificate approve.',
    })
  })

  test('A-22: certificate approve and deny refuse to contradict each other, and repeat themselves calmly', {
    skip,
  }, async () => {
    await create({ name: 'yes', signerName: foreign })
    await create({ name: 'no', signerName: foreign })
    assert.equal(await kubectl.ok('certificate approve yes'), `${resource}/yes approved\n`)
    assert.equal(await kubectl.ok('certificate deny no'), `${resource}/no denied\n`)
    const both = await kubectl.run('certificate approve yes no')
    assert.deepEqual(both, {
      code: 1,
      stdout: `${resource}/yes approved\n`,
      stderr: 'error: certificate signing request "no" is already Denied\n',
    })
    assert.equal(
      await kubectl.fails('certificate deny yes'),
      'error: certificate signing request "yes" is already Approved\n',
    )
    assert.equal(await kubectl.ok('certificate approve --force yes'), `${resource}/yes approved\n`)
    assert.match(
      await kubectl.fails('certificate approve missing'),
      /^Error from server \(NotFound\): certificatesigningrequests\.certificates\.k8s\.io "missing" not found$/m,
    )
    const [approved, denied] = cells(await kubectl.ok('get csr yes no --no-headers'))
    assert.equal(approved?.at(-1), 'Approved')
    assert.equal(denied?.at(-1), 'Denied')
  })

  test('get --watch prints each change of a request as it happens', { skip }, async () => {
    await create({ name: 'watched', signerName: foreign, labels: { app: 'watched' } })
    const watch = kubectl.follow('get csr -l app=watched --watch --output-watch-events')
    const change = async () => {
      const [row] = cells(await watch.line())
      return `${row?.[0]} ${row?.[1]} ${row?.at(-1)}`
    }
    try {
      assert.match(
        await watch.line(),
        /^EVENT +NAME +AGE +SIGNERNAME +REQUESTOR +REQUESTEDDURATION +CONDITION$/,
      )
      assert.equal(await change(), 'ADDED watched Pending')
      await kubectl.ok('certificate approve watched')
      assert.equal(await change(), 'MODIFIED watched Approved')
      await create({ name: 'watched-too', signerName: foreign, labels: { app: 'watched' } })
      assert.equal(await change(), 'ADDED watched-too Pending')
      // To a watch with a selector a request that no longer matches is gone.
      await kubectl.ok('label csr watched-too app-')
      assert.equal(await change(), 'DELETED watched-too Pending')
      await kubectl.ok('delete csr watched')
      assert.equal(await change(), 'DELETED watched Approved')
    } finally {
      await watch.stop()
    }
  })

  test('wait ends when the condition is met, and with 1 when it is not in time', { skip }, async () => {
    await create({ name: 'waiting', signerName: foreign })
    assert.equal(
      await kubectl.fails('wait --for=condition=Approved csr/waiting --timeout=100ms'),
      'error: timed out waiting for the condition on certificatesigningrequests/waiting\n',
    )
    const waiting = kubectl.ok('wait --for=condition=Approved csr/waiting --timeout=20s')
    await kubectl.ok('certificate approve waiting')
    assert.equal(await waiting, `${resource}/waiting condition met\n`)
    const gone = kubectl.ok('wait --for=delete csr/waiting --timeout=20s')
    await kubectl.ok('delete csr waiting --wait=false')
    assert.match(await gone, /^(certificatesigningrequest.certificates.k8s.io\/waiting condition met\n)?$/)
  })

  test('get prints a request as yaml, json, name, jsonpath and columns of one’s own', { skip }, async () => {
    await create({ name: 'printed', signerName: foreign, expirationSeconds: 600, labels: { app: 'printed' } })
    const forms = ['yaml', 'json', 'name', 'jsonpath={.spec.username}', 'custom-columns=WHO:.spec.username']
    const [yaml, json, name, path, columns] = await Promise.all(
      forms.map(form => kubectl.ok(['get', 'csr', 'printed', '-o', form])),
    )
    assert.match(
      yaml ?? '',
      /^apiVersion: certificates\.k8s\.io\/v1\nkind: CertificateSigningRequest\nmetadata:\n/,
    )
    assert.match(yaml ?? '', /\nspec:\n {2}expirationSeconds: 600\n/)
    assert.match(yaml ?? '', /\nstatus: \{\}\n$/)
    const { metadata, spec, status } = JSON.parse(json ?? '')
    assert.deepEqual(metadata.labels, { app: 'printed' })
    assert.match(metadata.uid, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.deepEqual(spec.groups, ['kubeadm:cluster-admins', 'system:authenticated'])
    assert.deepEqual(spec.usages, ['digital signature', 'client auth'])
    assert.match(spec.extra['authentication.kubernetes.io/credential-id'][0], /^X509SHA256=[0-9a-f]{64}$/)
    assert.deepEqual(status, {})
    assert.equal(name, `${resource}/printed\n`)
    assert.equal(path, admin)
    assert.equal(columns, `WHO\n${admin}\n`)
  })

  test('A-10: get selects by label, by name and by signer, and knows no other field', { skip }, async () => {
    const signerName = 'example.com/selected'
    await create({ name: 'left', signerName, labels: { side: 'left', selected: 'yes' } })
    await create({ name: 'right', signerName, labels: { side: 'right', selected: 'yes' } })
    const names = async (...more: string[]) => {
      const text = await kubectl.ok(['get', 'csr', '-o', 'jsonpath={.items[*].metadata.name}', ...more])
      return text.split(' ')
    }
    const found = await Promise.all([
      names('-l', 'side=left'),
      names('-l', 'selected,side notin (left)'),
      names('--field-selector', `spec.signerName=${signerName}`),
      names('--field-selector', `spec.signerName=${signerName},metadata.name!=left`),
    ])
    assert.deepEqual(found, [['left'], ['right'], ['left', 'right'], ['right']])
    const labelled = cells(await kubectl.ok('get csr -l selected -L side'))
    assert.deepEqual(
      labelled.map(row => row.at(-1)),
      ['SIDE', 'left', 'right'],
    )
    assert.equal(
      await kubectl.fails('get csr --field-selector spec.username=jane'),
      'Error from server (BadRequest): Unable to find "certificates.k8s.io/v1, Resource=certificatesigningrequests" that match label selector "", field selector "spec.username=jane": field label not supported: spec.username\n',
    )
    const nothing = await kubectl.run('get csr -l side=middle')
    assert.deepEqual(nothing, { code: 0, stdout: '', stderr: 'No resources found\n' })
  })

  test('a request that breaks the rules is refused in Kubernetes’ words', { skip }, async () => {
    const invalid = await requestObject({
      name: 'bad',
      signerName: foreign,
      usages: ['server auth'],
      expirationSeconds: 5,
      request: 'Zm9v',
    })
    const masters = { name: 'masters', signerName: client, organizations: ['system:masters'] }
    const mistyped = { ...invalid, spec: { ...(invalid.spec as object), signername: 'x' } }
    const texts = await Promise.all([
      kubectl.fails('create -f -', invalid),
      kubectl.fails('create -f -', await requestObject(masters)),
      kubectl.fails('create -f -', mistyped),
      kubectl.fails('create -f -', { ...invalid, spec: undefined }),
    ])
    assert.deepEqual(
      texts.map(text => text.trimEnd()),
      [
        `The CertificateSigningRequest "bad" is invalid: 
* spec.request: Invalid value: "Zm9v": PEM block type must be CERTIFICATE REQUEST
* spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 seconds (10 minutes)`,
        'Error from server (Forbidden): error when creating "STDIN": certificatesigningrequests.certificates.k8s.io "masters" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
        'Error from server (BadRequest): error when creating "STDIN": CertificateSigningRequest in version "v1" cannot be handled as a CertificateSigningRequest: strict decoding error: unknown field "spec.signername"',
        `The CertificateSigningRequest "bad" is invalid: 
* spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST
* spec.usages: Required value
* spec.signerName: Required value`,
      ],
    )
  })

  test('what a request asks for cannot be changed, its labels can; conditions stay', { skip }, async () => {
    await create({ name: 'fixed', signerName: foreign })
    await kubectl.ok('certificate approve fixed')
    const patch = (type: string, text: string, ...more: string[]) =>
      kubectl.run(['patch', 'csr', 'fixed', '--type', type, '-p', text, ...more])
    const spec = await patch('merge', '{"spec":{"expirationSeconds":7200}}')
    assert.equal(spec.stdout, `${resource}/fixed patched (no change)\n`)
    const label = await patch('json', '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]')
    assert.equal(label.stdout, `${resource}/fixed patched\n`)
    for (const subresource of ['approval', 'status']) {
      const refused = await patch('merge', '{"status":{"conditions":[]}}', `--subresource=${subresource}`)
      assert.deepEqual(refused, {
        code: 1,
        stdout: '',
        stderr:
          'The CertificateSigningRequest "fixed" is invalid: status.conditions: Forbidden: updates may not remove a condition of type "Approved"\n',
      })
    }
  })

  test('delete takes names or a selector, waits until they are gone, and ends with 1 for what is not there', {
    skip,
  }, async () => {
    for (const name of ['old-1', 'old-2', 'old-3'])
      await create({ name, signerName: foreign, labels: { age: 'old' } })
    assert.equal(await kubectl.ok('delete csr old-1'), `${resource} "old-1" deleted\n`)
    assert.equal(
      await kubectl.ok('delete csr -l age=old'),
      `${resource} "old-2" deleted\n${resource} "old-3" deleted\n`,
    )
    assert.equal(
      await kubectl.fails('delete csr old-1'),
      'Error from server (NotFound): certificatesigningrequests.certificates.k8s.io "old-1" not found\n',
    )
    assert.equal(await kubectl.ok('delete csr old-1 --ignore-not-found'), '')
  })
})

describe('kubectl and what the server tells of itself', { concurrency: 3 }, () => {
  test('get --raw, version, api-resources and api-versions', { skip }, async () => {
    const [ready, verbose, version, resources, versions] = await Promise.all([
      kubectl.ok('get --raw /readyz --as system:anonymous'),
      kubectl.ok('get --raw /readyz?verbose'),
      kubectl.ok('version'),
      kubectl.ok('api-resources --api-group=certificates.k8s.io -o wide'),
      kubectl.ok('api-versions'),
    ])
    assert.equal(ready, 'ok')
    assert.match(verbose, /^\[\+\]ping ok\n(\[\+\]\S+ ok\n)+readyz check passed\n$/)
    assert.match(version, /^Server Version: v1\.36\./m)
    assert.deepEqual(cells(resources)[1]?.slice(0, 6), [
      'certificatesigningrequests',
      'csr',
      'certificates.k8s.io/v1',
      'false',
      'CertificateSigningRequest',
      'create,delete,deletecollection,get,list,patch,update,watch',
    ])
    assert.match(versions, /^certificates\.k8s\.io\/v1$/m)
    assert.equal(
      await kubectl.fails('get --raw /nothing'),
      'Error from server (NotFound): the server could not find the requested resource\n',
    )
    assert.equal(
      await kubectl.fails('get turnstiles'),
      'error: the server doesn\'t have a resource type "turnstiles"\n',
    )
  })

  test('explain tells what each field of a request means', { skip }, async () => {
    const [spec, usages] = await Promise.all([
      kubectl.ok('explain csr.spec'),
      kubectl.ok('explain csr.spec.usages'),
    ])
    assert.match(spec, /^GROUP: +certificates\.k8s\.io\nKIND: +CertificateSigningRequest\nVERSION: +v1\n/)
    assert.match(spec, /^FIELD: spec <CertificateSigningRequestSpec>$/m)
    assert.match(spec, /^ {2}signerName\t<string> -required-$/m)
    assert.match(spec, /^ {2}extra\t<map\[string\]\[\]string>$/m)
    assert.match(usages, /^FIELD: usages <\[\]string>$/m)
    assert.match(usages, /"server auth", "client auth",$/m)
  })
})
