/** Debian's Chromium, and pages that remember what must not happen in them. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const executablePath = '/usr/bin/chromium'
export const noBrowser = existsSync(executablePath) ? false : `${executablePath} is missing`

/** With a profile of its own, which goes with it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

export interface WatchedPage {
  page: Page
  /** Fails when the page logged an error, threw one, or asked another origin for something. */
  assertClean(): void
  /** Errors up to here were meant to be: an answer that refuses is logged by the browser. */
  forgive(): void
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const problems: string[] = []
  const origins = new Set<string>()
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', error => problems.push(String(error)))
  page.on('request', request => origins.add(new URL(request.url()).origin))
  return {
    page,
    assertClean() {
      assert.deepEqual(problems, [])
      assert.equal(origins.size, 1, `asked ${[...origins].join(', ')}`)
    },
    forgive: () => void problems.splice(0),
  }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  violations: { id: string; help: string; nodes: { target: unknown[]; failureSummary?: string }[] }[]
}

/** What axe-core objects to, one line each. Evaluated from outside, since the page itself lets no script in. */
export async function axeObjections(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  const results = (await page.evaluate('axe.run()')) as AxeResults
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary ?? ''}`),
  )
}
