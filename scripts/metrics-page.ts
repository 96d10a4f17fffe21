// Writes docs/reference/metrics.md. Usage: node scripts/run24.mjs scripts/metrics-page.ts
import { writeFileSync } from 'node:fs'
import { documentedMetrics, metricsPage } from './metrics-list.ts'

const page = metricsPage(await documentedMetrics())
writeFileSync(new URL('../docs/reference/metrics.md', import.meta.url), page)
