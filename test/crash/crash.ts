// Kills the real control plane and fleet at random points: npm run crash -- --times 100 --seed S
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { crash } from './suite.ts'

const { values } = parseArgs({
  options: { times: { type: 'string', default: '100' }, seed: { type: 'string' } },
})
const seed = values.seed ?? String(randomInt(1_000_000_000))
try {
  await crash({ seed, times: Number(values.times), onLine: console.log, onRound: console.log })
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
