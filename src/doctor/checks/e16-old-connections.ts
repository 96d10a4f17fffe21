import type { LogLine } from '../artifacts/artifacts.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'
import { logPatterns } from '../log-patterns.ts'
import { lineEvidence } from '../log-view.ts'

export const e16: Check = {
  meta: {
    id: 'E16',
    severity: 'warning',
    title: 'A renewed certificate is used at once',
    failureTitle: 'A kubelet goes on with connections of its former certificate',
    symptom: '401 for a while after a renewal, although the new certificate is good.',
    description:
      'After a renewal a kubelet closes its connections and says "Certificate rotation detected". Where it does not, behind some proxies, the API goes on to judge it by the certificate of before. Told by the order of the lines in its log (`--log`, verbosity 2 or more).',
    remedy: 'Restart the kubelet once; look at what stands between it and the API.',
    reports: ['kubernetes/kubernetes#120621', 'kubernetes/kubernetes#49899'],
  },
  views: [
    view({
      requiredArtifacts: ['logLines'],
      audit: ({ logLines }) =>
        [...Map.groupBy(logLines, ({ file }) => file)].flatMap(([file, lines]) => {
          const evidence = keptConnections(lines)
          if (evidence.length === 0) return []
          return {
            object: `log ${file}`,
            evidence: evidence.map(lineEvidence),
            cause: 'After the last renewal no connection was closed, and the API answers 401.',
            fix: [
              restartKubelet,
              { run: 'env | grep -i _proxy', purpose: 'a proxy may hold the connections' },
            ],
            verify: {
              run: 'journalctl -u kubelet --since -10m | grep Unauthorized',
              purpose: 'shows nothing any more',
            },
          }
        }),
    }),
  ],
}

/** The renewal, that it succeeded, and the first answer 401 after it; nothing where connections were closed. */
function keptConnections(lines: readonly LogLine[]): LogLine[] {
  const begun = lines.findLastIndex(({ text }) => logPatterns.rotating.test(text))
  const after = begun < 0 ? [] : lines.slice(begun + 1)
  const renewed = after.findIndex(({ text }) => logPatterns.renewed.test(text))
  if (renewed < 0 || after.some(({ text }) => logPatterns.reconnected.test(text))) return []
  const refused = after.slice(renewed).find(({ text }) => logPatterns.unauthorized.test(text))
  return [lines[begun], after[renewed], refused].filter(line => line !== undefined).slice(0, refused ? 3 : 0)
}
