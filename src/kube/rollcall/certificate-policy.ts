/** CertificatePolicy: how requests of kubelets are judged. Which one is in force: the one of this name. */
import { type Problem, pathText, schemaProblems } from '../schema-problems.ts'
import { policyProblems } from './certificate-policy/problems.ts'
import { policySpecSchema, policyStatusSchema } from './certificate-policy/schema.ts'
import type { CertificatePolicy, CertificatePolicySpec } from './certificate-policy/spec.ts'
import { clusterKind, type RollcallKind } from './kind.ts'

export const certificatePolicies = clusterKind('certificatepolicies', 'CertificatePolicy')

/** Of the policy by which requests are judged; one of another name is in force nowhere, whatever it says. */
export const policyInForce = 'default'

/** Everything wrong with a policy, `spec.…`; `from` a resource or the controller's own file. */
export function problemsOf(name: string, spec: unknown, from: 'resource' | 'file'): Problem[] {
  const path = ['spec']
  const shape = schemaProblems(policySpecSchema, spec, path)
  if (shape.length > 0) return shape
  const typed = spec as CertificatePolicySpec
  const problems = policyProblems(typed).map(problem => ({ ...problem, path: [...path, ...problem.path] }))
  if (name === policyInForce && typed.shadowOf !== undefined)
    problems.push({ path: [...path, 'shadowOf'], text: `is not for the policy in force, ${policyInForce}` })
  else if (typed.shadowOf === name)
    problems.push({ path: [...path, 'shadowOf'], text: 'names the policy itself' })
  if (from === 'resource' && typed.inventory?.file !== undefined)
    problems.push({
      path: [...path, 'inventory', 'file'],
      text: 'is for a policy file only: a resource does not choose what the controller reads from its disk',
    })
  return problems
}

export const certificatePolicyKind: RollcallKind = {
  ref: certificatePolicies,
  singular: 'certificatepolicy',
  shortNames: ['certpolicy'],
  description:
    'How certificate signing requests of kubelets are judged. The policy named default is in force; one with shadowOf is evaluated beside it.',
  spec: policySpecSchema,
  status: policyStatusSchema,
  columns: [
    {
      name: 'Preset',
      type: 'string',
      jsonPath: '.spec.preset',
      description: 'Where its fields start from.',
    },
    {
      name: 'Evidence',
      type: 'string',
      jsonPath: '.spec.evidence',
      description: 'Level for nodes in no pool.',
    },
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode', description: 'enforce, manual or dryRun.' },
    {
      name: 'Shadow-Of',
      type: 'string',
      jsonPath: '.spec.shadowOf',
      description: 'The policy beside which it is evaluated.',
    },
    {
      name: 'Accepted',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Accepted")].status',
      description: 'Whether it can be used.',
    },
    {
      name: 'In-Force',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="InForce")].status',
      description: 'Whether requests are judged by it.',
    },
    {
      name: 'Age',
      type: 'date',
      jsonPath: '.metadata.creationTimestamp',
      description: 'Since its creation.',
    },
  ],
  complaints(object) {
    const { metadata, spec } = object as Partial<CertificatePolicy>
    // What the schema can say, the API says itself.
    if (schemaProblems(policySpecSchema, spec ?? {}).length > 0) return []
    return problemsOf(metadata?.name ?? '', spec ?? {}, 'resource').map(
      ({ path, text }) => `${pathText(path)}: ${text}`,
    )
  },
}
