/** docs/reference/doctor: one page for each check, made from its meta; scripts/doctor-pages.ts writes them. */
import type { Check } from './check.ts'

/** The page of one check, Markdown. `explainedBy`: ids of the checks that explain it. */
function checkPage({ meta, views }: Check, explainedBy: readonly string[]): string {
  const {
    id,
    severity,
    title,
    failureTitle,
    symptom,
    description,
    remedy,
    explains = [],
    reports = [],
  } = meta
  const sections = [
    `# ${id}: ${failureTitle}`,
    `Severity: ${severity}. When all is well: ${lowerFirst(title)}.`,
    `## What you notice\n${symptom}`,
    `## Why it happens and what is looked at\n${description}`,
    `## What to do\n${remedy} \`rollcall doctor\` prints the commands for the object that it found.`,
    `## What it needs\n${views.map(needs).join('\n')}\n\nWhere one of them may not be read, the check is SKIP, never OK.`,
    ...(explains.length > 0
      ? [`## What it explains\n${listed(explains)} at the same place: they are not reported beside it.`]
      : []),
    ...(explainedBy.length > 0 ? [`## What explains it\n${listed(explainedBy)}`] : []),
    ...(reports.length > 0
      ? [`## Seen in the field\n${reports.map(report => `- [${report}](${link(report)})`).join('\n')}`]
      : []),
  ]
  return `<!-- Made from src/doctor/checks by scripts/doctor-pages.ts; change it there. -->\n${sections.join('\n\n')}\n`
}

function needs({ requiredArtifacts, optionalArtifacts }: Check['views'][number]): string {
  const optional =
    optionalArtifacts.length > 0 ? `; looks at ${words(optionalArtifacts)} where they can be read` : ''
  return `- ${words(requiredArtifacts)}${optional}`
}

const words = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')
const listed = (ids: readonly string[]) => ids.map(id => `[${id}](${id}.md)`).join(', ')
const lowerFirst = (text: string) =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text

/** `owner/repo#123` as an address; GitHub leads from issues to pull requests. */
function link(report: string): string {
  const [repository = '', number = ''] = report.split('#')
  return `https://github.com/${repository}/issues/${number}`
}

/** The list of all pages. */
function checkIndex(checks: readonly Check[]): string {
  const rows = checks.map(
    ({ meta: { id, severity, failureTitle } }) => `| [${id}](${id}.md) | ${severity} | ${failureTitle} |`,
  )
  return `<!-- Made from src/doctor/checks by scripts/doctor-pages.ts; change it there. -->
# What \`rollcall doctor\` can find

The ids are stable. A: joining and bootstrap tokens. B: making requests. C: approval. D: signing. E: what a node holds.
G: serving. I: CAs and trust. Z: the fleet as a whole.

Critical: nodes or clients are cut off, or somebody holds what he must not. Warning: they will be, or nobody notices. Info: nothing
is broken, and it does not count: exit code 3 means that something critical or a warning was found, 4 that nothing was and not
everything could be looked at, 0 that all is well.

| id | severity | what is wrong |
|---|---|---|
${rows.join('\n')}
`
}

/** File name to text of everything in docs/reference/doctor. */
export function checkPages(checks: readonly Check[]): Map<string, string> {
  const pages = checks.map((check): [string, string] => {
    const { id } = check.meta
    const explainedBy = checks.filter(({ meta }) => meta.explains?.includes(id)).map(({ meta }) => meta.id)
    return [`${id}.md`, checkPage(check, explainedBy)]
  })
  return new Map([['README.md', checkIndex(checks)], ...pages])
}
