// The fleet in a browser: from a login link to all nodes drawn, and how smoothly they scroll: node bench/dashboard.ts [NODES]
import { join } from 'node:path'
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

/** In the page: milliseconds between frames while it scrolls 300 pixels a frame for four seconds. */
const scrolled = `new Promise(resolve => {
  const box = document.querySelector('.grid-box')
  const frames = []
  let last
  const step = time => {
    if (last !== undefined) frames.push(time - last)
    last = time
    if (frames.length >= 240) return resolve(frames)
    box.scrollTop = box.scrollTop + box.clientHeight >= box.scrollHeight ? 0 : box.scrollTop + 300
    requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

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
const frames: number[] = []
/** CPU of the page's main thread, in milliseconds a frame: what a busy machine does not change. */
const costs: number[] = []
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
  const before = await cpu()
  const scrolling = (await page.evaluate(scrolled)) as number[]
  costs.push(((await cpu()) - before) / scrolling.length)
  frames.push(...scrolling)
  await context.close()
}
await browser.close()
await server.stop()
folder.remove()
const p95 = frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.95)] ?? 0
line(
  'dashboard',
  `${whole(NODES)} nodes: ${whole(median(times))} ms from the link to the fleet drawn; scrolling, a frame p50 ${median(frames).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, of it ${median(costs).toFixed(1)} ms of the main thread's CPU (Chromium, no GPU)`,
  'targets: < 1,000 ms, p95 ≤ 25 ms; a display of 60 Hz: 16.7 ms',
)
