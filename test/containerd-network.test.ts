import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noContainerd, startContainerd } from './support/containerd.ts'
import { eventually } from './support/eventually.ts'
import { noPodNetwork, podSubnet, setUpPodNetwork } from './support/pod-network.ts'
import { inContainerd, stateOf, staticPodMachine, statusOf } from './support/static-pods.ts'

// Pods with a network of their own, in a real containerd with Debian's plugins.

test('a pod with a network of its own waits until there is one, and holds up no other; then it has an address, which its probes ask', {
  skip: noContainerd || noPodNetwork,
}, async () => {
  const containerd = await startContainerd()
  const machine = staticPodMachine(inContainerd(containerd))
  const script = `echo $IP $(hostname) $(cat /sys/class/net/eth0/operstate) >>${machine.in('web')}; trap 'exit 0' TERM; httpd -f -p 8080 -h / & wait`
  const web = (greeting: string) =>
    machine.write({
      name: 'web',
      script: `${script} # ${greeting}`,
      container: {
        ports: [{ name: 'http', containerPort: 8080 }],
        env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
        readinessProbe: { httpGet: { path: '/bin/busybox', port: 'http' }, periodSeconds: 1 },
      },
      spec: { hostNetwork: false },
    })
  const podIp = () => statusOf(pods, 'web')?.podIP
  web('first')
  machine.write({ name: 'host', script: machine.service('host') })
  const { pods, runtime } = machine.startAgent()
  try {
    await eventually('the other one runs', () => machine.lines('host').length === 1)
    await eventually('it says what it waits for', () =>
      /NetworkNotReady.*no network for pods yet.*cni/i.test(JSON.stringify(stateOf(pods, 'web') ?? {})),
    )
    assert.equal(podIp(), undefined)
    setUpPodNetwork(containerd)
    const isReady = () =>
      statusOf(pods, 'web')?.conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
    await eventually('it is ready', isReady)
    const [address, name, link] = machine.lines('web')[0]?.split(' ') ?? []
    assert.equal(address?.replace(/\d+$/, '0/24'), podSubnet)
    assert.deepEqual([podIp(), name, link], [address, 'web-node-a', 'up'])
    assert.equal(statusOf(pods, 'host')?.podIP, '127.0.0.1')

    web('edited')
    await eventually('the edit runs', () => machine.lines('web').length === 2 && isReady())
    assert.notEqual(machine.lines('web')[1]?.split(' ')[0], address)
    machine.remove('web.json')
    await eventually('it is gone', () => runtime.pods().length === 1)
    assert.equal(machine.lines('host').length, 1)
  } finally {
    await machine.close()
    await containerd.close()
  }
})
