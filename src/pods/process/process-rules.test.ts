import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withIdentity } from '../manifest/identity.ts'
import type { Container, PodSpec } from '../pod.ts'
import { processCommand } from './process-command.ts'
import { processRefusals } from './process-rules.ts'

const root = { agentUser: 0, allowRoot: true }
function podWith(
  container: Partial<Container>,
  spec: Partial<PodSpec> = {},
  annotations: Record<string, string> = {},
) {
  const containers = [{ name: 'c', image: 'host', command: ['/bin/true'], ...container }]
  return withIdentity(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', annotations },
      spec: { hostNetwork: true, containers, ...spec },
    },
    { nodeName: 'a', path: '/m/web.yaml', seen: 0 },
  )
}
const hostPath = (path: string) => ({ volumes: [{ name: 'v', hostPath: { path } }] })

test('what a process cannot be given is refused, each with its field', () => {
  const cases: [container: Partial<Container>, spec: Partial<PodSpec>, expected: RegExp][] = [
    [{}, { hostNetwork: false }, /^spec\.hostNetwork: must be true/],
    [{ image: 'nginx:1' }, {}, /^container c: image: is nginx:1; the runtime "process" has none/],
    [{ command: [] }, {}, /^container c: command: is missing/],
    [
      { volumeMounts: [{ name: 'v', mountPath: '/t' }] },
      { volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }] },
      /has no emptyDir of this medium/,
    ],
    [
      { volumeMounts: [{ name: 'v', mountPath: '/t', subPath: 'a' }] },
      { volumes: [{ name: 'v', emptyDir: {} }] },
      /volume v: subPath a cannot be mounted/,
    ],
    [{ resources: { limits: { memory: '1Gi' } } }, {}, /^container c: limits: is not enforced/],
    [{ securityContext: { readOnlyRootFilesystem: true } }, {}, /readOnlyRootFilesystem: is not enforced/],
    [{ securityContext: { capabilities: { add: ['NET_ADMIN'] } } }, {}, /capabilities: is not enforced/],
    [
      {},
      { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
      /seccompProfile: is not enforced/,
    ],
    [{ securityContext: { runAsNonRoot: true } }, {}, /runAsNonRoot: and it would run as root/],
    [{ securityContext: { privileged: true, runAsUser: 5 } }, {}, /privileged: needs root/],
  ]
  for (const [container, spec, expected] of cases) {
    const refusals = processRefusals(podWith(container, spec), root)
    assert.equal(refusals.length, 1, `${expected}: ${refusals.join('\n')}`)
    assert.match(refusals[0] ?? '', expected)
  }
  assert.deepEqual(processRefusals(podWith({}), root), [])
})

test('a hostPath at its own path needs no mount, with slashes and subPath; all else needs root', () => {
  const refusals = (
    agentUser: number,
    mountPath: string,
    more: { subPath?: string; readOnly?: boolean } = {},
  ) => {
    const pod = podWith({ volumeMounts: [{ name: 'v', mountPath, ...more }] }, hostPath('/srv/'))
    return processRefusals(pod, { agentUser, allowRoot: true }).length
  }
  for (const agentUser of [0, 1000]) {
    assert.equal(refusals(agentUser, '/srv'), 0)
    assert.equal(refusals(agentUser, '/srv//'), 0)
    assert.equal(refusals(agentUser, '/srv/a', { subPath: 'a' }), 0)
    assert.ok(refusals(agentUser, '/srv', { subPath: 'a' }) > 0)
    assert.equal(refusals(agentUser, '/srv2'), agentUser === 0 ? 0 : 1)
    assert.equal(refusals(agentUser, '/srv', { readOnly: true }), agentUser === 0 ? 0 : 1)
  }
})

test('a manifest may accept by name what is not enforced, and that it has no image', () => {
  const security = { readOnlyRootFilesystem: true, seccompProfile: { type: 'RuntimeDefault' } }
  const accepting = (annotations: Record<string, string>) =>
    processRefusals(podWith({ image: 'etcd:3', securityContext: security }, {}, annotations), root).length
  assert.equal(accepting({}), 3)
  assert.equal(
    accepting({ 'rollcall.dev/runtime': 'process', 'rollcall.dev/accept-unenforced': 'seccompProfile' }),
    1,
  )
  const all = 'seccompProfile, readOnlyRootFilesystem'
  assert.equal(accepting({ 'rollcall.dev/runtime': 'process', 'rollcall.dev/accept-unenforced': all }), 0)
})

test('never as root unless the agent’s configuration says so; an agent without root runs everything as itself', () => {
  const refusals = (user: number | undefined, agentUser: number, allowRoot = false) =>
    processRefusals(podWith(user === undefined ? {} : { securityContext: { runAsUser: user } }), {
      agentUser,
      allowRoot,
    })
  assert.match(refusals(undefined, 0)[0] ?? '', /would run as root; set runAsUser/)
  assert.match(refusals(0, 0)[0] ?? '', /would run as root/)
  assert.deepEqual(
    [refusals(0, 0, true), refusals(1000, 0), refusals(undefined, 1000), refusals(1000, 1000)],
    [[], [], [], []],
  )
  assert.match(refusals(0, 1000, true)[0] ?? '', /runAsUser: is 0, and the agent runs as 1000/)
})

test('rights are given up before the program starts, no more and no less than asked for', () => {
  const prefix = (security: Container['securityContext'], agentUser = 0, spec: Partial<PodSpec> = {}) => {
    const pod = podWith(security ? { securityContext: security } : {}, spec)
    const [container] = pod.spec.containers
    assert.ok(container)
    return processCommand(pod, container, {
      nodeName: 'a',
      hostAddress: undefined,
      agentUser,
      volumesRoot: '/v',
    })
      .prefix.slice(1)
      .join(' ')
  }
  assert.equal(prefix(undefined), '')
  const dropped = '--inh-caps=-all --bounding-set=-all'
  assert.equal(prefix({ runAsUser: 5 }), `--reuid=5 --regid=5 --clear-groups ${dropped} --no-new-privs --`)
  assert.equal(
    prefix({ runAsUser: 5, runAsGroup: 6 }, 0, { securityContext: { supplementalGroups: [7, 8] } }),
    `--reuid=5 --regid=6 --groups=7,8 ${dropped} --no-new-privs --`,
  )
  assert.equal(prefix({ capabilities: { drop: ['ALL'] } }), `${dropped} --`)
  assert.equal(prefix({ allowPrivilegeEscalation: false }, 1000), '--no-new-privs --')
})
