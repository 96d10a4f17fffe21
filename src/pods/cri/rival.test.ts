import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import type { PodSandbox } from './cri-types.ts'
import { foreignPods, kubeletProcess, rivalProblem } from './rival.ts'

async function machineWith(
  processes: Record<string, [comm: string, words: string[], mountNamespace?: string]>,
  files: Record<string, string> = {},
) {
  const disk = asynchronousDisk(
    new MachineDisk(new SeededRandom('rival'), createManualClock(0)),
    async call => call(),
  )
  await disk.makeDirectory('/proc', 0o755)
  await disk.makeDirectory('/etc', 0o755)
  await disk.makeDirectory('/proc/self/ns', 0o755)
  await disk.symlink('mnt:[1]', '/proc/self/ns/mnt')
  for (const [id, [comm, words, mountNamespace = 'mnt:[1]']] of Object.entries(processes)) {
    await disk.makeDirectory(`/proc/${id}/ns`, 0o755)
    await disk.symlink(mountNamespace, `/proc/${id}/ns/mnt`)
    await disk.write(`/proc/${id}/comm`, `${comm}\n`, { mode: 0o444 })
    await disk.write(`/proc/${id}/cmdline`, words.join('\0'), { mode: 0o444 })
  }
  for (const [path, text] of Object.entries(files)) await disk.write(path, text, { mode: 0o644 })
  return disk
}

const containerd = 'unix:///run/containerd/containerd.sock'
const other = 'unix:///run/other.sock'

test('a kubelet is known by its process, and by the socket that its flags, file or default name', async () => {
  const config = `kind: KubeletConfiguration\ncontainerRuntimeEndpoint: ${other}\n`
  const cases: [words: string[], containerd: boolean, other: boolean][] = [
    [['kubelet'], true, false],
    [['kubelet', `--container-runtime-endpoint=${other}`], false, true],
    [['kubelet', '--container-runtime-endpoint', '/var/run/containerd/containerd.sock'], true, false],
    [['kubelet', '--config=/etc/kubelet.yaml'], false, true],
    [['kubelet', '--config=/etc/missing.yaml'], true, false],
  ]
  for (const [words, onContainerd, onOther] of cases) {
    const disk = await machineWith(
      { 7: ['kubelet', words], 8: ['node', ['node']] },
      { '/etc/kubelet.yaml': config },
    )
    assert.equal(await kubeletProcess(containerd, disk), onContainerd ? 7 : undefined, words.join(' '))
    assert.equal(await kubeletProcess(other, disk), onOther ? 7 : undefined, words.join(' '))
  }
})

test('whoever calls a process kubelet, in a container or as a user, stops no pods', async () => {
  const inContainer = await machineWith({ 7: ['kubelet', ['kubelet'], 'mnt:[2]'] })
  assert.equal(await kubeletProcess(containerd, inContainer), undefined)
  const disk = await machineWith({ 7: ['kubelet', ['kubelet']] })
  const ofUser = { ...disk, stat: async (path: string) => ({ ...(await disk.stat(path)), owner: 1000 }) }
  assert.equal(await kubeletProcess(containerd, ofUser), undefined)
})

test('a configuration that is a pipe or has no end is not read', async () => {
  const disk = await machineWith(
    { 7: ['kubelet', ['kubelet', '--config=/etc/kubelet.yaml']] },
    { '/etc/kubelet.yaml': `containerRuntimeEndpoint: ${other}` },
  )
  const odd = (what: object) => ({
    ...disk,
    stat: async (path: string) => ({
      ...(await disk.stat(path)),
      ...(path === '/etc/kubelet.yaml' ? what : {}),
    }),
  })
  assert.equal(await kubeletProcess(other, odd({})), 7)
  for (const what of [{ kind: 'other' }, { size: 2 ** 30 }])
    assert.equal(await kubeletProcess(other, odd(what) as typeof disk), undefined)
})

test('pods of a kubelet are those that are ready and not ours; each is named', () => {
  const sandbox = (name: string, labels: Record<string, string> = {}, state = 0): PodSandbox => ({
    id: name,
    state,
    createdAt: 0,
    labels: { 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': 'kube-system', ...labels },
    annotations: {},
  })
  const pods = foreignPods([
    sandbox('proxy'),
    sandbox('ours', { 'rollcall.dev/managed': 'true' }),
    sandbox('dead', {}, 1),
    { ...sandbox('crictl'), labels: {} },
  ])
  assert.deepEqual(pods, ['kube-system/proxy'])
  assert.equal(rivalProblem(containerd, [], undefined), undefined)
  assert.match(
    rivalProblem(containerd, pods, 7) ?? '',
    /^A kubelet \(process 7\) uses the same runtime, unix:\S+, with the pods kube-system\/proxy\. It stops pods/,
  )
})
