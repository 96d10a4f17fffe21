import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import type { KubeClient } from '../kube/client.ts'
import type { StaticPodReport } from '../pods/status/pod-report.ts'
import { runCommand } from '../testing/command-run.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { register } from './pods.ts'

/** `pods` asks no API. */
const noApi = {} as KubeClient

async function onReport(run: (pods: (...words: string[]) => ReturnType<typeof runCommand>) => Promise<void>) {
  const state = mkdtempSync(join(tmpdir(), 'rollcall-pods-'))
  const status = (name: string, ready: boolean) => ({
    name,
    image: 'host',
    imageID: '',
    ready,
    started: ready,
    restartCount: ready ? 0 : 3,
    state: ready ? {} : { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: {},
  })
  const pod = (name: string, ready: boolean, attempt: number) => ({
    namespace: 'kube-system',
    name,
    uid: `uid-of-${name}`,
    manifest: `/m/${name}.yaml`,
    status: {
      phase: 'Running' as const,
      conditions: [],
      startTime: '2026-05-01T00:00:00Z',
      containerStatuses: [status('main', ready)],
    },
    logs: [
      {
        container: 'main',
        attempt,
        path: join(state, name, `${attempt}.log`),
        format: 'cri',
      },
    ] as const,
  })
  const report: StaticPodReport = {
    writtenAt: '2026-05-01T00:00:00.000Z',
    runtime: {
      name: 'containerd',
      conditions: [
        { type: 'RuntimeReady', status: true, message: '' },
        { type: 'NetworkReady', status: false, message: 'cni plugin not initialized' },
      ],
    },
    pods: [pod('hsm-node-a', true, 0), pod('web-node-a', false, 3)],
    findings: [{ path: '/m/bad.yaml', severity: 'error', reason: 'Malformed', message: 'is not valid YAML' }],
  }
  writeFileSync(join(state, 'report.json'), JSON.stringify(report))
  mkdirSync(join(state, 'web-node-a'))
  writeFileSync(join(state, 'web-node-a/3.log'), '2026-05-01T00:00:00.1Z stdout F now\n')
  writeFileSync(join(state, 'web-node-a/2.log'), 'before\n')
  const clock = createManualClock(Date.parse('2026-05-01T00:05:00Z'))
  try {
    await run((...words) => runCommand(register, noApi, clock, 'pods', ...words, '--state', state))
  } finally {
    rmSync(state, { recursive: true })
  }
}

test('pods shows each pod and what is wrong with the manifests, exit 3 when something is', () =>
  onReport(async pods => {
    const { stdout, exitCode } = await pods()
    assert.deepEqual(stdout.split('\n'), [
      'NAMESPACE     NAME         READY   STATUS             RESTARTS   AGE',
      'kube-system   hsm-node-a   1/1     Running            0          5m',
      'kube-system   web-node-a   0/1     CrashLoopBackOff   3          5m',
      '',
      'containerd          NetworkReady is false: cni plugin not initialized',
      'error /m/bad.yaml   is not valid YAML',
      '',
    ])
    assert.equal(exitCode, 3)
    assert.equal((JSON.parse((await pods('-o', 'json')).stdout) as StaticPodReport).pods.length, 2)
  }))

test('pods logs takes the name as the manifest or the node has it, and the run before', () =>
  onReport(async pods => {
    for (const name of ['web', 'web-node-a', 'kube-system/web'])
      assert.equal((await pods('logs', name)).stdout, 'now\n')
    assert.equal((await pods('logs', 'web', '-p')).stdout, 'before\n')
    const refused = async (...words: string[]) => {
      const error = await pods('logs', ...words).catch((error: unknown) => error)
      assert.ok(hasCode(error, 'POD_UNKNOWN'))
      return error.message
    }
    assert.equal(
      await refused('nobody'),
      'There is no static pod nobody; there are: kube-system/hsm-node-a, kube-system/web-node-a.',
    )
    assert.equal(
      await refused('web', '-c', 'side'),
      'web-node-a has no run of a container side; it has: main.',
    )
    assert.match(await refused('hsm'), /There is no log of main/)
  }))

test('a folder where no agent has run is named', async () => {
  const run = runCommand(register, noApi, createManualClock(0), 'pods', '--state', '/no/such/folder')
  await assert.rejects(
    run,
    error => hasCode(error, 'POD_UNKNOWN') && error.message.includes('/no/such/folder/report.json'),
  )
})
