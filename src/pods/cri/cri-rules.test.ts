import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, PodSpec } from '../pod.ts'
import { criRefusals } from './cri-rules.ts'
import { pullPolicy } from './images.ts'
import { staticPod } from './testing/static-pod.ts'

test('what is asked for and not enforced is refused by name', () => {
  const mounted = (mount: object): Partial<Container> => ({
    volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }],
  })
  const volumes = [{ name: 'v', emptyDir: {} }]
  const cases: [container: Partial<Container>, spec: Partial<PodSpec>, why: RegExp][] = [
    [{ ports: [{ containerPort: 1, protocol: 'ICMP' }] }, {}, /ports: ICMP is none of TCP/],
    [
      {},
      {
        hostNetwork: false,
        volumes: [
          {
            name: 'v',
            downwardAPI: { items: [{ path: 'ip', fieldRef: { fieldPath: 'status.podIP' } }] },
          },
        ],
      },
      /status.podIP is not known before/,
    ],
    [mounted({ subPath: 'a' }), { volumes }, /^container c: volume v: subPath a cannot be mounted safely/],
    [
      mounted({ mountPropagation: 'Bidirectional' }),
      { volumes },
      /Bidirectional needs a privileged container/,
    ],
    [
      mounted({ mountPropagation: 'Some' }),
      { volumes },
      /mountPropagation Some is none of None, HostToContainer/,
    ],
    [
      { resources: { limits: { 'nvidia.com/gpu': 1 } } },
      {},
      /resources.limits\[nvidia.com\/gpu\]: is not enforced/,
    ],
    [{ resources: { requests: { 'nvidia.com/gpu': 1 } } }, {}, /resources.requests\[nvidia.com\/gpu\]/],
    [{ resources: { limits: { cpu: 'many' } } }, {}, /resources.limits\[cpu\]: "many" is no quantity/],
    [
      {},
      { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] },
      /^volume v: sizeLimit: is not enforced/,
    ],
    [{}, { volumes: [{ name: 'v', emptyDir: { medium: 'HugePages' } }] }, /the medium HugePages/],
    [{ securityContext: { runAsNonRoot: true, runAsUser: 0 } }, {}, /runAsNonRoot: and runAsUser is 0/],
    [
      { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
      {},
      /allowPrivilegeEscalation: false/,
    ],
    [{ securityContext: { seccompProfile: { type: 'Other' } } }, {}, /seccompProfile.type: Other/],
    [
      {},
      { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: '../x' } } },
      /no relative path/,
    ],
  ]
  for (const [container, spec, why] of cases) {
    const refusals = criRefusals(staticPod(container, spec))
    assert.equal(refusals.length, 1, `${why}: ${refusals.join()}`)
    assert.match(refusals[0] ?? '', why)
  }
})

test('what is enforced is not refused, and what the manifest accepts neither', () => {
  const pod = staticPod(
    {
      resources: { limits: { cpu: 1, memory: '1Gi' }, requests: { 'ephemeral-storage': '1Gi' } },
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'Localhost', localhostProfile: 'profiles/a.json' },
      },
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
    },
    { volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }] },
  )
  assert.deepEqual(criRefusals(pod), [])
  const accepted = staticPod({ resources: { limits: { 'example.com/x': 1 } } })
  accepted.metadata.annotations['rollcall.dev/accept-unenforced'] = 'limits'
  assert.deepEqual(criRefusals(accepted), [])
})

test('an image without a tag, or latest, is fetched each time, as in Kubernetes', () => {
  const policy = (image: string) => pullPolicy({ name: 'c', image })
  assert.deepEqual(
    ['a', 'a:latest', 'a:1', 'host:5000/a', 'host:5000/a:1', 'a@sha256:00', 'a:latest@sha256:00'].map(policy),
    ['Always', 'Always', 'IfNotPresent', 'Always', 'IfNotPresent', 'IfNotPresent', 'IfNotPresent'],
  )
  assert.equal(pullPolicy({ name: 'c', image: 'a', imagePullPolicy: 'Never' }), 'Never')
})
