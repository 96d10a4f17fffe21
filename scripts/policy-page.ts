/** docs/reference/certificate-policy.md, from the schema of the kind. Usage: node scripts/policy-page.ts */
import { writeFileSync } from 'node:fs'
import { policySpecSchema, policyStatusSchema } from '../src/kube/rollcall/certificate-policy/schema.ts'
import type { StructuralSchema } from '../src/kube/rollcall/kind.ts'

export const page = new URL('../docs/reference/certificate-policy.md', import.meta.url)

/** One line a field, those within others by their whole path. */
function rows(schema: StructuralSchema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = field.items ?? field
    const here = `${path}${name}`
    const below = inner.properties ? rows(inner, field.items ? `${here}[].` : `${here}.`) : []
    const required = schema.required?.includes(name) ? ' (required)' : ''
    const row = `| \`${here}\`${required} | ${typeOf(field)} | ${(field.description ?? '').replaceAll('|', '\\|')} |`
    return [row, ...below]
  })
}

function typeOf(field: StructuralSchema): string {
  const { items, additionalProperties, minimum, maximum, maxItems } = field
  if (field.enum) return field.enum.map(value => `\`${value}\``).join(', ')
  if (items) return `list of ${items.enum ? typeOf(items) : plural(items.type)}, at most ${maxItems}`
  if (additionalProperties) return `map of ${plural(additionalProperties.type)}`
  if (minimum !== undefined) return `${field.type}, ${minimum} to ${maximum}`
  return field.type
}

const plural = (type: string) => `${type}s`

export function policyPage(): string {
  const head = '| field | type | meaning |\n|---|---|---|'
  return `# CertificatePolicy

Made by \`node scripts/policy-page.ts\` from src/kube/rollcall/certificate-policy/schema.ts; do not edit.

\`rollcall.dev/v1alpha1\`, cluster-scoped, short name \`certpolicy\`. The policy named \`default\` is in force; one with
\`shadowOf: default\` is evaluated beside it and decides nothing; one of any other name waits. The same documents may stand in the file of
\`rollcall controller --policy FILE\`, which then counts instead of the cluster's. Both are heeded while the controller runs;
one that cannot be used changes nothing, its last good version goes on to count, and the log and the status say so. That version is kept
in memory: a controller that starts beside a policy that cannot be used has none, and decides nothing until it can.

Writing, changing or deleting a policy needs the verb \`approve\` on both kubelet signers
(\`deploy/admission/certificate-policy-writers.yaml\` on a real cluster; the embedded API has the rule built in). Examples:
[examples/policies/](../../examples/policies/). Try one out with \`rollcall policy validate\` and \`rollcall policy test\`.

## spec
${head}
${rows(policySpecSchema, '').join('\n')}

A pool without a term has the policy's; of several pools that a node is in, the strictest of each term counts: the strongest evidence, the
most careful mode (dryRun, then manual, then enforce), the smallest budget, the narrowest lifetime, all SAN rules and all
lists of keys. A node in no pool has the policy's own terms, so let these be the strict ones: a node is in no pool before
somebody labels it.

## Evidence ProtectedNodeStatus
Counts only while the policy of \`deploy/admission/protect-node-addresses.yaml\` and a binding of it are seen in the cluster,
unchanged in all that decides (expressions, variables, what it matches, failurePolicy Fail, action Deny, no parameter), and
only for Nodes created at least a minute after that began. While it is not in force, requests that need it are retried, never
denied. It relies on the API server evaluating the policy: whether the admission plug-in is switched off cannot be seen from outside.

## status
${head}
${rows(policyStatusSchema, '').join('\n')}
`
}

if (import.meta.main) writeFileSync(page, policyPage())
