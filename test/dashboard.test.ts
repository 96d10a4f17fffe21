import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { adminSessions } from '../bench/admin-session.ts'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import type { KubeClient } from '../src/kube/client.ts'
import {
  type CertificateSigningRequest,
  type KubeNode,
  type KubeObject,
  resources,
} from '../src/kube/types.ts'
import { axeObjections, launchBrowser, noBrowser, openPage, type WatchedPage } from './support/browser.ts'
import { eventually } from './support/eventually.ts'
import { pendingRequest } from './support/pending-request.ts'
import { runRollcall, startRollcall, temporaryFolder } from './support/rollcall-process.ts'

const views = ['fleet', 'requests', 'expiry', 'rollover', 'doctor', 'audit']

// What runs in the page is text here, so that the tests need no types of a browser.
const labelOfFocus = `(document.activeElement.labels?.[0] ?? document.activeElement).textContent.replace(/\\s+/g, ' ').trim()`
const overflow = `Math.max(
  document.documentElement.scrollWidth - innerWidth,
  document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth,
)`

describe('the dashboard of rollcall up in a browser', { skip: noBrowser, timeout: 300_000 }, () => {
  const folder = temporaryFolder()
  const kubeconfig = join(folder.path, 'admin.kubeconfig')
  const up = noBrowser
    ? undefined
    : startRollcall(['up', '--nodes', '3', '--dir', folder.path, '--port', '0'])
  let browser: Browser
  let admin: KubeClient
  /** Who made a request does not approve it. */
  let asker: KubeClient
  let close = () => {}

  before(async () => {
    await up?.ready
    browser = await launchBrowser()
    const connected = await Promise.all([kubeconfig, join(folder.path, 'bootstrap.kubeconfig')].map(clientOf))
    ;[admin, asker] = connected.map(({ client }) => client) as [KubeClient, KubeClient]
    close = () => connected.forEach(({ transport }) => void transport.closeConnections())
  })
  after(async () => {
    close()
    await browser?.close()
    await up?.stop()
    folder.remove()
  })

  const newLink = async () => (await runRollcall(['dashboard', '--kubeconfig', kubeconfig])).stdout.trim()
  const goOn = ({ page }: WatchedPage) =>
    page.getByRole('button', { name: 'Go on as kubernetes-admin' }).click()

  async function loggedIn(options: Parameters<typeof openPage>[1] = {}): Promise<WatchedPage> {
    const watched = await openPage(browser, options)
    await watched.page.goto(await newLink())
    await goOn(watched)
    await watched.page.getByRole('heading', { name: 'Fleet' }).waitFor()
    await watched.page.getByText('Live', { exact: true }).waitFor()
    return watched
  }
  const tile = ({ page }: WatchedPage, name: string) =>
    page.getByRole('button', { name: new RegExp(`^${name} `) })

  test('a link logs in once, leaves no key behind, and a used one says what to do', async () => {
    const link = await newLink()
    const watched = await openPage(browser)
    const { page } = watched
    await page.goto(link)
    await goOn(watched)
    await tile(watched, 'worker-1').waitFor()
    assert.match((await tile(watched, 'worker-1').textContent()) ?? '', /Good/)
    assert.equal(page.url().includes('key='), false)
    assert.equal(await page.evaluate('document.cookie'), '')
    await page.reload()
    await tile(watched, 'worker-2').waitFor()
    await tile(watched, 'worker-2').click()
    // As a browser has it for a page without TLS.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    await page.getByRole('button', { name: /^Copy rollcall doctor/ }).click()
    await page.getByText('Refused: copy it by hand').waitFor()
    watched.assertClean()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Who is looking?' }).waitFor()
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByRole('alert').getByText('This link was used already').waitFor()
    await page.context().close()
  })

  test('a thief appears, and new certificates after a blackout, without a reload', async () => {
    const watched = await loggedIn()
    const { page } = watched
    await runRollcall(['demo', 'thief', '--dir', folder.path])
    await tile(watched, 'worker-3').getByText('Refused').waitFor()
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByRole('button', { name: /^Refused/ }).click()
    await page.getByRole('button', { name: /ReservedName/ }).click()
    await page.getByText('✗ nothing proves it').waitFor()
    await page.goto(`${page.url().split('#')[0]}#/fleet/worker-1`)
    const from = page.locator('dt:text-is("Valid from") + dd').first()
    const old = await from.textContent()
    await runRollcall(['demo', 'blackout', '--dir', folder.path])
    await eventually('another certificate is shown', async () => (await from.textContent()) !== old)
    watched.assertClean()
    await page.context().close()
  })

  test('a request is approved by who vouches for what nothing proves, another denied, with the keyboard alone', async () => {
    const made = [await pendingRequest(asker, 'by-hand-1'), await pendingRequest(asker, 'by-hand-2')]
    const watched = await loggedIn()
    const { page } = watched
    const press = (...keys: string[]) =>
      keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve())
    const tabTo = async (name: string | RegExp) => {
      for (let n = 0; n < 60; n++) {
        await page.keyboard.press('Tab')
        const focused = String(await page.evaluate(labelOfFocus))
        if (typeof name === 'string' ? focused === name : name.test(focused)) return
      }
      assert.fail(`Tab never comes to ${name}`)
    }
    const stateOf = async (name: string) =>
      (
        await admin.get<CertificateSigningRequest>(resources.certificateSigningRequests, { name })
      ).status?.conditions?.map(({ type, message }) => `${type} ${message}`)
    await tabTo(/^Requests/)
    await press('Enter')
    await page
      .getByRole('button', { name: /Pending/ })
      .first()
      .waitFor()
    await tabTo(/asks for/)
    await press('Enter')
    await page.getByRole('heading', { name: 'by-hand-1' }).waitFor()
    await tabTo('Reason')
    await page.keyboard.type('second card, change 1182')
    await tabTo(/I vouch for/)
    await press('Space')
    await tabTo('Approve')
    await press('Enter')
    await page.getByRole('status').getByText('Written.').waitFor()
    assert.match(
      (await stateOf(made[0] ?? ''))?.[0] ?? '',
      /^Approved .*second card, change 1182.*Accepted without proof: /,
    )

    await press('Escape')
    await page.getByRole('heading', { name: 'by-hand-1' }).waitFor({ state: 'detached' })
    await press('ArrowDown', 'Enter')
    await page.getByRole('heading', { name: 'by-hand-2' }).waitFor()
    await tabTo('Reason')
    await page.keyboard.type('nobody knows it')
    await tabTo('Deny')
    await press('Enter')
    await page.getByRole('status').getByText('Written.').waitFor()
    assert.match((await stateOf(made[1] ?? ''))?.[0] ?? '', /^Denied .*nobody knows it/)
    watched.assertClean()
    await page.context().close()
  })

  test('arrows go through the fleet, Enter opens a node, Escape gives the focus back', async () => {
    const watched = await loggedIn()
    const { page } = watched
    await tile(watched, 'worker-1').waitFor()
    await page.getByRole('combobox', { name: 'Order' }).selectOption('name')
    await page.getByRole('combobox', { name: 'Order' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'worker-2' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'worker-2' }).waitFor({ state: 'detached' })
    assert.match(String(await page.evaluate(labelOfFocus)), /worker-2/)
    watched.assertClean()
    await page.context().close()
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe-core objects to nothing in any view, ${colorScheme}`, async () => {
      const watched = await loggedIn({ colorScheme })
      const { page } = watched
      const [request] = (await admin.list<CertificateSigningRequest>(resources.certificateSigningRequests))
        .items
      for (const place of [...views, 'fleet/worker-1', `requests/${request?.metadata.name}`]) {
        await page.goto(`${page.url().split('#')[0]}#/${place}`)
        await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' })
        await page.waitForTimeout(300)
        assert.deepEqual(await axeObjections(page), [], place)
      }
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByRole('heading', { name: 'Who is looking?' }).waitFor()
      assert.deepEqual(await axeObjections(page), [], 'login')
      await page.goto(await newLink())
      await page.getByRole('heading', { name: 'Is this you?' }).waitFor()
      assert.deepEqual(await axeObjections(page), [], 'whose link')
      watched.assertClean()
      await page.context().close()
    })

  for (const [width, height] of [
    [1440, 900],
    [900, 1100],
    [360, 740],
  ] as const)
    test(`nothing is cut off at ${width} by ${height}`, async () => {
      const watched = await loggedIn({ viewport: { width, height } })
      const { page } = watched
      for (const place of [...views, 'fleet/worker-1']) {
        await page.goto(`${page.url().split('#')[0]}#/${place}`)
        await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' })
        const wider = await page.evaluate(overflow)
        assert.equal(wider, 0, place)
      }
      watched.assertClean()
      await page.context().close()
    })

  test('who has no rights logs in with a token and is told that it is not his to see', async () => {
    const namespace = 'default'
    await admin.create(resources.serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'guest', namespace },
    })
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: 'guest', namespace },
      spec: {},
    }
    const { status } = await admin.create<KubeObject & { status?: { token?: string } }>(
      resources.serviceAccounts,
      request,
      { subresource: 'token' },
    )
    // In the tab of one who has: nothing of his is left, not even until the answer comes.
    const watched = await loggedIn()
    const { page } = watched
    await tile(watched, 'worker-1').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    const held = Promise.withResolvers<void>()
    await page.route('**/dashboard/api/fleet', route => held.promise.then(() => route.continue()))
    await page.getByText('Or use a bearer token').click()
    await page.getByLabel('Token').fill(status?.token ?? '')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('Calling the roll').waitFor()
    assert.equal(await page.locator('.tile').count(), 0)
    held.resolve()
    await page.getByRole('heading', { name: 'Not yours to see' }).waitFor()
    const stored = Object.values((await page.evaluate('({...sessionStorage})')) as Record<string, string>)
    assert.deepEqual(
      stored.map(text => text.slice(0, 4)),
      ['rcs_'],
      'a tab stores sessions only',
    )
    assert.match(
      (await page.getByRole('alert').textContent()) ?? '',
      /"system:serviceaccount:default:guest" may not list nodes/,
    )
    assert.equal(await page.getByText('worker-1').count(), 0)
    await page.context().close()
  })

  test('the port of the API serves it to client certificates, over HTTP/1.1 and 2, under its own names only', async () => {
    const { transport } = await clientOf(kubeconfig)
    const { body } = await transport.request({ method: 'GET', url: '/dashboard/api/me', headers: {} })
    transport.closeConnections()
    assert.ok(body instanceof Uint8Array)
    assert.equal(JSON.parse(new TextDecoder().decode(body)).user, 'kubernetes-admin')
    const session = (await adminSessions(folder.path))()
    const statusOf = async (headers: OutgoingHttpHeaders) => {
      const stream = session.request({ ':path': '/dashboard/api/me', ...headers })
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
      stream.resume()
      return answer[':status']
    }
    assert.equal(await statusOf({}), 200)
    assert.equal(await statusOf({ ':authority': 'evil.example' }), 421)
    assert.equal(await statusOf({ origin: 'https://evil.example' }), 403)
    session.close()
  })

  test('where there is none, rollcall dashboard says so', async () => {
    const elsewhere = temporaryFolder()
    const server = startRollcall([
      'server',
      '--no-controllers',
      '--no-dashboard',
      '--dir',
      elsewhere.path,
      '--port',
      '0',
    ])
    try {
      await server.ready
      const { code, stderr } = await runRollcall([
        'dashboard',
        '--kubeconfig',
        join(elsewhere.path, 'admin.kubeconfig'),
      ])
      assert.equal(code, 1)
      assert.match(stderr, /serves no dashboard to you; .*--no-dashboard/)
    } finally {
      await server.stop()
      elsewhere.remove()
    }
  })

  test('what nodes and requests say is text, never HTML', async () => {
    const attack = '<img src=x onerror=window.stolen=1><script>window.stolen=1</script>'
    const name = await pendingRequest(asker, 'html', attack.replaceAll(' ', '/'))
    const node = await admin.get<KubeNode>(resources.nodes, { name: 'worker-2' })
    const conditions = [
      ...(node.status?.conditions ?? []),
      { type: 'DiskPressure', status: 'True' as const, reason: 'Html', message: attack },
    ]
    await admin.update(
      resources.nodes,
      { ...node, status: { ...node.status, conditions } },
      { subresource: 'status' },
    )
    const watched = await loggedIn()
    const { page } = watched
    for (const place of [
      `requests/${name}`,
      'fleet/worker-2',
      'doctor',
      'audit',
      `requests/${encodeURIComponent(attack)}`,
    ]) {
      await page.goto(`${page.url().split('#')[0]}#/${place}`)
      await page.locator('main h1, main h2').first().waitFor()
      await page.waitForTimeout(500)
      if (place.startsWith('requests/html')) assert.ok((await page.getByText('onerror=window').count()) > 0)
      if (place === 'fleet/worker-2') assert.ok((await page.getByText('<script>window.stolen=1').count()) > 0)
      assert.equal(await page.locator('main img, main script').count(), 0, place)
      assert.equal(await page.evaluate('"stolen" in window'), false, place)
    }
    watched.forgive() // no request has such a name: 404
    await page.context().close()
  })
})
