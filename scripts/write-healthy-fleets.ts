// Writes deploy/alerts/tests/healthy-*.yaml. Usage: node scripts/run24.mjs scripts/write-healthy-fleets.ts
import { writeFileSync } from 'node:fs'
import { fleets, healthyFleet } from './healthy-fleets.ts'

for (const [name, fleet] of Object.entries(fleets))
  writeFileSync(new URL(`../deploy/alerts/tests/${name}.yaml`, import.meta.url), healthyFleet(fleet))
