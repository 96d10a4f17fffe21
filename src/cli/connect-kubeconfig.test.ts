import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { kubeconfigConnection } from './connect-kubeconfig.ts'

const config = (server: string, context = 'c') =>
  `current-context: ${context}\ncontexts: [{name: ${context}, context: {cluster: ${server}}}]\nclusters: [{name: ${server}, cluster: {server: "https://${server}"}}]\n`

async function server(
  flags: { kubeconfig?: string; context?: string },
  environment: Record<string, string>,
  files: Record<string, string>,
) {
  const disk = {
    async read(path: string) {
      const text = files[path]
      if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
      return new TextEncoder().encode(text)
    },
  }
  return (await kubeconfigConnection(flags, { environment, disk, clock: createManualClock(0) })).server
}

const home = '/home/me/.kube/config'
const local = '.rollcall/admin.kubeconfig'

test('the flag comes before KUBECONFIG, that before the local cluster, that before the home folder', async () => {
  const files = {
    '/f': config('flag'),
    '/e': config('environment'),
    [local]: config('local'),
    [home]: config('home'),
  }
  const environment = { KUBECONFIG: '/e', HOME: '/home/me' }
  assert.equal(await server({ kubeconfig: '/f' }, environment, files), 'https://flag')
  assert.equal(await server({}, environment, files), 'https://environment')
  assert.equal(await server({}, { HOME: '/home/me' }, files), 'https://local')
  assert.equal(await server({}, { HOME: '/home/me' }, { [home]: config('home') }), 'https://home')
})

test('of the files in KUBECONFIG some may be missing, and --context may be in any', async () => {
  const files = { '/a': config('one'), '/c': config('two', 'other') }
  const environment = { KUBECONFIG: '/a:/b:/c' }
  assert.equal(await server({}, environment, files), 'https://one')
  assert.equal(await server({ context: 'other' }, environment, files), 'https://two')
})

test('a file that was named and is missing is an error', async () => {
  const invalid = (error: unknown) => hasCode(error, 'KUBECONFIG_INVALID')
  await assert.rejects(
    server({ kubeconfig: '/none' }, { HOME: '/home/me' }, { [home]: config('home') }),
    invalid,
  )
  await assert.rejects(server({}, { KUBECONFIG: '/none' }, { [home]: config('home') }), invalid)
  await assert.rejects(server({}, {}, {}), invalid)
})

test('a pod without kubeconfig uses its service account', async () => {
  const environment = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
  const files = { '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt': 'pem' }
  assert.equal(await server({}, environment, files), 'https://10.96.0.1:443')
})
