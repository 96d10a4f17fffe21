import { formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { usedLife } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet, showNode } from '../commands.ts'
import { certificateKinds, isUnknown, knownLives, lifeArtifacts } from '../known-lives.ts'
import { currentPairs, leafOf } from '../pair-files.ts'

/** K-33: a kubelet renews between 70 and 90 % of the life; a twentieth more is slack for retries. */
const overdue = 0.95
const cause = 'The moment to renew it is over, and no request for a new one is on its way.'

export const e18: Check = {
  meta: {
    id: 'E18',
    severity: 'warning',
    title: 'Certificates are renewed in time',
    failureTitle: 'A renewal is overdue',
    symptom: 'Nothing yet. The node drops out when the certificate ends.',
    description:
      'More than 95 % of the life of the certificate is over, where a kubelet renews it between 70 and 90 %. It hangs, was suspended, or does not rotate at all (`rotateCertificates: false`).',
    remedy: 'Restart the kubelet, and look at its configuration.',
    reports: ['kubernetes/kubernetes#115648', 'deckhouse/deckhouse#8245'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      optionalArtifacts: lifeArtifacts,
      audit(facts, now) {
        const asked = new Set(
          facts.requests
            .filter(({ newest, state }) => newest && state !== 'issued')
            .map(({ node, kind }) => `${kind} ${node}`),
        )
        return knownLives(facts)
          .filter(life => !asked.has(`${life.kind} ${life.node}`) && isOverdue(life, now))
          .map(({ where, ...life }) => ({
            object: `Node ${life.node}`,
            node: life.node,
            evidence: [
              {
                value: `${life.kind} certificate ${percent(life, now)} used, ends ${formatTime(life.notAfter)}`,
                ...where,
              },
            ],
            cause,
            fix: [restartKubelet],
            verify: showNode(life.node),
          }))
      },
      unseen(facts) {
        const lives = knownLives(facts)
        const nodes = facts.nodes.map(({ metadata }) => metadata.name)
        return certificateKinds.some(kind => isUnknown(lives, nodes, kind)) ? lifeArtifacts : []
      },
    }),
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory }, now) =>
        currentPairs(certDirectory).flatMap(({ file, path }) => {
          const leaf = leafOf(file)
          if (!leaf || !isOverdue(leaf, now)) return []
          return {
            object: path,
            evidence: [
              { value: `${percent(leaf, now)} used, ends ${formatTime(leaf.notAfter)}`, source: path },
            ],
            cause,
            fix: [
              {
                run: 'grep rotateCertificates /var/lib/kubelet/config.yaml',
                purpose: 'on the node: it must be true',
              },
              restartKubelet,
            ],
            verify: { run: `rollcall certs show ${shellWord(path)}`, purpose: 'shows a new certificate' },
          }
        }),
    }),
  ],
}

type Times = Parameters<typeof usedLife>[0]

function isOverdue(certificate: Times, now: number): boolean {
  return now <= certificate.notAfter && usedLife(certificate, now) > overdue
}

function percent(certificate: Times, now: number): string {
  return `${Math.floor(usedLife(certificate, now) * 100)} %`
}
