import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, PodSpec } from '../pod.ts'
import { cgroupParent } from './pod-cgroup.ts'
import { type ConfigFacts, containerConfig, sandboxConfig } from './pod-config.ts'
import { qosClass } from './resources.ts'
import { staticPod } from './testing/static-pod.ts'

const facts: ConfigFacts = {
  nodeName: 'node-a',
  hostAddress: '10.0.0.1',
  stateDirectory: '/state',
  cgroupDriver: 'cgroupfs',
  nodeMemory: 8 * 2 ** 30,
}
const configOf = (container: Partial<Container>, spec: Partial<PodSpec> = {}, imageUser?: number) => {
  const pod = staticPod(container, spec)
  const [one] = pod.spec.containers
  assert.ok(one)
  return containerConfig({ pod, container: one, init: false, attempt: 2, crashes: 1 }, facts, imageUser)
}

test('a sandbox carries what a kubelet and crictl know it by, and what tells it from others’', () => {
  const { metadata, labels, annotations, logDirectory, linux } = sandboxConfig(staticPod(), 0, facts)
  assert.deepEqual(metadata, { name: 'web-node-a', namespace: 'default', uid: 'u-1', attempt: 0 })
  assert.deepEqual(labels, {
    app: 'web',
    'io.kubernetes.pod.name': 'web-node-a',
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': 'u-1',
    'rollcall.dev/managed': 'true',
    'rollcall.dev/agent': '/state',
  })
  assert.deepEqual(JSON.parse(annotations['rollcall.dev/pod'] ?? ''), staticPod())
  assert.equal(logDirectory, '/state/logs/default_web-node-a_u-1')
  assert.equal(linux.cgroupParent, '/kubepods/besteffort/podu-1')
  assert.deepEqual(linux.securityContext.namespaceOptions, { network: 2, pid: 1, ipc: 0 })
})

test('a container carries its restarts and the kubelet’s hash; a label of the manifest cannot take the place of ours', () => {
  const { annotations, labels, logPath, metadata } = configOf({})
  assert.deepEqual([metadata, logPath], [{ name: 'c', attempt: 2 }, 'c/2.log'])
  assert.equal(labels['io.kubernetes.container.name'], 'c')
  assert.equal(annotations['io.kubernetes.container.restartCount'], '2')
  assert.equal(annotations['rollcall.dev/crashes'], '1')
  const pod = staticPod()
  pod.metadata.labels = { 'rollcall.dev/agent': '/other', 'io.kubernetes.pod.uid': 'x' }
  const sandbox = sandboxConfig(pod, 0, facts)
  assert.equal(sandbox.labels['rollcall.dev/agent'], '/state')
  assert.equal(sandbox.labels['io.kubernetes.pod.uid'], 'u-1')
})

test('requests and limits become shares, quota, bytes and who is killed first, as the kubelet has it', () => {
  const resourcesOf = (resources: Container['resources'], spec: Partial<PodSpec> = {}) =>
    configOf(resources ? { resources } : {}, spec).linux.resources
  assert.deepEqual(resourcesOf(undefined), { cpuShares: 2, oomScoreAdj: 1000 })
  assert.deepEqual(resourcesOf({ limits: { cpu: '500m', memory: '64Mi' } }), {
    cpuShares: 512,
    cpuPeriod: 100_000,
    cpuQuota: 50_000,
    memoryLimitInBytes: 64 * 2 ** 20,
    oomScoreAdj: -997,
  })
  assert.deepEqual(resourcesOf({ requests: { cpu: '250m', memory: '2Gi' } }), {
    cpuShares: 256,
    oomScoreAdj: 750,
  })
  assert.equal(resourcesOf(undefined, { priorityClassName: 'system-node-critical' }).oomScoreAdj, -997)
})

test('the pod’s class and its cgroup follow from requests and limits', () => {
  const guaranteed = staticPod({ resources: { limits: { cpu: 1, memory: '1Gi' } } })
  const burstable = staticPod({ resources: { requests: { cpu: '1m' } } })
  assert.deepEqual([guaranteed, burstable, staticPod()].map(qosClass), [
    'guaranteed',
    'burstable',
    'besteffort',
  ])
  assert.equal(cgroupParent(guaranteed, 'cgroupfs'), '/kubepods/podu-1')
  assert.equal(cgroupParent(guaranteed, 'systemd'), '/kubepods.slice/kubepods-podu_1.slice')
  assert.equal(
    cgroupParent(burstable, 'systemd'),
    '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu_1.slice',
  )
})

test('rights come from container, pod and image in this order', () => {
  const security = (container: Partial<Container>, spec: Partial<PodSpec> = {}, user?: number) =>
    configOf(container, spec, user).linux.securityContext
  assert.equal(security({}).runAsUser, undefined)
  assert.deepEqual(
    security({ securityContext: { runAsUser: 0 } }, { securityContext: { runAsUser: 5 } }).runAsUser,
    {
      value: 0,
    },
  )
  // A runtime takes a group only beside a user.
  const grouped = security({}, { securityContext: { runAsGroup: 7 } }, 42)
  assert.deepEqual([grouped.runAsUser, grouped.runAsGroup], [{ value: 42 }, { value: 7 }])
  const dropped = security({ securityContext: { capabilities: { drop: ['ALL'], add: ['cap_net_admin'] } } })
  assert.deepEqual(dropped.capabilities, { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] })
  assert.equal(security({}).seccomp.profileType, 1, 'Unconfined is Kubernetes’ default')
  assert.ok(security({}).maskedPaths.includes('/proc/kcore'))
  const privileged = security({ securityContext: { privileged: true } })
  assert.deepEqual([privileged.privileged, privileged.maskedPaths], [true, []])
})

test('a volume is mounted from where it lies; what the pod is told of itself is read-only', () => {
  const { mounts } = configOf(
    {
      volumeMounts: [
        { name: 'host', mountPath: '/host', readOnly: true, mountPropagation: 'HostToContainer' },
        { name: 'scratch', mountPath: '/scratch' },
        { name: 'fields', mountPath: '/fields' },
      ],
    },
    {
      volumes: [
        { name: 'host', hostPath: { path: '/etc' } },
        { name: 'scratch', emptyDir: {} },
        { name: 'fields', downwardAPI: {} },
      ],
    },
  )
  const at = '/state/volumes/default_web-node-a_u-1'
  assert.deepEqual(mounts, [
    { containerPath: '/host', hostPath: '/etc', readonly: true, propagation: 1 },
    { containerPath: '/scratch', hostPath: `${at}/scratch`, readonly: false, propagation: 0 },
    { containerPath: '/fields', hostPath: `${at}/fields`, readonly: true, propagation: 0 },
  ])
})
