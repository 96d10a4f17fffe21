import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readiness } from '../rollover/readiness.ts'
import { step } from '../rollover/step.ts'
import { consumer, planIn, quiet, start, wideBundle } from '../rollover/testing/quiet-cluster.ts'
import { type ConsumingPod, podConsumers, volumeLag } from './pod-consumers.ts'

const published = {
  generation: wideBundle,
  at: start - volumeLag,
  tokenSecrets: new Set(['a/token']),
  now: start,
}
const before = new Date(start - volumeLag).toISOString()
const after = new Date(start).toISOString()

function pod(name: string, volumes: ConsumingPod['spec'], ...startedAt: string[]): ConsumingPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'a', uid: `uid-${name}` },
    spec: { nodeName: 'node-1', ...volumes },
    status: {
      phase: 'Running',
      containerStatuses: startedAt.map((at, index) => ({
        name: `c${index}`,
        restartCount: 1,
        state: { running: { startedAt: at } },
      })),
    },
  }
}
const projected = { volumes: [{ projected: { sources: [{ configMap: { name: 'kube-root-ca.crt' } }] } }] }

test('who mounts a CA of the cluster is a consumer, in whatever way; who mounts none, or has ended, is none', () => {
  const pods = [
    pod('projected', projected, after),
    pod('config-map', { volumes: [{ configMap: { name: 'kube-root-ca.crt' } }] }, after),
    pod('legacy', { volumes: [{ secret: { secretName: 'token' } }] }, after),
    pod('other-secret', { volumes: [{ secret: { secretName: 'other' } }] }, after),
    pod('none', {}, after),
    { ...pod('ended', projected), status: { phase: 'Succeeded' } },
  ]
  const names = podConsumers(pods, published).map(({ id }) => id)
  assert.deepEqual(names, [
    'pod/projected uid-projected',
    'pod/config-map uid-config-map',
    'pod/legacy uid-legacy',
  ])
})

test('a restart proves it when every container was started two minutes after publication; else a named human', () => {
  const pods = [
    pod('restarted', projected, after),
    pod('side-car', projected, after, before),
    pod('old', projected, before),
  ]
  const consumers = podConsumers(pods, published)
  assert.deepEqual(
    consumers.map(({ proof }) => proof?.level),
    [2, undefined, undefined],
  )
  assert.equal(podConsumers(pods, { ...published, at: start }).filter(({ proof }) => proof).length, 0)
  const seen = quiet({ consumers: [consumer('agent/node-1', 'Agent'), ...consumers] })
  const { phase, blockers } = step(planIn('Proving'), seen)
  assert.equal(phase, 'Proving')
  const names = ['pod/side-car uid-side-car', 'pod/old uid-old']
  assert.deepEqual(
    blockers.map(({ about }) => about),
    names,
  )
  const acknowledgements = names.map(name => ({ consumer: name, by: 'ben', at: start }))
  const wishes = { ...planIn('Proving').wishes, acknowledgements }
  assert.equal(step(planIn('Proving', { wishes }), seen).phase, 'Bridging')

  const told = readiness(planIn('Proving'), seen).consumers.map(({ verdict, why }) => [verdict, why])
  assert.deepEqual(told[1], ['Proven', 'was restarted after publication'])
  assert.equal(told[2]?.[0], 'Blocker')
  assert.match(`${told[2]?.[1]}`, /restarted two minutes after publication, or acknowledged/)
})
