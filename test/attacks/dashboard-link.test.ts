import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { clientOf } from '../../src/cluster/demo/running-up.ts'
import { type KubeObject, resources } from '../../src/kube/types.ts'
import { launchBrowser, noBrowser, openPage } from '../support/browser.ts'
import { runRollcall, startRollcall, temporaryFolder } from '../support/rollcall-process.ts'

// SECURITY.md, adversary 5: a page in the operator's browser leads it to a login link that somebody else has made, so that
// the operator sees what that one may see, and decides in that one's name.

const operator = 'kubernetes-admin'
const mallory = 'system:serviceaccount:default:mallory'

describe('a login link of somebody else', { skip: noBrowser, timeout: 120_000 }, () => {
  const folder = temporaryFolder()
  const kubeconfig = join(folder.path, 'admin.kubeconfig')
  const server = noBrowser
    ? undefined
    : startRollcall(['server', '--no-controllers', '--dir', folder.path, '--port', '0'])
  /** The attacker's page: one link, to wherever the operator is to be led. */
  let target = ''
  const lure = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end(`<a href="${target}">your cluster is on fire</a>`),
  )
  let browser: Browser
  let token = ''

  before(async () => {
    lure.listen(0, '127.0.0.1')
    await Promise.all([once(lure, 'listening'), server?.ready])
    browser = await launchBrowser()
    token = await tokenOfMallory(kubeconfig)
  })
  after(async () => {
    lure.closeAllConnections()
    lure.close()
    await browser?.close()
    await server?.stop()
    folder.remove()
  })

  const ownLink = async () => (await runRollcall(['dashboard', '--kubeconfig', kubeconfig])).stdout.trim()

  test('logs nobody in who does not say that it is his, and takes no session away', async () => {
    const own = await ownLink()
    const foreign = await linkOf(token, new URL(own).origin)
    const { page } = await openPage(browser)
    const shown = () => page.locator('.who').textContent()
    await page.goto(own)
    await page.getByRole('button', { name: `Go on as ${operator}` }).click()
    await page.getByRole('heading', { name: 'Fleet' }).waitFor()

    const asked: { path: string; authorization: string }[] = []
    page.on('request', request =>
      asked.push({
        path: new URL(request.url()).pathname.replace('/dashboard/api/', ''),
        authorization: request.headers().authorization ?? '',
      }),
    )
    const opened = page.waitForResponse(response => response.url().endsWith('/sessions'))
    target = foreign
    await page.goto(`http://127.0.0.1:${(lure.address() as AddressInfo).port}/`)
    await page.getByRole('link').click()
    await page.getByRole('heading', { name: 'Is this you?' }).waitFor()
    const { token: session } = (await (await opened).json()) as { token: string }
    assert.equal(await page.locator('dt:text-is("User") + dd').textContent(), mallory)
    assert.equal(await page.locator('dt:text-is("This tab") + dd').textContent(), `is ${operator} until now`)
    // Who is made to hold a key down while the page changes has not answered.
    for (const key of ['Enter', 'Space', 'Escape']) await page.keyboard.press(key)
    assert.equal(await page.getByRole('heading', { name: 'Is this you?' }).count(), 1)
    assert.deepEqual(
      asked.filter(({ authorization }) => authorization.includes(session)),
      [],
      'nothing is asked in the name of who made the link',
    )
    await page.getByRole('button', { name: 'It is not mine' }).click()
    await page.getByRole('heading', { name: 'Fleet' }).waitFor()
    assert.equal(await shown(), operator)
    const asMallory = asked.filter(({ authorization }) => authorization.includes(session))
    assert.deepEqual(
      asMallory.map(({ path }) => path),
      ['session/end'],
    )
    const headers = { authorization: `Bearer ${session}` }
    assert.equal((await fetch(new URL('/dashboard/api/me', own), { headers })).status, 401)

    // Once more, when it opens nothing any more.
    await page.goto(`http://127.0.0.1:${(lure.address() as AddressInfo).port}/`)
    await page.getByRole('link').click()
    await page.getByRole('heading', { name: 'Fleet' }).waitFor()
    assert.equal(await shown(), operator)
    await page.context().close()
  })

  test('asks also where the page is open already', async () => {
    const own = await ownLink()
    const { page } = await openPage(browser)
    await page.goto(own)
    await page.getByRole('button', { name: `Go on as ${operator}` }).click()
    await page.getByRole('heading', { name: 'Fleet' }).waitFor()
    await page.goto(await linkOf(token, new URL(own).origin))
    await page.getByRole('heading', { name: 'Is this you?' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Fleet' }).count(), 0)
    assert.equal(page.url().includes('key='), false)
    await page.getByRole('button', { name: `Go on as ${mallory}` }).click()
    await page.getByRole('heading', { name: 'Not yours to see' }).waitFor()
    assert.equal(await page.locator('.who').textContent(), mallory)
    await page.context().close()
  })
})

/** Of an account that may do nothing. */
async function tokenOfMallory(kubeconfig: string): Promise<string> {
  const { client, transport } = await clientOf(kubeconfig)
  const metadata = { name: 'mallory', namespace: 'default' }
  await client.create(resources.serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  const { status } = await client.create<KubeObject & { status?: { token?: string } }>(
    resources.serviceAccounts,
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: {} } as KubeObject,
    { subresource: 'token' },
  )
  await transport.closeConnections()
  return status?.token ?? assert.fail('no token')
}

async function linkOf(token: string, origin: string): Promise<string> {
  const response = await fetch(new URL('/dashboard/api/links', origin), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  })
  const { url } = (await response.json()) as { url: string }
  return url
}
