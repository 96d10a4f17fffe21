import { formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { usedLife } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import type { Finding } from '../finding.ts'
import {
  type CertificateKind,
  certificateKinds,
  isUnknown,
  type KnownLife,
  knownLives,
  lifeArtifacts,
} from '../known-lives.ts'

const hour = 3_600_000
/** Certificates below which nobody speaks of a fleet. */
const fewest = 20
/**
 * K-33: renewals are spread over 70 to 90 % of the life. By then three of four certificates were renewed and end later,
 * so that a crowd that still ends together does not renew.
 */
const renewed = 0.85

export const z01: Check = {
  meta: {
    id: 'Z01',
    severity: 'warning',
    title: 'The certificates of the fleet do not all end together',
    failureTitle: 'More than half of the fleet holds certificates that end in the same hour',
    symptom: 'Nothing yet. In one hour most nodes drop out, and all of them ask at once.',
    description:
      'Nodes that joined together hold certificates that end together; renewals at 70 to 90 % of the life spread them. At 85 % most of them still end in the same hour: renewals do not happen.',
    remedy: 'See why nodes do not renew; then renew them in waves.',
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      optionalArtifacts: lifeArtifacts,
      audit(facts, now) {
        const byKind = Map.groupBy(knownLives(facts), ({ kind }) => kind)
        return [...byKind].flatMap(([kind, lives]) => crowd(kind, lives, now))
      },
      unseen(facts) {
        const lives = knownLives(facts)
        const nodes = facts.nodes.map(({ metadata }) => metadata.name)
        const unknown = certificateKinds.some(kind => isUnknown(lives, nodes, kind))
        return nodes.length >= fewest && unknown ? lifeArtifacts : []
      },
    }),
  ],
}

function crowd(kind: CertificateKind, all: readonly KnownLife[], now: number): Finding[] {
  const alive = all.filter(({ notAfter }) => now <= notAfter)
  const byHour = Map.groupBy(alive, ({ notAfter }) => Math.floor(notAfter / hour))
  const hours = [...byHour].sort(([, a], [, b]) => b.length - a.length)
  const [most] = hours
  if (!most || all.length < fewest || most[1].length * 2 <= all.length) return []
  const [at, together] = most
  if (!together.every(life => usedLife(life, now) > renewed)) return []
  const histogram = hours
    .slice(0, 4)
    .map(([of, { length }]) => `${length} in the hour from ${formatTime(of * hour)}`)
    .join(', ')
  return [
    {
      object: `${kind} certificates that end in the hour from ${formatTime(at * hour)}`,
      evidence: [{ value: `of ${all.length}: ${histogram}`, source: sourcesOf(together) }],
      cause: `Most ${kind} certificates end in the same hour and were not renewed at their random moments.`,
      fix: [
        {
          run: `rollcall renew --all --kind ${shellWord(kind)} --wave 10%`,
          purpose: 'renews them a tenth at a time; a stock kubelet renews when it is restarted',
        },
      ],
      verify: { run: 'rollcall certs expiring', purpose: 'shows later ends' },
    },
  ]
}

/** Where the first few of them are told. */
function sourcesOf(lives: readonly KnownLife[]): string {
  const sources = [...new Set(lives.map(({ where }) => where.source))]
  return `${sources.slice(0, 3).join(', ')}${sources.length > 3 ? ' …' : ''}`
}
