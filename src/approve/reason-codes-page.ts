/** docs/reference/reason-codes.md, from the code. */
import { rules } from './judge.ts'
import { reasonCodes } from './reason-codes.ts'

/** The whole page in Markdown. */
export function reasonCodesPage(): string {
  const codes = Object.entries(reasonCodes).map(
    ([code, { outcomes, meaning, remedy }]) => `| ${code} | ${outcomes} | ${meaning} | ${remedy} |`,
  )
  const sentences = rules.map(({ name, sentence }, index) => `${index + 1}. **${name}** ${sentence}`)
  return `# Reason codes of the approver

Made by \`node scripts/generate-reason-codes.ts\` from src/approve; do not edit.

Approve and Deny are written as a condition whose \`reason\` is the code. Wait ends in Deny after \`waitSeconds\`; Retry never
ends in a denial; Hold waits for a person; Ignore leaves the request to others. What a verdict tells is an Event on the
request and counts in \`rollcall_csr_verdicts_total{outcome,reason}\`. After five denials within the hour further ones are held back until
14 minutes after the request was made (Wait with the same code): what becomes right meanwhile is approved at once.

| code | outcome | meaning | what to do |
|---|---|---|---|
${codes.join('\n')}

## The rules, in the order in which they are asked
The first one that objects decides.

${sentences.join('\n')}
`
}
