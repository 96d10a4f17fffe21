import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../../testing/command-run.ts'
import { calm, nodeStatusPolicy, onCluster } from '../../testing/controlled-cluster.ts'
import { register } from './watch.ts'

test(
  'watch prints a line for each step of a request, and nothing of what was there before',
  onCluster(async cluster => {
    await cluster.ask({ by: cluster.bootstrapper, node: 'old' })
    await cluster.start({ approvalPolicy: { ...nodeStatusPolicy, actions: { SanUnproven: 'Hold' } } })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const stop = Promise.withResolvers<void>()
    const watch = (...words: string[]) =>
      runCommand(
        (program, io) => register(program, io, () => stop.promise),
        cluster.admin,
        cluster.clock,
        'watch',
        ...words,
      )
    const [text, json] = [watch('--node', 'a'), watch('-o', 'json')]
    await calm()
    await cluster.ask({ by: cluster.bootstrapper, node: 'b' })
    const a = await cluster.node('a')
    await cluster.ask({ by: a, node: 'a', ips: ['10.0.0.1'] })
    const denied = await cluster.ask({ by: a, node: 'a', ips: ['10.0.0.9'] })
    await cluster.decide(denied, 'Denied', 'NotOurs')
    stop.resolve()
    const lines = (await text).stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.map(line => line.split(/ {2}/).slice(1, 5).join(' ')),
      [
        'csr-3 created serving node a',
        'csr-3 approved serving node a',
        'csr-3 issued serving node a',
        'csr-4 created serving node a',
        'csr-4 held serving node a',
        'csr-4 denied serving node a',
      ],
    )
    assert.match(lines[1] ?? '', /SansProven: Every SAN is proven/)
    const [first] = (await json).stdout.split('\n')
    assert.deepEqual(JSON.parse(first ?? ''), {
      time: '2026-03-01T12:00:00Z',
      step: 'created',
      request: 'csr-2',
      signer: 'kubernetes.io/kube-apiserver-client-kubelet',
      node: 'b',
      requester: 'system:bootstrap:abcdef',
    })
  }),
)
