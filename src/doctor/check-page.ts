/** What is to be said of each check: docs/reference/doctor (scripts/doctor-pages.ts writes it), and `doctor explain`. */
import type { Check } from './check.ts'
import { proofOf } from './proofs.ts'

/** How a page is written. */
export interface PageStyle {
  title(text: string): string
  heading(text: string): string
  /** The page of another check. */
  id(id: string): string
  /** `owner/repo#123`, at this address. */
  report(report: string, address: string): string
}

export const markdown: PageStyle = {
  title: text => `# ${text}`,
  heading: text => `## ${text}`,
  id: id => `[${id}](${id}.md)`,
  report: (report, address) => `[${report}](${address})`,
}

/** For a terminal. */
export const plainText: PageStyle = {
  title: text => text,
  heading: text => text.toUpperCase(),
  id: id => id,
  report: (_, address) => address,
}

/** The page of one of the checks. */
export function checkPage({ meta, views }: Check, checks: readonly Check[], style: PageStyle): string {
  const { id, severity, explains = [], reports = [] } = meta
  const explainedBy = checks.filter(other => other.meta.explains?.includes(id)).map(other => other.meta.id)
  const listed = (ids: readonly string[]) => ids.map(style.id).join(', ')
  const sections = [
    ['What you notice', meta.symptom],
    ['Why it happens and what is looked at', meta.description],
    ['What to do', `${meta.remedy} \`rollcall doctor\` prints the commands for the object that it found.`],
    [
      'What it needs',
      `${views.map(needs).join('\n')}\n\nWhere one of them may not be read, the check is SKIP, never OK.`,
    ],
    explains.length > 0 && [
      'What it explains',
      `${listed(explains)} at the same place: they are not reported beside it.`,
    ],
    explainedBy.length > 0 && ['What explains it', listed(explainedBy)],
    reports.length > 0 && [
      'Seen in the field',
      reports.map(report => `- ${style.report(report, addressOf(report))}`).join('\n'),
    ],
  ].filter(section => section !== false)
  return [
    style.title(`${id}: ${meta.failureTitle}`),
    `Severity: ${severity}. When all is well: ${lowerFirst(meta.title)}.`,
    ...sections.map(([heading = '', text = '']) => `${style.heading(heading)}\n${text}`),
  ].join('\n\n')
}

function needs({ requiredArtifacts, optionalArtifacts }: Check['views'][number]): string {
  const optional =
    optionalArtifacts.length > 0 ? `; looks at ${words(optionalArtifacts)} where they can be read` : ''
  return `- ${words(requiredArtifacts)}${optional}`
}

const words = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')
const lowerFirst = (text: string) =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text

/** GitHub leads from issues to pull requests. */
function addressOf(report: string): string {
  const [repository = '', number = ''] = report.split('#')
  return `https://github.com/${repository}/issues/${number}`
}

const madeFrom = '<!-- Made from src/doctor/checks by scripts/doctor-pages.ts; change it there. -->\n'

/** The list of all pages. */
function checkIndex(checks: readonly Check[]): string {
  const rows = checks.map(
    ({ meta: { id, severity, failureTitle } }) =>
      `| [${id}](${id}.md) | ${severity} | ${failureTitle} | ${proofOf(id)} |`,
  )
  return `${madeFrom}# What \`rollcall doctor\` can find

The ids are stable. A: joining and bootstrap tokens. B: making requests. C: approval. D: signing. E: what a node holds.
G: serving. I: CAs and trust. Z: the fleet as a whole.

Critical: nodes or clients are cut off, or somebody holds what he must not. Warning: they will be, or nobody notices. Info: nothing
is broken, and it does not count: exit code 3 means that something critical or a warning was found, 4 that nothing was and not
everything could be looked at, 0 that all is well.

Each has a test that makes its fault and finds this id and nothing louder: in a real \`rollcall up\`
(\`test/doctor-on-up*.test.ts\`), against its API in the process of the test (\`src/doctor/*.test.ts\`), or, where neither can
have the fault, by recorded facts.

| id | severity | what is wrong | fault made in |
|---|---|---|---|
${rows.join('\n')}
`
}

/** File name to text of everything in docs/reference/doctor. */
export function checkPages(checks: readonly Check[]): Map<string, string> {
  const pages = checks.map((check): [string, string] => [
    `${check.meta.id}.md`,
    `${madeFrom}${checkPage(check, checks, markdown)}\n`,
  ])
  return new Map([['README.md', checkIndex(checks)], ...pages])
}
