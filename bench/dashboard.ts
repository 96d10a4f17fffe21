// The fleet in a browser: from a login link to all nodes drawn, and how smoothly they scroll under a
// wheel: node bench/dashboard.ts [NODES]
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { launchBrowser } from '../test/support/browser.ts'
import { runRollcall, startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { fillFleet } from './fill-fleet.ts'
import { line, median, whole } from './measure.ts'

const NODES = Number(process.argv[2] ?? 5000)
const ROUNDS = 3

/**
 * In the page: milliseconds since the link was followed when every node is known and the first are drawn. Whether the link is
 * his, who looks has said at once.
 */
const drawn = `new Promise(resolve => {
  const look = () => {
    document.querySelector('.login .buttons button')?.click()
    const known = document.querySelector('.title-row')?.textContent ?? ''
    if (known.includes('${NODES.toLocaleString('en')} nodes') && document.querySelectorAll('.tile').length > 20)
      requestAnimationFrame(() => resolve(performance.now()))
    else requestAnimationFrame(look)
  }
  look()
})`

const FRAMES = 240

/** In the page: milliseconds between its frames, from now on. */
const counted = `new Promise(resolve => {
  const frames = []
  let last
  const step = time => {
    if (last !== undefined) frames.push(time - last)
    last = time
    if (frames.length >= ${FRAMES}) resolve(frames)
    else requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

/** Turns the wheel over the fleet as fast as a display shows frames, 300 pixels each, until `done`: down, and up again at its end. */
async function turnWheel(page: Page, session: CDPSession, done: Promise<unknown>): Promise<void> {
  let turning = true
  void done.finally(() => {
    turning = false
  })
  const end = 'document.querySelector(".grid-box").scrollHeight'
  const turns = Math.floor(Number(await page.evaluate(end)) / 300)
  for (let n = 0; turning; n++) {
    const deltaY = Math.floor(n / turns) % 2 === 0 ? 300 : -300
    const sent = session.send('Input.dispatchMouseEvent', {
      type: 'mouseWheel',
      x: 700,
      y: 600,
      deltaX: 0,
      deltaY,
    })
    // A wheel does not wait for the page either. The last ones come when the page is gone.
    sent.catch(() => {})
    await setTimeout(1000 / 60)
  }
}

const folder = temporaryFolder()
const program = ['server', '--dir', folder.path, '--port', '0']
const first = startRollcall(program)
await first.ready
await first.stop()
fillFleet(folder.path, NODES)
const server = startRollcall(program)
await server.ready
const browser = await launchBrowser()
const times: number[] = []
const intervals: number[] = []
/** CPU in milliseconds a frame, which a busy machine changes little: of the page's main thread, and of all that draws. */
const costs: number[] = []
const allCosts: number[] = []
const system = await browser.newBrowserCDPSession()
const cpuOfAll = async () => {
  const { processInfo } = await system.send('SystemInfo.getProcessInfo')
  const drawing = processInfo.filter(({ type }) => type === 'renderer' || type === 'GPU')
  return 1000 * drawing.reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}
for (let round = 0; round < ROUNDS; round++) {
  const kubeconfig = join(folder.path, 'admin.kubeconfig')
  const link = (await runRollcall(['dashboard', '--kubeconfig', kubeconfig])).stdout.trim()
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(link, { waitUntil: 'commit' })
  times.push(Number(await page.evaluate(drawn)))
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const cpu = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  const [before, allBefore] = [await cpu(), await cpuOfAll()]
  const frames = page.evaluate(counted) as Promise<number[]>
  await turnWheel(page, session, frames)
  const lasted = await frames
  costs.push(((await cpu()) - before) / lasted.length)
  allCosts.push(((await cpuOfAll()) - allBefore) / lasted.length)
  intervals.push(...lasted)
  await context.close()
}
await browser.close()
await server.stop()
folder.remove()
const p95 = intervals.sort((a, b) => a - b)[Math.floor(intervals.length * 0.95)] ?? 0
line(
  'dashboard',
  `${whole(NODES)} nodes: ${whole(median(times))} ms from the link to the fleet drawn; turning the wheel, a frame p50 ${median(intervals).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms; CPU of a frame: ${median(costs).toFixed(1)} ms of the main thread, ${median(allCosts).toFixed(1)} of all threads that draw (Chromium, no GPU)`,
  'targets: < 1,000 ms, p95 ≤ 25 ms; a display of 60 Hz: 16.7 ms',
)
